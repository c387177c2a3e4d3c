#include "graph/offload/move_costs.hpp"

#include <vector>

#include "graph/offload/saved_tensors.hpp"
#include "graph/offload/windows.hpp"
#include "graph/program_builder.hpp"

namespace tidemark {

remat::Moves moves_to_host(const StepGraph& graph, const remat::StepProblem& step,
                           const Machine& machine, const Transport& transport) {
  ProgramBuilder builder({machine.gpu.capacity, machine.host.capacity, Bytes(0)});
  const MachinePaths paths = add_links(builder, machine, transport);
  ActivationOffload to_host;
  to_host.to = ActivationOffload::To::kHost;
  const CopyTimes times = copy_times_alone(builder, paths);
  std::vector<bool> saved(graph.tensors.size(), false);
  for (const SavedTensor& x : saved_tensors(graph, to_host)) saved[index(x.tensor)] = true;

  const std::size_t count = step.tensors.size();
  remat::Moves moves{.out = std::vector<std::int64_t>(count, remat::Moves::kStays),
                     .in = std::vector<std::int64_t>(count, remat::Moves::kStays),
                     .host_room = machine.host.capacity.count};
  for (std::size_t t = 0; t < count; ++t) {
    if (!saved[index(step.tensors[t])]) continue;
    const Bytes bytes = graph.tensor(step.tensors[t]).bytes;
    moves.out[t] = times.out(bytes).count();
    moves.in[t] = times.in(bytes).count();
  }
  return moves;
}

}  // namespace tidemark
