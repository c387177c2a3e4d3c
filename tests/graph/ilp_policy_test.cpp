// The policy ilp: never worse than optimal, and the best there is where the whole schedule is one
// integer program.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/policies/policy.hpp"
#include "graph/remat/cut_bound.hpp"
#include "graph/remat/ilp.hpp"
#include "graph/remat/keep_ilp.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_transformers.hpp"
#include "tests/support/step_to_plan.hpp"

namespace tidemark {
namespace {

// With two seconds a program instead of ten.
std::vector<PolicyOption> quick(const Policy& policy) {
  auto options = support::preset_options(policy);
  for (PolicyOption& option : options) {
    if (option.name == "time_limit") option.integer = 2'000'000'000'000;
  }
  return options;
}

TEST_CASE("the policy ilp finds the optima of the coarse chain, by whole schedules") {
  const Policy* policy = find_policy("ilp");
  CHECK((policy != nullptr) == remat::has_ilp());
  if (policy == nullptr) return;
  const StepGraph nothing;
  const remat::StepProblem step{test::coarse(2), {}};
  const auto options = quick(*policy);
  const Planner ilp = policy->planner({nothing, step, 2, options});
  const Planner optimal = find_policy("optimal")->planner({nothing, step, 2, options});
  // By exhaustive search: remat/ilp_test.cpp.
  const std::vector<std::int64_t> optima{24, 22, 20};
  for (std::int64_t budget = 13; budget < 16; ++budget) {
    CAPTURE(budget);
    const auto best = ilp(budget);
    REQUIRE(best.has_value());
    const remat::Verdict verdict = remat::referee(step.problem, best->sequence);
    REQUIRE(verdict.valid());
    CHECK(verdict.peak <= budget);
    CHECK(verdict.recompute_time == optima[static_cast<std::size_t>(budget - 13)]);
    CHECK(best->bound.value_or(0) <= verdict.recompute_time);
    const auto other = optimal(budget);
    if (!other) continue;
    CHECK(verdict.recompute_time <= remat::referee(step.problem, other->sequence).recompute_time);
  }
}

TEST_CASE("of a lowered step the policy ilp recomputes no more than optimal, within the budget") {
  const Policy* policy = find_policy("ilp");
  if (policy == nullptr) return;
  const support::StepToPlan planned(lower(support::llama(2, 32, 2, 1, 48, 16, 1)));
  REQUIRE(planned.step.problem.op_count() > 60);
  for (const double share : {0.4, 0.7}) {
    CAPTURE(share);
    const std::int64_t budget = planned.budget(share);
    const auto best = planned.place("ilp", quick(*policy), budget);
    const auto other = planned.place("optimal", budget);
    REQUIRE(best.has_value());
    REQUIRE(other.has_value());
    const remat::Verdict verdict = planned.referee(*best);
    REQUIRE(verdict.valid());
    CHECK(verdict.peak <= budget);
    CHECK(verdict.recompute_time <= planned.referee(*other).recompute_time);
    REQUIRE(best->bound.has_value());
    CHECK(*best->bound <= verdict.recompute_time);
  }
}

TEST_CASE("with less room what integer programming keeps costs more, with enough nothing") {
  if (!remat::has_ilp()) return;
  const support::StepToPlan planned(lower(support::gpt(2, 16, 2, 8, 1)));
  const auto chain = remat::chain_of_blocks(planned.step.problem);
  REQUIRE(chain.has_value());
  std::int64_t less = 0;
  for (const std::int64_t room : {std::int64_t{1} << 40, std::int64_t{1} << 14, std::int64_t{0}}) {
    const auto plan = remat::keep_by_ilp(planned.step.problem, *chain, room, 5);
    REQUIRE(plan.has_value());
    const auto sequence = remat::sequence_of(planned.step.problem, plan->plan);
    const remat::Verdict verdict = remat::referee(planned.step.problem, sequence);
    REQUIRE(verdict.valid());
    if (room == std::int64_t{1} << 40) CHECK(verdict.recompute_time == 0);
    CHECK(verdict.recompute_time >= less);
    less = verdict.recompute_time;
  }
  CHECK(less > 0);
}

}  // namespace
}  // namespace tidemark
