#pragma once
// Steps that replay whole segments, held to those that keep everything.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "graph/policies/policy.hpp"
#include "tests/support/policy_options.hpp"
#include "tests/support/replays.hpp"

namespace tidemark::support {

// As the policy says with its preset options.
inline Checkpointing segments_of(const Policy& policy, std::int64_t layers) {
  Checkpointing how;
  const auto options = preset_options(policy);
  how.segments = policy.segments({layers, options});
  if (policy.cached != nullptr) {
    how.cached = policy.cached({layers, options});
    how.reentrant = false;
  }
  return how;
}

// How many ops of `step` run again. A reentrant checkpoint sums the gradients of its input in place
// and the other way round, for they meet in a leaf.
inline std::size_t check_segments(const StepGraph& base, const StepGraph& step,
                                  const Checkpointing& how) {
  check_replay(base, step, how.reentrant ? Operands::kAnyOrder : Operands::kInOrder);
  const auto again = [](const Op& op) { return op.phase == Phase::kRecompute; };
  return static_cast<std::size_t>(std::ranges::count_if(step.ops, again));
}

}  // namespace tidemark::support
