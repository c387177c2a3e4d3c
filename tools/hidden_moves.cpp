#include "tools/hidden_moves.hpp"

#include "graph/plan.hpp"
#include "sim/executor.hpp"

namespace tidemark::tools {
namespace {

// Of the step: copies that share a link at all delay each other by something.
constexpr int kThousandth = 1000;

SimTime play(const scenarios::RunSpec& run, StepGraph graph, const Offload& offload) {
  const Program program = plan(graph, run.training, offload, run.machine);
  return sim::simulate(program, {.capacity = sim::Capacity::kIgnored}).end;
}

}  // namespace

Offload with_hidden_moves(const scenarios::RunSpec& run, const StepGraph& graph) {
  Offload offload = run.offload;
  ActivationOffload& activations = offload.activations;
  const bool others = offload.moves_states() || offload.moves_gradients() ||
                      offload.parameters.to != ParameterOffload::To::kGpu;
  if (activations.to == ActivationOffload::To::kGpu || !others ||
      activations.when != ActivationOffload::When::kFitsInWindow) {
    return offload;
  }
  Offload none = offload;
  none.activations = {};
  const SimTime without = play(run, graph, none);
  const auto unseen = [&](std::int64_t share) {
    activations.link_share = share;
    return play(run, graph, offload) <= without + without / kThousandth;
  };
  std::int64_t seen = ActivationOffload::kWholeLink;
  if (unseen(seen)) return offload;
  std::int64_t best = 0;
  while (seen - best > 1) {
    const std::int64_t middle = (seen + best) / 2;
    (unseen(middle) ? best : seen) = middle;
  }
  if (best == 0) return none;
  activations.link_share = best;
  return offload;
}

}  // namespace tidemark::tools
