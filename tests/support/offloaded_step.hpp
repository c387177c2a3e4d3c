#pragma once
// Small steps lowered and planned under any offload, for laws that hold for all of them.

#include <cstdint>
#include <string>

#include "graph/lower.hpp"
#include "graph/lower_bound.hpp"
#include "graph/offload/strategy.hpp"
#include "graph/plan.hpp"
#include "graph/policies/policy.hpp"
#include "graph/remat/rematerialise.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"
#include "tests/support/machines.hpp"

namespace tidemark::test {

struct OffloadedStep {
  StepGraph graph;
  Program program;
};

enum class Drops : bool { kNone, kSelective };  // what the policy of that name drops

inline OffloadedStep offloaded_step(LoweringInput input, const Offload& offload,
                                    const Machine& machine, Drops drops = Drops::kNone) {
  ask_for(offload, input);
  OffloadedStep step{lower(input), {}};
  if (drops == Drops::kSelective) {
    const remat::Drops dropped =
        find_policy("selective")->drops(step.graph, {input.model.layers, {}});
    step.graph = remat::replay(step.graph, remat::sequence_of(step.graph, dropped));
  }
  step.program = plan(step.graph, input.training, offload, machine);
  return step;
}

inline std::string words(const Offload& offload) {
  const auto word = [](auto choice) { return std::to_string(static_cast<int>(choice)); };
  return "optimizer " + word(offload.optimizer) + " update_on " + word(offload.update_on) +
         " gradients " + word(offload.gradients) + " accumulate_on " + word(offload.accumulate_on) +
         " fraction " + std::to_string(offload.fraction) + " delayed " +
         word(offload.delayed_update) + " overlap " + word(offload.overlap) + " clip " +
         word(offload.clip) + " leave " + word(offload.gradients_leave) + " bucket " +
         std::to_string(offload.bucket.count) + " buffers " + std::to_string(offload.buffers);
}

// The combinations that the loader lets through.
inline bool makes_sense(const Offload& offload, const TrainingConfig& training) {
  const bool gpu_updates = offload.update_on == Offload::Processor::kGpu;
  if (!offload.moves_states() &&
      (gpu_updates || offload.fraction != 1 || !offload.overlap || offload.delayed_update)) {
    return false;
  }
  if (offload.delayed_update && (gpu_updates || offload.fraction != 1)) return false;
  if (offload.clip && (!offload.updates_on_cpu() || offload.fraction != 1)) return false;
  if (!offload.moves_gradients() && offload.accumulate_on == Offload::Processor::kGpu) return false;
  return !(gpu_updates && training.optimizer == Optimizer::kSgd &&
           training.precision != Precision::kBf16Mixed);
}

}  // namespace tidemark::test
