#include "tools/hidden_moves.hpp"

#include "graph/plan.hpp"
#include "sim/executor.hpp"

namespace tidemark::tools {
namespace {

constexpr int kHalvings = 6;

struct Played {
  SimTime time{};
  Bytes out;  // over the link and to the drives
};

Played play(const scenarios::RunSpec& run, StepGraph graph, const Offload& offload) {
  const Program program = plan(graph, run.training, offload, run.machine);
  Played played{sim::simulate(program, {.capacity = sim::Capacity::kIgnored}).end, {}};
  for (const Stream stream : {Stream::kCopyOut, Stream::kNvmeWrite}) {
    for (const InstanceId id : program.order[static_cast<std::size_t>(stream)]) {
      played.out += program.instances[index(id)].bytes;
    }
  }
  return played;
}

}  // namespace

Offload with_hidden_moves(const scenarios::RunSpec& run, const StepGraph& graph) {
  Offload offload = run.offload;
  ActivationOffload& activations = offload.activations;
  const bool others = offload.moves_states() || offload.moves_gradients() ||
                      offload.parameters.to != ParameterOffload::To::kGpu;
  if (activations.to == ActivationOffload::To::kGpu || !others || activations.most > Bytes(0) ||
      activations.when != ActivationOffload::When::kFitsInWindow) {
    return offload;
  }
  const Played all = play(run, graph, offload);
  Offload none = offload;
  none.activations = {};
  const Played without = play(run, graph, none);
  if (all.time <= without.time) return offload;
  Bytes unseen, seen((all.out - without.out).count / run.training.micro_batches);
  for (int i = 0; i < kHalvings; ++i) {
    const Bytes middle((unseen + seen).count / 2);
    if (middle <= unseen) break;
    activations.most = middle;
    (play(run, graph, offload).time <= without.time ? unseen : seen) = middle;
  }
  if (unseen == Bytes(0)) return none;
  activations.most = unseen;
  return offload;
}

}  // namespace tidemark::tools
