#include "graph/remat/plan.hpp"

#include <algorithm>

#include "graph/remat/referee.hpp"
#include "graph/remat/segments.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_transformers.hpp"

namespace tidemark::remat {
namespace {

using test::Kind;
using test::Steps;
using test::transformer;
using test::uniform_chain;

// Forward 0 a, 1 b, 2 c; backward 3 reads c, 4 reads b and a, 5 reads what 4 made.
struct Three {
  Three() {
    Steps steps;
    const auto a = steps.tensor(1), b = steps.tensor(1), c = steps.tensor(1), d = steps.tensor(1);
    const auto g = steps.tensor(1), h = steps.tensor(1);
    steps.forward(1, {}, {a});
    steps.forward(1, {a}, {b});
    steps.forward(1, {b}, {c});
    steps.forward(1, {c}, {d});
    steps.backward(1, {c}, {g});
    steps.backward(1, {b, a, g}, {h});
    problem = steps.problem;
    plan = plan_of_everything(problem);
  }
  Problem problem;
  Plan plan;
};

TEST_CASE("what is kept does not run again") {
  Three three;
  CHECK(sequence_of(three.problem, three.plan) == Sequence{0, 1, 2, 3, 4, 5});
}

TEST_CASE("lazily, an op runs again right before what reads it, and once") {
  Three three;
  three.plan.keep = {1, 0, 1, 1, 1, 1};  // not b
  CHECK(sequence_of(three.problem, three.plan) == Sequence{0, 1, 2, 3, 4, 1, 5});
  three.plan.keep = {0, 0, 0, 1, 1, 1};  // nothing: c needs b and a, which op 5 finds
  CHECK(sequence_of(three.problem, three.plan) == Sequence{0, 1, 2, 3, 0, 1, 2, 4, 5});
}

TEST_CASE("at entry, a segment runs what all of its backward needs; replayed, all of it") {
  Three three;
  three.plan.keep = {1, 0, 1, 0, 1, 1};  // b and d: only b is read
  three.plan.segment = {0, 0, 0, 0};
  three.plan.when = When::kEntry;
  CHECK(sequence_of(three.problem, three.plan) == Sequence{0, 1, 2, 3, 4, 1, 5});
  three.plan.how = How::kReplay;
  CHECK(sequence_of(three.problem, three.plan) == Sequence{0, 1, 2, 3, 4, 0, 1, 2, 3, 5});
  three.plan.keep = {1, 0, 0, 0, 1, 1};
  three.plan.how = How::kNeeded;
  CHECK(sequence_of(three.problem, three.plan) == Sequence{0, 1, 2, 3, 1, 2, 4, 5});
}

TEST_CASE("a segment that is replayed takes what it reads from segments in front of it") {
  Three three;
  three.plan.keep = {0, 0, 0, 0, 1, 1};
  three.plan.segment = {0, 0, 1, 1};
  three.plan.when = When::kEntry;
  three.plan.how = How::kReplay;
  CHECK(sequence_of(three.problem, three.plan) == Sequence{0, 1, 2, 3, 0, 1, 2, 3, 4, 5});
}

TEST_CASE("what may not run again stays") {
  Steps steps;
  const auto mask = steps.tensor(1), a = steps.tensor(1), g = steps.tensor(1);
  steps.once(1, {}, {mask});
  steps.forward(1, {mask}, {a});
  steps.backward(1, {a}, {g});
  Plan plan = plan_of_everything(steps.problem);
  plan.keep.assign(3, 0);
  CHECK(sequence_of(steps.problem, plan) == Sequence{0, 1, 1, 2});
}

TEST_CASE("how many stages the rules put into each segment") {
  using Sizes = std::vector<std::size_t>;
  CHECK(every(5, 2) == Sizes{2, 2, 1});
  CHECK(sqrt_segments(16) == Sizes{4, 4, 4, 4});
  CHECK(sqrt_segments(15) == Sizes{3, 3, 3, 3, 3});
  CHECK(sqrt_segments(1) == Sizes{1});
  CHECK(sequential_segments(10, 3) == Sizes{3, 3, 4});
  CHECK(sequential_segments(10, 1) == Sizes{10});
  CHECK(sequential_segments(4, 4) == Sizes{1, 1, 1, 1});
  const std::vector<std::int64_t> bytes = {3, 3, 3, 1, 1, 9, 2};
  CHECK(greedy_segments(bytes, 5) == Sizes{2, 3 + 1, 1});  // 6 | 3 1 1 9 | 2
  CHECK(greedy_segments(bytes, 0) == Sizes(7, 1));
  CHECK(greedy_segments(bytes, 22) == Sizes{7});
}

// n stages in k = sqrt(n) segments: 2 k + 1 bytes, n - k stages again, or n - 2 k + 1.
TEST_CASE("Chen's rule on a uniform chain") {
  for (const std::uint32_t k : {4u, 5u, 6u, 8u, 10u}) {
    const Problem problem = uniform_chain(k * k);
    const Chain chain = chain_of_blocks(problem).value();
    for (const bool last_keeps : {false, true}) {
      const SegmentRule rule{.stages = sqrt_segments(k * k), .last_keeps = last_keeps};
      const Verdict verdict = referee(problem, sequence_of(problem, plan_of(problem, chain, rule)));
      REQUIRE(describe(verdict) == "valid");
      CHECK(verdict.peak == 2 * k + 1);
      CHECK(verdict.recompute_time == (last_keeps ? k * k - 2 * k + 1 : k * k - k));
    }
  }
}

struct Row {
  std::size_t every;
  How how;
  double gibibytes, percent;
};

void expect(Kind kind, const std::vector<Row>& rows) {
  const Problem problem = transformer(kind);
  const Chain chain = chain_of_blocks(problem).value();
  for (const Row& row : rows) {
    INFO("every " << row.every << (row.how == How::kReplay ? ", replay" : ", early stop"));
    const SegmentRule rule{.stages = every(32, row.every), .how = row.how};
    const Verdict verdict = referee(problem, sequence_of(problem, plan_of(problem, chain, rule)));
    REQUIRE(describe(verdict) == "valid");
    // Two decimals are known, one for the time, and backward times differ by up to 0.2.
    CHECK(static_cast<double>(verdict.peak) / (1 << 30) == Approx(row.gibibytes).margin(0.02));
    CHECK(100. * static_cast<double>(verdict.recompute_time) /
              static_cast<double>(problem.base_time()) ==
          Approx(row.percent).margin(0.25));
  }
}

TEST_CASE("segments of layers: peak and time of frameworks' rules") {
  expect(Kind::kGpt, {{1, How::kReplay, 1.48, 35.4},
                      {1, How::kNeeded, 1.48, 26.4},
                      {2, How::kReplay, 2.13, 35.4},
                      {4, How::kReplay, 3.78, 35.4},
                      {8, How::kReplay, 7.28, 35.4},
                      {6, How::kNeeded, 5.52, 33.7}});
  expect(Kind::kFlash, {{1, How::kReplay, 0.84, 33.3}, {1, How::kNeeded, 0.84, 23.3}});
  expect(Kind::kLlama, {{1, How::kReplay, 0.88, 33.6}, {1, How::kNeeded, 0.88, 26.9}});
}

}  // namespace
}  // namespace tidemark::remat
