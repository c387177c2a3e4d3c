#pragma once
// A lowered step as planners see it, and what policies make of it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/policies/policy.hpp"
#include "graph/remat/from_step.hpp"
#include "graph/remat/referee.hpp"
#include "graph/remat/rematerialise.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/policy_options.hpp"
#include "tests/support/replays.hpp"

namespace tidemark::support {

// Whether it looks at what a block or a half of it may keep, which takes a second of a step whose
// blocks have many small ops.
inline bool enumerates_fronts(const Policy& policy) {
  constexpr auto kSuch =
      std::to_array<std::string_view>({"layered", "rotor", "rotor+", "optimal", "hybrid"});
  return std::find(kSuch.begin(), kSuch.end(), policy.name) != kSuch.end();
}

// With times that differ from op to op.
struct StepToPlan {
  explicit StepToPlan(StepGraph lowered) : graph(std::move(lowered)) {
    std::vector<SimTime> times;
    for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
      const Op& op = graph.ops[i];
      times.emplace_back(1000 + op.flops.count / 100 + op.bytes_read.count +
                         op.bytes_written.count);
    }
    step = remat::problem_of(graph, times);
    everything = remat::referee(step.problem, remat::keep_everything(step.problem)).peak;
    least = remat::needs_at_least(step.problem).bytes;
  }

  std::optional<Placement> place(std::string_view policy, std::vector<PolicyOption> options,
                                 std::int64_t budget) const {
    const Planner planner = find_policy(policy)->planner({graph, step, 0, options});
    return planner(budget);
  }
  Planner planner(std::string_view policy) const {
    const auto options = preset_options(*find_policy(policy));
    return find_policy(policy)->planner({graph, step, 0, options});
  }
  std::optional<Placement> place(std::string_view policy, std::int64_t budget) const {
    return place(policy, preset_options(*find_policy(policy)), budget);
  }
  // Whatever a policy of tensors makes of the step; with a share of the bytes between what any
  // sequence and what keeping everything needs. Segments: segment_replays.hpp.
  void check(const Policy& policy, std::int64_t layers, double share) const {
    const auto options = preset_options(policy);
    if (policy.drops != nullptr) {
      const remat::Drops drops = policy.drops(graph, {layers, options});
      check_replay(graph, remat::replay(graph, remat::sequence_of(graph, drops)));
    } else if (policy.planner != nullptr && !policy.slow) {
      const auto placement = place(policy.name, options, budget(share));
      if (!placement) return;
      const remat::Verdict verdict = referee(*placement);
      REQUIRE(verdict.valid());
      if (policy.plans_for_budget()) CHECK(verdict.peak <= budget(share));
      const auto ops = remat::sequence_of(graph, graph, step, placement->sequence);
      check_replay(graph, remat::replay(graph, ops));
    }
  }

  remat::Verdict referee(const Placement& placement) const {
    return remat::referee(step.problem, placement.sequence);
  }
  std::int64_t budget(double share) const {
    return least + static_cast<std::int64_t>(share * static_cast<double>(everything - least));
  }

  StepGraph graph;
  remat::StepProblem step;
  std::int64_t everything = 0;  // bytes that keeping everything needs
  std::int64_t least = 0;       // that any sequence needs
};

}  // namespace tidemark::support
