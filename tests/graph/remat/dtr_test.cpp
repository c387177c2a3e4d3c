#include "graph/remat/dtr.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "graph/remat/referee.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_transformers.hpp"

namespace tidemark::remat {
namespace {

using test::Kind;
using test::Steps;
using test::transformer;
using test::uniform_chain;

// Forward a, b, c, d with costs 4, 1, 9, 2 and bytes 2, 1, 3, 2; backward reads d, then c, b, a.
Problem four() {
  Steps steps;
  const auto a = steps.tensor(2), b = steps.tensor(1), c = steps.tensor(3), d = steps.tensor(2);
  const auto g = steps.tensor(1), h = steps.tensor(1), i = steps.tensor(1), j = steps.tensor(1);
  steps.forward(4, {}, {a});
  steps.forward(1, {a}, {b});
  steps.forward(9, {b}, {c});
  steps.forward(2, {c}, {d});
  steps.backward(1, {d}, {g});
  steps.backward(1, {c, g}, {h});
  steps.backward(1, {b, h}, {i});
  steps.backward(1, {a, i}, {j});
  return steps.problem;
}

// Making d with 7 bytes: 6 are there, one has to go; c is read by the op. The clock is 14, a was
// last used at 5, b at 14 (by the op that made c: staleness 1, the least that counts).
//   LRU: a (9 against 0). local: a 4 / (2 x 9) = 0.22, b 1 / (1 x 1). size: a. MSPS: a 4 / 2, b 1
//   / 1.
TEST_CASE("the tensor of least score goes") {
  const Problem problem = four();
  const auto first = [&](DtrScore score) { return dtr(problem, 7, score).evictions.at(0); };
  CHECK(first(DtrScore::kLru) == 0);
  CHECK(first(DtrScore::kLocal) == 0);
  CHECK(first(DtrScore::kSize) == 0);
  CHECK(first(DtrScore::kDtr) == 0);
  CHECK(first(DtrScore::kDtrEq) == 0);
  CHECK(first(DtrScore::kMsps) == 1);
}

// LRU with 7: d made for a. Backward of d: c b d + g = 7; d goes. c: c b g + h = 6; c and g go.
// b: b h + i; b goes. a is made again: sequence 0 1 2 3 4 5 6 0 7.
TEST_CASE("what was evicted comes back when it is read") {
  const Problem problem = four();
  const DtrResult lru = dtr(problem, 7, DtrScore::kLru);
  CHECK(lru.sequence == Sequence{0, 1, 2, 3, 4, 5, 6, 0, 7});
  CHECK(lru.evictions == std::vector<TensorIndex>{0});
  // MSPS lets b go for d; for g, a (4 / 2) rather than c (9 / 3); b then needs both again.
  CHECK(dtr(problem, 7, DtrScore::kMsps).sequence == Sequence{0, 1, 2, 3, 4, 5, 0, 1, 6, 7});
}

// a was evicted; b is made from it. h_DTR counts a's cost with b's, local does not; of c and b, for
// room for e: clock 16, b and c were last read at 16 (by d and e's op), so that scores are cost /
// bytes.
TEST_CASE("h_DTR counts the evicted around a tensor, local does not") {
  Steps steps;
  const auto a = steps.tensor(4), b = steps.tensor(2), c = steps.tensor(2), d = steps.tensor(4);
  const auto e = steps.tensor(2);
  steps.forward(20, {}, {a});
  steps.forward(1, {a}, {b});
  steps.forward(3, {}, {c});
  steps.forward(1, {b, c}, {d});  // 8 with b c d: a goes
  steps.forward(1, {d}, {e});     // 8 with d e: one of b and c goes
  steps.backward(1, {e}, {});
  steps.backward(1, {a, b, c}, {});
  const auto evicted = [&](DtrScore score) { return dtr(steps.problem, 8, score).evictions; };
  CHECK(evicted(DtrScore::kLocal).at(0) == a);
  CHECK(evicted(DtrScore::kLocal).at(1) == b);  // 1 / 2 against 3 / 2
  CHECK(evicted(DtrScore::kDtr).at(1) == c);    // (1 + 20) / 2 against 3 / 2
  CHECK(evicted(DtrScore::kDtrEq).at(1) == c);
  CHECK(evicted(DtrScore::kMsps).at(1) == c);
}

TEST_CASE("with room for everything nothing goes, with too little the op is named") {
  const Problem problem = transformer(Kind::kGpt, 3);
  const std::int64_t peak = referee(problem, keep_everything(problem)).peak;
  for (const DtrScoreName& score : kDtrScores) {
    const DtrResult all = dtr(problem, 2 * peak, score.score);
    CHECK(all.sequence == keep_everything(problem));
    CHECK(all.evictions.empty());
    const Need need = needs_at_least(problem);
    const DtrResult none = dtr(problem, need.bytes - 1, score.score);
    CHECK_FALSE(none.sequence);
    CHECK(none.stuck_at <= need.op);
  }
}

TEST_CASE("no score goes above the budget, and all are deterministic") {
  for (const Kind kind : {Kind::kGpt, Kind::kLlama}) {
    const Problem problem = transformer(kind, 6);
    const std::int64_t peak = referee(problem, keep_everything(problem)).peak;
    for (const DtrScoreName& score : kDtrScores) {
      for (const std::int64_t percent : {45, 65, 90}) {
        INFO(std::string(score.name) << ", " << percent << " % of the peak");
        const std::int64_t budget = peak * percent / 100;
        const DtrResult result = dtr(problem, budget, score.score);
        if (!result.sequence) continue;
        const Verdict verdict = referee(problem, *result.sequence);
        CHECK(describe(verdict) == "valid");
        CHECK(verdict.peak <= budget);
        CHECK(verdict.recompute_time > 0);
        CHECK(dtr(problem, budget, score.score).sequence == result.sequence);
      }
    }
  }
}

// Kirisame et al., theorem 1: N layers in O(sqrt N) memory with O(N) ops, for h_DTR.
TEST_CASE("a chain of N in 2 sqrt(N) memory takes O(N) ops with h_DTR") {
  double worst = 0;
  for (const std::uint32_t root : {6u, 10u, 14u, 20u}) {
    const std::uint32_t n = root * root;
    const Problem problem = uniform_chain(n);
    const DtrResult result = dtr(problem, 2 * root + 4, DtrScore::kDtr);
    REQUIRE(result.sequence);
    const Verdict verdict = referee(problem, *result.sequence);
    CHECK(describe(verdict) == "valid");
    CHECK(verdict.peak <= 2 * root + 4);
    worst = std::max(worst, static_cast<double>(verdict.recompute_time) / n);
  }
  CHECK(worst < 4);
}

}  // namespace
}  // namespace tidemark::remat
