#include "graph/remat/partition.hpp"

#include <algorithm>

#include "graph/remat/referee.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_transformers.hpp"

namespace tidemark::remat {
namespace {

using test::Kind;
using test::Steps;
using test::transformer;

TEST_CASE("the knapsack takes the most value, and what weighs nothing") {
  const std::vector<double> weights = {0.5, 0.4, 0.3, 0, 0.3};
  const std::vector<std::int64_t> values = {10, 7, 5, 0, 6};
  // 0.4 + 0.3 (the dearer one): 13; 0.5: 10; 0.3 + 0.3: 11.
  CHECK(knapsack(weights, values, 0.7) == std::vector<char>{0, 1, 0, 1, 1});
  CHECK(knapsack(weights, values, 1) == std::vector<char>{0, 1, 1, 1, 1});
  CHECK(knapsack(weights, values, 0) == std::vector<char>{0, 0, 0, 1, 0});
  // To 1 / 10 000: 0.70004 is 0.7, 0.70006 is not.
  CHECK(knapsack(std::vector{0.70004}, std::vector<std::int64_t>{1}, 0.7) == std::vector<char>{1});
  CHECK(knapsack(std::vector{0.70006}, std::vector<std::int64_t>{1}, 0.7) == std::vector<char>{0});
}

// x -> product p (6) -> cheap a (6) -> product q (2) -> cheap b (2); backward reads a, q and b.
struct Four {
  Four() {
    Steps steps;
    const auto p = steps.tensor(6), a = steps.tensor(6), q = steps.tensor(2), b = steps.tensor(2);
    steps.forward(10, {}, {p});
    steps.forward(1, {p}, {a});
    steps.forward(10, {a}, {q});
    steps.forward(1, {q}, {b});
    problem = steps.problem;
    needed = {a, q, b};
    held.assign(4, Held::kChoose);
  }
  KeepProblem what() const { return {&problem, ops, needed, held}; }
  PartitionRules rules() const { return {ban, value}; }

  Problem problem;
  std::vector<OpIndex> ops = {0, 1, 2, 3};
  std::vector<TensorIndex> needed;
  std::vector<Held> held;
  std::vector<Ban> ban = {Ban::kCompute, Ban::kFree, Ban::kCompute, Ban::kFree};
  std::vector<std::int64_t> value = {10, 1, 10, 1};
};

TEST_CASE("budget 1 keeps the fewest bytes under the bans, budget 0 nothing") {
  Four four;
  // b is made from q; p and a are as large as each other, and a costs nothing more.
  CHECK(partition(four.what(), four.rules(), 1).kept == std::vector<TensorIndex>{1, 2});
  CHECK(partition(four.what(), four.rules(), 1).cost == 1);
  CHECK(partition(four.what(), four.rules(), 0).kept.empty());
  CHECK(partition(four.what(), four.rules(), 0).cost == 22);
}

TEST_CASE("between them the items of most value for the share of the saved bytes stay") {
  Four four;
  // Of 8 bytes p is 0.75 and q 0.25, and q saves more.
  four.value = {10, 1, 11, 1};
  CHECK(partition(four.what(), four.rules(), 0.9).kept == std::vector<TensorIndex>{2});
  CHECK(partition(four.what(), four.rules(), 0.25).kept == std::vector<TensorIndex>{2});
  CHECK(partition(four.what(), four.rules(), 0.2).kept.empty());
  four.value = {10, 1, 2, 1};
  CHECK(partition(four.what(), four.rules(), 0.9).kept == std::vector<TensorIndex>{1});
}

TEST_CASE("lifted bans are enough only where strictly less than the budget is kept") {
  Four four;
  four.ban = {Ban::kCompute, Ban::kFree, Ban::kHeuristic, Ban::kFree};
  // Without the heuristic ban: a alone, 6 of 8 bytes.
  CHECK(partition(four.what(), four.rules(), 0.76).kept == std::vector<TensorIndex>{1});
  // At the share itself the knapsack decides, and takes p: the same cut.
  CHECK(partition(four.what(), four.rules(), 0.75).kept == std::vector<TensorIndex>{1});
  CHECK(partition(four.what(), four.rules(), 0.74).kept.empty());
  four.ban = {Ban::kAllowList, Ban::kFree, Ban::kCompute, Ban::kFree};
  CHECK(partition(four.what(), four.rules(), 0.26).kept == std::vector<TensorIndex>{2});
}

// A linear or attention product, and a mask, is told by its cost and bytes in these models; norms
// and everything pointwise may run again.
struct Row {
  double budget, gibibytes, percent;
};

// Products in units of one of h x h, by their times: nothing pointwise takes a quarter of it.
void expect(const std::vector<Row>& rows) {
  const Problem problem = transformer(Kind::kFlash);
  const Chain chain = chain_of_blocks(problem).value();
  std::vector<Ban> ban;
  std::vector<std::int64_t> value;
  for (OpIndex op = 0; op < problem.backward_begin(); ++op) {
    const std::int64_t products = (problem.op(op).cost + 50'000'000) / 314'000'000;
    const bool random = problem.inputs(op).empty();
    ban.push_back(products > 0 || random ? Ban::kCompute : Ban::kFree);
    value.push_back(products);
  }
  for (const Row& row : rows) {
    INFO(row.budget);
    const Plan plan = partition_plan(problem, chain, {ban, value}, row.budget);
    const Verdict verdict = referee(problem, sequence_of(problem, plan));
    REQUIRE(describe(verdict) == "valid");
    CHECK(static_cast<double>(verdict.peak) / (1 << 30) == Approx(row.gibibytes).margin(0.06));
    CHECK(100. * static_cast<double>(verdict.recompute_time) /
              static_cast<double>(problem.base_time()) ==
          Approx(row.percent).margin(0.3));
  }
}

// A layer keeps 20.03 s·b·h at budget 1: q k v, attention's output and statistics, two masks, the
// residual, u. Below, masks go first (no FLOPs), then products of 2 s·b·h each: 1, 3, 5 and 7 of
// them, as 16.02, 12.02, 8.01 and 4.01 may stay. One product is 2.45 % of a step; norms, GELU and
// masks are 0.98 %, and the residual 0.26 % where its linear runs again.
TEST_CASE("the compiler's budgets with fused attention") {
  expect({{1, 5.69, 0.9},
          {0.8, 4.66, 0.98 + 2.45},
          {0.6, 3.66, 1.24 + 3 * 2.45},
          {0.4, 2.73, 1.24 + 5 * 2.45},
          {0.2, 1.80, 1.24 + 7 * 2.45}});
}

TEST_CASE("at a price each stage keeps what costs more than that to make again") {
  const Problem problem = transformer(Kind::kFlash, 4);
  const Chain chain = chain_of_blocks(problem).value();
  std::int64_t before = -1, peak = std::numeric_limits<std::int64_t>::max();
  // 1 / (867 GB/s) is 1.15 picoseconds a byte for norms and GELU, 19 and more for products.
  for (const double price : {0.01, 1.0, 5.0, 30.0}) {
    const Verdict verdict =
        referee(problem, sequence_of(problem, priced_plan(problem, chain, price)));
    REQUIRE(describe(verdict) == "valid");
    CHECK(verdict.recompute_time > before);
    CHECK(verdict.peak <= peak);
    before = verdict.recompute_time;
    peak = verdict.peak;
    if (price == 0.01) CHECK(verdict.recompute_time == 0);
  }
}

}  // namespace
}  // namespace tidemark::remat
