#include "graph/remat/front.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/remat_transformers.hpp"

namespace tidemark::remat {
namespace {

using test::Kind;
using test::Steps;
using test::Transformer;
using test::transformer;

// The middle block of three: its output is there in any case.
struct Block {
  explicit Block(Kind kind) : problem(transformer(kind, 3)), held(problem.tensor_count()) {
    std::vector<char> read(problem.tensor_count(), 0);
    for (OpIndex op = problem.backward_begin(); op < problem.op_count(); ++op) {
      for (const TensorIndex tensor : problem.inputs(op)) read[tensor] = 1;
    }
    for (OpIndex op = 0; op < problem.backward_begin(); ++op) {
      if (problem.op(op).block != 1) continue;
      ops.push_back(op);
      forward_time += problem.op(op).cost;
      for (const TensorIndex tensor : problem.outputs(op)) {
        if (read[tensor] != 0) needed.push_back(tensor);
      }
    }
    held[needed.back()] = Held::kFree;
  }

  KeepProblem what() const { return {&problem, ops, needed, held}; }
  double units(std::int64_t bytes) const {
    return 2 + static_cast<double>(bytes) / static_cast<double>(Transformer::kUnit);
  }
  double percent(std::int64_t cost) const {
    return 100. * static_cast<double>(cost) / static_cast<double>(forward_time);
  }

  Problem problem;
  std::vector<Held> held;
  std::vector<OpIndex> ops;
  std::vector<TensorIndex> needed;
  std::int64_t forward_time = 0;
};

struct Point {
  double units, percent;
};

void expect_on_front(const Block& block, const std::vector<Point>& points, double top) {
  const std::vector<KeepSet> front = keep_front(block.what());
  CHECK(block.units(front.front().bytes) == Approx(top));
  CHECK(front.front().cost == 0);
  CHECK(block.units(front.back().bytes) == Approx(2));
  for (const Point& point : points) {
    INFO(point.units);
    const auto near = std::find_if(front.begin(), front.end(), [&](const KeepSet& set) {
      return std::abs(block.units(set.bytes) - point.units) < 0.04;
    });
    REQUIRE(near != front.end());
    CHECK(block.percent(near->cost) == Approx(point.percent).margin(0.06));  // one decimal is known
  }
}

// s·b·h kept, % of the layer's forward run again. Without: masks; GELU and norms; dropped
// probabilities; probabilities; attention's output; q k v; u; residual.
TEST_CASE("the front of a layer with eager attention") {
  expect_on_front(
      Block(Kind::kGpt),
      {{96, 1.7}, {84, 4.0}, {52, 11.6}, {20, 21.1}, {18, 24.5}, {12, 43.1}, {4, 67.8}, {2, 74.6}},
      114);
}

TEST_CASE("the front of a layer with fused attention") {
  expect_on_front(Block(Kind::kFlash),
                  {{32.03, 0.23}, {20.03, 2.9}, {18, 10.3}, {4, 61.7}, {2, 69.8}}, 34 + 1. / 32);
}

TEST_CASE("the front of a Llama layer") {
  expect_on_front(
      Block(Kind::kLlama),
      {{32.16, 1.2}, {28.16, 2.1}, {22.78, 3.9}, {20.75, 11.1}, {8, 56.9}, {4, 72.2}, {2, 80.0}},
      37.5 + 1. / 32);
}

TEST_CASE("minimum cuts are the hull of the enumeration, at every price") {
  for (const Kind kind : {Kind::kGpt, Kind::kFlash, Kind::kLlama}) {
    const Block block(kind);
    const std::vector<KeepSet> front = keep_front(block.what());
    for (const double price : {1e-3, 0.3, 1., 3., 10., 30., 1e4}) {  // picoseconds a byte
      const auto total = [&](const KeepSet& set) {
        return static_cast<double>(set.cost) + price * static_cast<double>(set.bytes);
      };
      double least = total(front.front());
      for (const KeepSet& set : front) least = std::min(least, total(set));
      CHECK(total(keep_at_price(block.what(), price)) == Approx(least).epsilon(1e-9));
    }
    for (const KeepSet& set : keep_hull(block.what())) {
      CHECK(std::any_of(front.begin(), front.end(), [&](const KeepSet& other) {
        return other.bytes == set.bytes && other.cost == set.cost;
      }));
    }
  }
}

struct RandomBlock {
  explicit RandomBlock(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const std::uint32_t count = 4 + below(9);
    std::vector<TensorIndex> tensors = {problem.add_tensor(1 + below(9))};
    for (std::uint32_t i = 0; i < count; ++i) {
      std::vector<TensorIndex> in, out;
      for (const TensorIndex tensor : tensors) {
        if (below(3) == 0 && in.size() < 3) in.push_back(tensor);
      }
      for (std::uint32_t o = 0; o < 1 + below(4) / 3; ++o)
        out.push_back(problem.add_tensor(below(9)));
      ops.push_back(problem.add_op({.cost = below(9), .recomputable = below(8) != 0}, in, out));
      for (const TensorIndex tensor : out) {
        tensors.push_back(tensor);
        if (below(2) == 0) needed.push_back(tensor);
      }
    }
    held.assign(problem.tensor_count(), Held::kChoose);
    if (below(2) == 0) held.back() = Held::kFree;
  }
  KeepProblem what() const { return {&problem, ops, needed, held}; }

  Problem problem;
  std::vector<OpIndex> ops;
  std::vector<TensorIndex> needed;
  std::vector<Held> held;
};

// All subsets of all tensors, each costed by the plain rule.
TEST_CASE("front and cuts of random graphs of up to 12 ops are those of trying every set") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const RandomBlock block(seed);
    std::vector<KeepSet> all;
    const std::uint32_t count = block.problem.tensor_count();
    if (count > 13) continue;
    for (std::uint32_t mask = 0; mask < 1u << count; ++mask) {
      std::vector<TensorIndex> kept;
      for (TensorIndex t = 0; t < count; ++t) {
        if ((mask >> t & 1) != 0) kept.push_back(t);
      }
      all.push_back(evaluate(block.what(), kept));
    }
    const std::vector<KeepSet> best = pareto(all), front = keep_front(block.what());
    REQUIRE(front.size() == best.size());
    for (std::size_t i = 0; i < best.size(); ++i) {
      CHECK(front[i].bytes == best[i].bytes);
      CHECK(front[i].cost == best[i].cost);
    }
    for (const double price : {0.01, 0.5, 1., 2.5, 100.}) {
      double least = 1e300;
      for (const KeepSet& set : best) {
        least =
            std::min(least, static_cast<double>(set.cost) + price * static_cast<double>(set.bytes));
      }
      const KeepSet cut = keep_at_price(block.what(), price);
      CHECK(static_cast<double>(cut.cost) + price * static_cast<double>(cut.bytes) ==
            Approx(least));
    }
  }
}

TEST_CASE("a front of more tensors than can be enumerated has at least the hull") {
  const Block block(Kind::kLlama);
  const std::vector<KeepSet> exact = keep_front(block.what()), hull = keep_hull(block.what());
  for (const std::size_t most : {0, 8}) {
    const std::vector<KeepSet> front = keep_front(block.what(), most);
    CHECK(front.size() >= hull.size());
    CHECK(front.size() <= exact.size());
    CHECK(front.back().bytes == exact.back().bytes);
    CHECK(front.back().cost == exact.back().cost);
  }
}

TEST_CASE("what an op that may not run again made is kept where it is needed") {
  Steps steps;
  const auto mask = steps.tensor(4), a = steps.tensor(8), g = steps.tensor(1);
  steps.once(1, {}, {mask});
  steps.forward(5, {mask}, {a});
  steps.backward(1, {a}, {g});
  const std::vector<OpIndex> ops = {0, 1};
  const std::vector<TensorIndex> needed = {a};
  const std::vector<Held> held(3, Held::kChoose);
  const KeepProblem what{&steps.problem, ops, needed, held};
  const auto front = keep_front(what);
  REQUIRE(front.size() == 2);
  CHECK(front[0].kept == std::vector{a});
  CHECK(front[1].kept == std::vector{mask});
  CHECK(front[1].cost == 5);
  CHECK(keep_hull(what)[1].bytes == 4);
}

}  // namespace
}  // namespace tidemark::remat
