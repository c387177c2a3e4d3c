#include <algorithm>

#include "graph/remat/cut_bound.hpp"
#include "graph/remat/lagrange_bound.hpp"
#include "graph/remat/layered.hpp"
#include "graph/remat/referee.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_transformers.hpp"

namespace tidemark::remat {
namespace {

using test::coarse;
using test::Kind;
using test::Steps;
using test::transformer;

constexpr std::int64_t gib(double count) { return static_cast<std::int64_t>(count * (1 << 30)); }

// Op 2 reads b; op 3 a and db. While op 2 runs: b 5, db 3 and perhaps a 10, which costs 7 to make
// again.
TEST_CASE("a bound by hand") {
  Steps steps;
  const auto a = steps.tensor(10), b = steps.tensor(5), db = steps.tensor(3), dx = steps.tensor(2);
  steps.forward(7, {}, {a}, 0);
  steps.forward(11, {a}, {b}, 0);
  steps.backward(13, {b}, {db}, 0);
  steps.backward(17, {a, db}, {dx}, 0);
  CHECK(mandatory_bytes(steps.problem, 2) == 8);
  CHECK(mandatory_bytes(steps.problem, 3) == 15);
  const CutBound bound(steps.problem, chain_of_blocks(steps.problem).value());
  CHECK(bound(18) == 0);
  CHECK(bound(17) == 7);
  CHECK(bound(15) == 7);
  CHECK_FALSE(bound(14));
  // Between 8 and 18 the hull: 0.7 picoseconds a byte, rounded down.
  CHECK(bound.relaxed(17) == 0);
  CHECK(bound.relaxed(15) == 2);
  CHECK(lagrange_bound(steps.problem, 2, 15) == 2);
  CHECK(lagrange_bound(steps.problem, 2, 18) == 0);
  CHECK_FALSE(lagrange_bound(steps.problem, 2, 7));
}

// Exact optima by integer programming: 2 a byte, as long as that goes.
TEST_CASE("on the coarse chain the bound is the optimum in the useful range") {
  const Problem three = coarse(3), eight = coarse(8);
  const CutBound bound(three, chain_of_blocks(three).value());
  for (const auto& [budget, cost] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {35, 0}, {32, 6}, {29, 12}, {26, 18}, {23, 24}, {20, 30}, {17, 36}}) {
    CHECK(bound(budget) == cost);
  }
  CHECK(CutBound(eight, chain_of_blocks(eight).value())(53) == 64);
}

struct Row {
  double budget, percent;
};

void expect_bounds(Kind kind, const std::vector<Row>& rows) {
  const Problem problem = transformer(kind);
  const Chain chain = chain_of_blocks(problem).value();
  const ChainModel model = model_of(problem, chain);
  const CutBound bound(problem, chain);
  for (const Row& row : rows) {
    INFO(row.budget << " GiB");
    const auto found = bound(gib(row.budget));
    REQUIRE(found);
    // Two or three digits are known, of a bound up to 0.35 looser than this one.
    const double percent =
        100. * static_cast<double>(*found) / static_cast<double>(problem.base_time());
    CHECK(percent >= row.percent - 0.06);
    CHECK(percent <= row.percent + 0.35);
    CHECK(bound.relaxed(gib(row.budget)) <= found);
    const auto plan = layered(model, gib(row.budget));
    if (!plan) continue;
    CHECK(*found <= plan->cost);
    // Known: within 0.72 % of a step at every budget at which such plans exist.
    CHECK(static_cast<double>(plan->cost - *found) <=
          0.0072 * static_cast<double>(problem.base_time()));
  }
}

// % of a step that any plan with that peak recomputes, by GiB.
TEST_CASE("bounds for 32 layers with eager attention") {
  expect_bounds(Kind::kGpt, {{1.25, 26.0},
                             {1.5, 24.6},
                             {2, 22.3},
                             {4, 13.5},
                             {6, 7.18},
                             {10, 5.50},
                             {16, 3.17},
                             {24, 0.65}});
}

TEST_CASE("bounds for 32 layers with fused attention") {
  expect_bounds(Kind::kFlash,
                {{0.5, 26.7}, {0.75, 22.6}, {1, 21.3}, {2, 16.3}, {4, 6.5}, {5, 1.7}, {6, 0.71}});
}

TEST_CASE("bounds for 32 Llama layers") {
  expect_bounds(Kind::kLlama, {{0.5, 29.6},
                               {0.6, 28.3},
                               {0.75, 26.5},
                               {1, 25.1},
                               {2, 20.0},
                               {4, 10.2},
                               {5, 5.4},
                               {6, 1.21}});
}

TEST_CASE("the bound on any graph is the relaxed bound of the chain") {
  const Problem problem = transformer(Kind::kFlash, 3);
  const Chain chain = chain_of_blocks(problem).value();
  const CutBound bound(problem, chain);
  // Every backward op of the last two blocks, and the loss.
  const std::uint32_t count = chain[1].backward_end - problem.backward_begin();
  for (const double budget : {0.3, 0.5}) {
    const auto chained = bound.relaxed(gib(budget));
    const auto whole = best_lagrange_bound(problem, gib(budget), count);
    REQUIRE(chained);
    REQUIRE(whole);
    CHECK(static_cast<double>(*whole) == Approx(static_cast<double>(*chained)).epsilon(1e-6));
  }
}

TEST_CASE("a link of no rate changes nothing, and a fast one leaves nothing to pay") {
  const Problem problem = transformer(Kind::kFlash);
  const CutBound bound(problem, chain_of_blocks(problem).value());
  std::int64_t forward = 0;
  for (OpIndex op = 0; op < problem.backward_begin(); ++op) forward += problem.op(op).cost;
  const auto percent = [&](double budget, std::int64_t rate) {
    const auto found = link_bound(bound, gib(budget), rate, forward);
    REQUIRE(found);
    return 100. * static_cast<double>(*found) / static_cast<double>(problem.base_time());
  };
  CHECK(link_bound(bound, gib(2), 0, forward).value() ==
        Approx(static_cast<double>(bound.relaxed(gib(2)).value())).margin(3));
  CHECK_FALSE(link_bound(bound, gib(0.01), 0, forward));
  const std::int64_t giga = 1'000'000'000;
  // Known to two or three digits, from a bound that is up to 0.1 looser without a link.
  CHECK(percent(1, 12 * giga) == Approx(13.7).margin(0.1));
  CHECK(percent(1, 25 * giga) == Approx(5.6).margin(0.1));
  CHECK(percent(1, 50 * giga) == Approx(0.3).margin(0.06));
  CHECK(percent(1, 350 * giga) == 0);
  CHECK(percent(2, 12 * giga) == Approx(8.8).margin(0.15));
  CHECK(percent(2, 25 * giga) == Approx(0.95).margin(0.06));
  CHECK(percent(2, 50 * giga) == Approx(0.03).margin(0.01));
  CHECK(percent(4, 12 * giga) == Approx(0.85).margin(0.06));
  CHECK(percent(4, 25 * giga) == Approx(0.35).margin(0.06));
  CHECK(percent(4, 50 * giga) == 0);
}

}  // namespace
}  // namespace tidemark::remat
