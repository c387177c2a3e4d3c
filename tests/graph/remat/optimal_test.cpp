#include "graph/remat/optimal.hpp"

#include <algorithm>
#include <random>

#include "graph/remat/plan.hpp"
#include "graph/remat/revolve.hpp"
#include "graph/remat/segments.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_exhaustive.hpp"
#include "tests/support/remat_transformers.hpp"

namespace tidemark::remat {
namespace {

using test::chain;
using test::ChainStage;
using test::coarse;
using test::Kind;
using test::transformer;

Problem random_chain(std::uint32_t seed, std::uint32_t most) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  std::vector<ChainStage> stages(static_cast<std::size_t>(1 + below(most)));
  for (ChainStage& stage : stages) {
    stage = {.output_bytes = 1 + below(6),
             .gradient_bytes = 1 + below(4),
             .forward_cost = 1 + below(20),
             .backward_cost = 1 + below(20)};
  }
  return chain(stages);
}

TEST_CASE("the least that recomputes, the method and the bound are said") {
  const Problem problem = coarse(3);
  const OptimalPlanner planner(problem, chain_of_blocks(problem).value());
  const auto at = [&](std::int64_t budget) { return planner.plan(budget).value(); };
  CHECK(at(35).method == "none");
  CHECK(at(35).verdict.recompute_time == 0);
  CHECK(at(20).method == "layered");
  CHECK(at(20).verdict.recompute_time == 30);
  CHECK(at(20).bound == 30);
  CHECK(at(20).discretisation == 0);
  CHECK(at(13).method == "rotor+");
  CHECK(at(13).verdict.recompute_time == 54);
  CHECK(at(13).bound < 54);
  CHECK_FALSE(planner.plan(8));
}

TEST_CASE("with fewer memory levels a plan may recompute more, by no more than is said") {
  const Problem problem = transformer(Kind::kFlash, 8);
  const OptimalPlanner planner(problem, chain_of_blocks(problem).value());
  for (const std::int64_t budget : {std::int64_t{1} << 29, std::int64_t{3} << 29}) {
    const BestPlan fine = planner.plan(budget, 1 << 14).value();
    for (const std::size_t levels : {64, 256, 1024}) {
      const BestPlan rough = planner.plan(budget, levels).value();
      CHECK(rough.verdict.recompute_time - rough.discretisation <= fine.verdict.recompute_time);
      CHECK(rough.verdict.recompute_time >= fine.bound);
    }
  }
}

// Schedules in which a state goes before it was used can do better at the tightest budgets.
TEST_CASE("on chains of up to 8 random stages the best plan is the optimum but for tight budgets") {
  int cases = 0, optimal = 0, tight = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const Problem problem = random_chain(seed, 8);
    const OptimalPlanner planner(problem, chain_of_blocks(problem).value());
    const std::int64_t most = referee(problem, keep_everything(problem)).peak;
    const std::int64_t least = needs_at_least(problem).bytes;
    for (const std::int64_t budget : {least, (least + most) / 2, most - 1, most}) {
      INFO("seed " << seed << ", budget " << budget);
      const auto optimum = test::least_recomputation(problem, budget);
      const auto best = planner.plan(budget);
      if (!optimum) CHECK_FALSE(best);
      if (!optimum) continue;
      CHECK(planner.bound()(budget).value() <= *optimum);
      if (best) CHECK(best->verdict.recompute_time >= *optimum);
      ++cases;
      const bool same = best && best->verdict.recompute_time == *optimum;
      optimal += same;
      tight += !same && budget < (least + most) / 2;
    }
  }
  CHECK(cases > 100);
  CHECK(optimal * 100 >= cases * 95);
  CHECK(tight == cases - optimal);
}

// Every rule at its own peak, as the budget.
TEST_CASE("on 1000 random chains no rule is faster at its own peak") {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const Problem problem = random_chain(seed, 7);
    const Chain blocks = chain_of_blocks(problem).value();
    const OptimalPlanner planner(problem, blocks);
    std::vector<Sequence> rules = {keep_everything(problem)};
    std::vector<std::int64_t> bytes;
    for (const Stage& stage : blocks) {
      bytes.push_back(problem.tensor(problem.outputs(stage.forward_begin)[0]).bytes);
    }
    const std::vector<std::vector<std::size_t>> cuts = {
        every(blocks.size(), 1),      every(blocks.size(), 2),   every(blocks.size(), 3),
        sqrt_segments(blocks.size()), greedy_segments(bytes, 5), greedy_segments(bytes, 12)};
    for (const auto& stages : cuts) {
      for (const bool last_keeps : {false, true}) {
        rules.push_back(sequence_of(
            problem, plan_of(problem, blocks, {.stages = stages, .last_keeps = last_keeps})));
      }
    }
    for (const std::int64_t checkpoints : {1, 2, 3, 5}) {
      rules.push_back(revolve(problem, blocks, checkpoints));
    }
    for (const Sequence& rule : rules) {
      const Verdict verdict = referee(problem, rule);
      REQUIRE(describe(verdict) == "valid");
      const auto best = planner.plan(verdict.peak);
      INFO("seed " << seed << ", peak " << verdict.peak);
      REQUIRE(best);
      REQUIRE(best->verdict.recompute_time <= verdict.recompute_time);
      REQUIRE(best->bound <= best->verdict.recompute_time);
    }
  }
}

}  // namespace
}  // namespace tidemark::remat
