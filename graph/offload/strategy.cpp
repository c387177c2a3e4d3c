#include "graph/offload/strategy.hpp"

#include <vector>

#include "graph/buckets.hpp"
#include "graph/offload/gradients.hpp"
#include "graph/offload/optimizer.hpp"
#include "graph/offload/streamed_update.hpp"

namespace tidemark {

void ask_for(const Offload& offload, LoweringInput& input) {
  input.update = offload.updates_on_cpu()   ? UpdateOn::kElsewhere
                 : offload.streams_states() ? UpdateOn::kStreamed
                                            : UpdateOn::kGpu;
  input.update_share = offload.fraction;
  input.pass_gradients = !offload.moves_gradients() ? PassGradients::kStay
                         : offload.accumulate_on == Offload::Processor::kCpu
                             ? PassGradients::kLeave
                             : PassGradients::kReturn;
  const bool in_groups = offload.streams_states() || offload.moves_gradients();
  input.update_group = in_groups ? offload.bucket : Bytes(0);
}

Departures departures_of(const StepGraph& graph, const Offload& offload) {
  Departures departures(graph);
  if (offload.updates_on_cpu() || offload.moves_gradients()) leave_gradients(graph, departures);
  leave_states(graph, departures);
  return departures;
}

void move_all(Mover& mover, const Departures& departures, const Stays& stays,
              const TrainingConfig& training, const Offload& offload,
              const std::vector<InstanceId>& parameter_reads) {
  if (offload.updates_on_cpu()) {
    offload_optimizer(mover, departures, stays, training, offload, parameter_reads);
  }
  if (offload.moves_gradients()) {
    CpuUpdate cpu(mover, training, offload);
    for (const UpdateOn kind : {UpdateOn::kGpu, UpdateOn::kStreamed}) {
      const std::vector<Bucket> buckets = gradient_buckets(mover.graph(), offload.bucket, kind);
      GradientMoves gradients(mover, departures, stays, cpu, offload, buckets);
      gradients.add_early_passes();
      for (std::size_t i = 0; i < buckets.size(); ++i) gradients.add_last_pass(i);
      for (std::size_t i = 0; i < buckets.size(); ++i) gradients.return_for_update(i);
    }
  }
  if (offload.streams_states()) stream_states(mover, departures, stays, offload);
}

}  // namespace tidemark
