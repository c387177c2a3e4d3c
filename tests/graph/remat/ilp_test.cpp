#include "graph/remat/ilp.hpp"

#include <algorithm>
#include <random>

#include "graph/remat/lagrange_bound.hpp"
#include "graph/remat/optimal.hpp"
#include "graph/remat/referee.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_exhaustive.hpp"
#include "tests/support/remat_transformers.hpp"

namespace tidemark::remat {
namespace {

using test::coarse;
using test::least_recomputation;
using test::Steps;

constexpr double kSeconds = 60;

// Op 0 makes a (10), op 1 b (5); op 2 reads b, op 3 a.
TEST_CASE("the exhaustive search finds what is seen at a glance") {
  Steps steps;
  const auto a = steps.tensor(10), b = steps.tensor(5), db = steps.tensor(3), dx = steps.tensor(2);
  steps.forward(7, {}, {a});
  steps.forward(11, {a}, {b});
  steps.backward(13, {b}, {db});
  steps.backward(17, {a, db}, {dx});
  CHECK(least_recomputation(steps.problem, 18) == 0);
  CHECK(least_recomputation(steps.problem, 17) == 7);
  CHECK_FALSE(least_recomputation(steps.problem, 14));
}

// Known optima of two layers for M = 10 .. 25; one byte less has none (8 is below what an op
// needs).
constexpr std::int64_t kOptima[] = {150, 42, 32, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0};

TEST_CASE("the optima of the coarse chain, by exhaustive search") {
  const Problem two = coarse(2);
  for (std::int64_t budget = 10; budget <= 13; ++budget) {
    INFO("budget " << budget);
    CHECK(least_recomputation(two, budget) == kOptima[budget - 10]);
  }
  CHECK_FALSE(least_recomputation(two, 8));
}

TEST_CASE("the optima of the coarse chain, by integer programming") {
  if (!has_ilp()) return;
  const Problem two = coarse(2);
  const OptimalPlanner planner(two, chain_of_blocks(two).value());
  for (const std::int64_t budget : {13, 14, 17, 20, 25}) {
    INFO("budget " << budget);
    const BestPlan start = planner.plan(budget).value();
    const IlpResult result = plan_by_ilp(two, budget, kSeconds, &start.sequence);
    REQUIRE(result.sequence);
    const Verdict verdict = referee(two, *result.sequence);
    CHECK(describe(verdict) == "valid");
    CHECK(verdict.peak <= budget);
    CHECK(verdict.recompute_time == kOptima[budget - 10]);
    CHECK(result.recompute_time == kOptima[budget - 10]);
    CHECK(result.proven);
    CHECK(result.bound == kOptima[budget - 10]);
    CHECK(result.gap() == 0);
  }
  CHECK(plan_by_ilp(two, 8, kSeconds).infeasible);
  CHECK_FALSE(plan_by_ilp(two, 8, kSeconds).sequence);
}

TEST_CASE("cut short, the search still has its start, a bound and a gap") {
  if (!has_ilp()) return;
  const Problem problem = coarse(4);
  const OptimalPlanner planner(problem, chain_of_blocks(problem).value());
  const BestPlan best = planner.plan(16).value();
  const IlpResult result = plan_by_ilp(problem, 16, 0.01, &best.sequence);
  REQUIRE(result.sequence);
  CHECK(result.recompute_time <= best.verdict.recompute_time);
  CHECK(result.bound <= result.recompute_time);
  CHECK(result.gap() >= 0);
}

// Forward ops with up to two inputs, then backward ops that read gradients and what forward made.
Problem random_graph(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  Problem problem;
  std::vector<TensorIndex> made;
  const auto some_of = [&](std::size_t count) {
    std::vector<TensorIndex> tensors;
    while (tensors.size() < std::min(count, made.size())) {
      const TensorIndex tensor =
          made[made.size() - 1 -
               static_cast<std::size_t>(
                   below(static_cast<std::uint32_t>(std::min<std::size_t>(made.size(), 4))))];
      if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end()) {
        tensors.push_back(tensor);
      }
    }
    return tensors;
  };
  const std::int64_t forward = 3 + below(3);
  for (std::int64_t i = 0; i < forward; ++i) {
    const auto in = some_of(i == 0 ? 0 : static_cast<std::size_t>(1 + below(2)));
    made.push_back(problem.add_tensor(1 + below(6)));
    problem.add_op({.cost = 1 + below(9), .recomputable = below(6) != 0}, in,
                   std::vector{made.back()});
  }
  TensorIndex gradient = kNone;
  for (std::int64_t i = forward; i-- > 0;) {
    std::vector<TensorIndex> in = {made[static_cast<std::size_t>(i)]};
    if (i > 0 && below(2) == 0)
      in.push_back(made[static_cast<std::size_t>(below(static_cast<std::uint32_t>(i)))]);
    if (gradient != kNone) in.push_back(gradient);
    gradient = problem.add_tensor(1 + below(4), below(4) == 0);
    problem.add_op({.cost = 1 + below(9), .workspace = below(3), .backward = true}, in,
                   std::vector{gradient});
  }
  return problem;
}

TEST_CASE("integer programs and exhaustive search agree on graphs of up to 10 ops") {
  int recomputed = 0, above_bound = 0, same = 0, solved = 0;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const Problem problem = random_graph(seed);
    const std::int64_t most = referee(problem, keep_everything(problem)).peak;
    const std::int64_t least = needs_at_least(problem).bytes;
    for (const std::int64_t budget : {least - 1, least, (least + most) / 2, most - 1}) {
      INFO("seed " << seed << ", budget " << budget);
      const auto optimum = least_recomputation(problem, budget);
      const auto bound =
          best_lagrange_bound(problem, budget, problem.op_count() - problem.backward_begin());
      if (optimum) {
        REQUIRE(bound);
        CHECK(*bound <= *optimum);
        recomputed += *optimum > 0;
        above_bound += *optimum > *bound;
      }
      if (!has_ilp()) continue;
      const IlpResult result = plan_by_ilp(problem, budget, kSeconds);
      const auto in_order = least_recomputation(problem, budget, true);
      REQUIRE(result.sequence.has_value() == in_order.has_value());
      if (!in_order) continue;
      CHECK(result.recompute_time == *in_order);
      CHECK(result.recompute_time >= *optimum);
      CHECK(result.bound <= result.recompute_time);
      same += result.recompute_time == *optimum;
      ++solved;
    }
  }
  CHECK(recomputed > 5);
  CHECK(above_bound > 0);
  CHECK(same * 10 >= solved * 9);
}

}  // namespace
}  // namespace tidemark::remat
