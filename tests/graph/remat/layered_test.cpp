#include "graph/remat/layered.hpp"

#include <algorithm>
#include <map>

#include "graph/remat/referee.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_transformers.hpp"

namespace tidemark::remat {
namespace {

using test::coarse;
using test::Kind;
using test::transformer;

struct Planned {
  explicit Planned(Problem of) : problem(std::move(of)) {
    chain = chain_of_blocks(problem).value();
    model = model_of(problem, chain);
  }

  Verdict play(const Choice& choice) const {
    const Verdict verdict =
        referee(problem, sequence_of(problem, plan_of(problem, chain, model, choice)));
    REQUIRE(describe(verdict) == "valid");
    CHECK(verdict.recompute_time == choice.cost);
    return verdict;
  }

  double percent(std::int64_t cost) const {
    return 100. * static_cast<double>(cost) / static_cast<double>(problem.base_time());
  }

  Problem problem;
  Chain chain;
  ChainModel model;
};

constexpr std::int64_t gib(double count) { return static_cast<std::int64_t>(count * (1 << 30)); }

// The first block's gradient goes nowhere, the last one's output does not stay.
TEST_CASE("equal blocks share a model, but for the first and the last") {
  const Planned gpt(transformer(Kind::kGpt, 5));
  CHECK(gpt.model.shape == std::vector<std::uint32_t>{0, 1, 1, 1, 2});
  CHECK(gpt.model.held == std::vector<std::int64_t>(5, 0));
}

// Exact optima of the coarse chain by integer programming, where layered plans reach them.
TEST_CASE("the coarse chain at each budget") {
  const std::map<std::int64_t, std::int64_t> two = {{14, 22}, {15, 20}, {16, 18}, {17, 16},
                                                    {18, 14}, {19, 12}, {20, 10}, {21, 8},
                                                    {22, 6},  {23, 4},  {24, 2},  {25, 0}};
  const std::map<std::int64_t, std::int64_t> three = {
      {15, 40}, {16, 38}, {17, 36}, {20, 30}, {23, 24}, {26, 18}, {29, 12}, {32, 6}, {35, 0}};
  const std::map<std::int64_t, std::int64_t> eight = {{53, 64}};
  for (const auto& [layers, known] : {std::pair{2u, two}, {3u, three}, {8u, eight}}) {
    const Planned planned(coarse(layers));
    for (const auto& [budget, cost] : known) {
      INFO(layers << " layers, budget " << budget);
      const auto choice = layered(planned.model, budget);
      REQUIRE(choice);
      CHECK(choice->cost == cost);
      CHECK(choice->at_least == cost);
      CHECK(planned.play(*choice).peak <= budget);
    }
  }
}

TEST_CASE("a budget below what layered plans need has none, and at that budget there is one") {
  for (const auto& problem : {coarse(3), transformer(Kind::kLlama, 4)}) {
    const Planned planned(problem);
    const std::int64_t least = layered_needs(planned.model);
    CHECK_FALSE(layered(planned.model, least - 1));
    CHECK_FALSE(layered_greedy(planned.model, least - 1));
    REQUIRE(layered(planned.model, least));
    CHECK(planned.play(*layered(planned.model, least)).peak <= least);
  }
}

struct Row {
  double budget, percent;
};

void expect_overheads(Kind kind, const std::vector<Row>& rows) {
  const Planned planned(transformer(kind));
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  for (const Row& row : rows) {
    INFO(row.budget << " GiB");
    const auto choice = layered(planned.model, gib(row.budget), 1 << 14);
    REQUIRE(choice);
    // One or two decimals are known; backward times differ by up to 0.2 %, 32 layers.
    CHECK(planned.percent(choice->cost) == Approx(row.percent).epsilon(0.01).margin(0.06));
    CHECK(choice->at_least <= choice->cost);
    CHECK(planned.play(*choice).peak <= gib(row.budget));
    CHECK(choice->cost <= before);
    before = choice->cost;
    const auto greedy = layered_greedy(planned.model, gib(row.budget));
    REQUIRE(greedy);
    CHECK(planned.play(*greedy).peak <= gib(row.budget));
    CHECK(greedy->cost >= choice->at_least);
    // Known: at most 1.5 % more recomputation; where little runs again, half a layer's step.
    CHECK(planned.percent(greedy->cost) <= planned.percent(choice->cost) * 1.02 + 0.1);
  }
}

// % of a step, by GiB.
TEST_CASE("layered plans for 32 layers with eager attention") {
  expect_overheads(
      Kind::kGpt,
      {{1.5, 25.3}, {2, 22.9}, {4, 14.2}, {6, 7.19}, {10, 5.51}, {16, 3.18}, {24, 0.65}});
}

TEST_CASE("layered plans for 32 layers with fused attention") {
  expect_overheads(Kind::kFlash, {{1, 21.4}, {2, 16.4}, {4, 6.6}, {5, 1.8}, {6, 0.71}});
}

TEST_CASE("layered plans for 32 Llama layers") {
  expect_overheads(Kind::kLlama, {{1, 25.2}, {2, 20.1}, {4, 10.3}, {5, 5.5}, {6, 1.22}});
}

}  // namespace
}  // namespace tidemark::remat
