#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "graph/remat/chain.hpp"
#include "graph/remat/ilp.hpp"
#include "graph/remat/optimal.hpp"
#include "graph/remat/plan.hpp"
#include "graph/remat/referee.hpp"
#include "graph/remat/revolve.hpp"
#include "graph/remat/segments.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_models.hpp"

namespace tidemark::remat {
namespace {

Problem random_chain(std::uint32_t seed, std::size_t most_stages) {
  std::mt19937 random(seed);
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random()) % (most - least + 1);
  };
  std::vector<test::ChainStage> stages(
      static_cast<std::size_t>(from(2, static_cast<std::int64_t>(most_stages))));
  for (test::ChainStage& stage : stages) {
    stage = {.output_bytes = from(1, 9),
             .gradient_bytes = from(1, 9),
             .forward_cost = from(1, 9),
             .backward_cost = from(1, 9)};
  }
  return test::chain(stages);
}

// every-n for each n, sqrt, greedy for each size of segment and Revolve for each number of
// checkpoints.
std::vector<Sequence> rules(const Problem& problem, const Chain& chain) {
  std::vector<Sequence> sequences;
  const auto add = [&](std::vector<std::size_t> segments) {
    SegmentRule rule;
    rule.stages = std::move(segments);
    sequences.push_back(sequence_of(problem, plan_of(problem, chain, rule)));
  };
  std::int64_t bytes = 0;
  const std::vector<std::int64_t> saved = saved_bytes(problem, chain);
  for (std::size_t n = 1; n <= chain.size(); ++n) {
    add(every(chain.size(), n));
    add(greedy_segments(saved, bytes));
    bytes += saved[n - 1];
    sequences.push_back(revolve(problem, chain, static_cast<std::int64_t>(n)));
  }
  add(sqrt_segments(chain.size()));
  return sequences;
}

TEST_CASE("at a rule's own peak optimal recomputes no more, on 1,000 random chains") {
  std::size_t better = 0;
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const Problem problem = random_chain(seed, 7);
    const Chain chain = chain_of_blocks(problem).value();
    const OptimalPlanner planner(problem, chain);
    const std::vector<Sequence> sequences = rules(problem, chain);
    const Verdict rule = referee(problem, sequences[seed % sequences.size()]);
    const auto best = planner.plan(rule.peak);
    INFO(seed);
    REQUIRE(best);
    CHECK(best->verdict.peak <= rule.peak);
    CHECK(best->verdict.recompute_time <= rule.recompute_time);
    CHECK(best->bound <= best->verdict.recompute_time);
    better += best->verdict.recompute_time < rule.recompute_time ? 1 : 0;
  }
  CHECK(better > 200);  // rules are not all there is
}

TEST_CASE("the bound, the integer program and optimal are in this order on small chains") {
  if (!has_ilp()) return;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const Problem problem = random_chain(5000 + seed, 4);
    const OptimalPlanner planner(problem, chain_of_blocks(problem).value());
    const std::int64_t least = needs_at_least(problem).bytes;
    const std::int64_t most = referee(problem, keep_everything(problem)).peak;
    const std::int64_t budget = least + (most - least) * (1 + seed % 3) / 4;
    const auto best = planner.plan(budget);
    if (!best) continue;
    const IlpResult exact = plan_by_ilp(problem, budget, 60, &best->sequence);
    INFO(seed);
    REQUIRE(exact.proven);
    CHECK(best->bound <= exact.recompute_time);
    CHECK(exact.recompute_time <= best->verdict.recompute_time);
  }
}

}  // namespace
}  // namespace tidemark::remat
