#include "graph/remat/referee.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/remat_models.hpp"

namespace tidemark::remat {
namespace {

using test::Steps;
using test::uniform_chain;

// a (10) is read by ops 1 and 3, b (5) by 2.
Problem two_layers() {
  Steps steps;
  const auto a = steps.tensor(10), b = steps.tensor(5), db = steps.tensor(3), dx = steps.tensor(2);
  steps.forward(7, {}, {a});
  steps.forward(11, {a}, {b});
  steps.backward(13, {b}, {db});
  steps.backward(17, {a, db}, {dx});
  return steps.problem;
}

TEST_CASE("a tensor is alive from the start of its maker to the end of its last reader") {
  const Problem problem = two_layers();
  // a; a b; a b db; a db dx
  CHECK(live_bytes(problem, {0, 1, 2, 3}) == std::vector<std::int64_t>{10, 15, 18, 15});
  const Verdict verdict = referee(problem, {0, 1, 2, 3});
  CHECK(verdict.valid());
  CHECK(verdict.peak == 18);
  CHECK(verdict.at == 2);
  CHECK(verdict.time == 48);
  CHECK(verdict.recompute_time == 0);
}

TEST_CASE("an instance goes after its last reader before it is made again") {
  const Problem problem = two_layers();
  // a; a b; b db; a' db; a' db dx
  CHECK(live_bytes(problem, {0, 1, 2, 0, 3}) == std::vector<std::int64_t>{10, 15, 8, 13, 15});
  CHECK(referee(problem, {0, 1, 2, 0, 3}).recompute_time == 7);
}

TEST_CASE("what nobody reads is alive while its op runs, and workspace too") {
  Problem problem;
  const TensorIndex a = problem.add_tensor(4), w = problem.add_tensor(100);
  problem.add_op({.cost = 1, .workspace = 6}, {}, std::vector{a});
  problem.add_op({.cost = 1, .workspace = 3}, std::vector{w}, {});
  CHECK(live_bytes(problem, {0, 1}) == std::vector<std::int64_t>{10, 3});
}

TEST_CASE("what is kept stays to the end, and its earlier instances do not") {
  Steps steps;
  const auto a = steps.kept(4), b = steps.tensor(1);
  steps.forward(1, {}, {a});
  steps.forward(1, {}, {b});
  steps.backward(1, {b}, {});
  CHECK(live_bytes(steps.problem, {0, 1, 2}) == std::vector<std::int64_t>{4, 5, 5});
  CHECK(live_bytes(steps.problem, {0, 1, 2, 0}) == std::vector<std::int64_t>{4, 1, 1, 4});
}

TEST_CASE("the first fault of a sequence is named with its place") {
  const Problem problem = two_layers();
  const auto says = [&](const Sequence& sequence) { return describe(referee(problem, sequence)); };
  CHECK(says({0, 1, 2, 3}) == "valid");
  CHECK(says({0, 2, 1, 3}) == "position 1: op 2 reads tensor 1, which was not made before");
  CHECK(says({0, 1, 2, 2, 3}) == "position 3: op 2 may not run again");
  CHECK(says({0, 1, 9}) == "position 2: there is no op 9");
  CHECK(says({0, 1, 2}) == "op 3 never runs");
  Steps free;
  free.forward(1, {}, {});
  free.forward(1, {}, {});
  CHECK(describe(referee(free.problem, {1, 0})) ==
        "position 0: op 1 runs before the op in front of it");
  Steps random;
  random.once(1, {}, {});
  CHECK(describe(referee(random.problem, {0, 0})) == "position 1: op 0 may not run again");
}

TEST_CASE("a problem that is not in order is refused") {
  Problem problem;
  const TensorIndex a = problem.add_tensor(1);
  const std::vector one{a}, two{a, a}, missing{TensorIndex{7}};
  CHECK_THROWS(problem.add_tensor(-1));
  CHECK_THROWS(problem.add_op({.cost = -1}, {}, {}));
  CHECK_THROWS(problem.add_op({}, two, {}));
  CHECK_THROWS(problem.add_op({}, missing, {}));
  CHECK_THROWS(problem.add_op({}, one, one));
  Problem later;
  later.add_op({.backward = true}, {}, {});
  CHECK_THROWS(later.add_op({}, {}, {}));
}

// Chen et al. 2016, section 3, counted byte by byte: x0 .. xn and two gradients; with k segments of
// k stages k checkpoints, k - 1 outputs of the last segment, two gradients.
TEST_CASE("a uniform chain takes n + 2, and 2 sqrt(n) + 1 in sqrt(n) segments") {
  for (std::uint32_t k = 4; k <= 10; ++k) {
    const std::uint32_t n = k * k;
    if (k == 7 || k == 9) continue;
    const Problem problem = uniform_chain(n);
    CHECK(referee(problem, keep_everything(problem)).peak == n + 2);
    for (const bool last_free : {false, true}) {
      Sequence sequence;
      for (OpIndex op = 0; op <= n + 1; ++op) sequence.push_back(op);  // forward and loss
      for (std::uint32_t segment = k; segment-- > 0;) {
        const OpIndex first = 1 + segment * k;
        if (segment + 1 < k || !last_free) {
          for (OpIndex op = first; op + 1 < first + k; ++op) sequence.push_back(op);
        }
        // The backward of stage i is op 2 n + 1 - i.
        for (std::uint32_t i = k; i-- > 0;) sequence.push_back(2 * n + 1 - (segment * k + i));
      }
      const Verdict verdict = referee(problem, sequence);
      REQUIRE(describe(verdict) == "valid");
      CHECK(verdict.peak == 2 * k + 1);
      CHECK(verdict.recompute_time == (last_free ? n - 2 * k + 1 : n - k));
    }
  }
}

TEST_CASE("repeats that nobody reads are left out, with what was run for them alone") {
  Steps steps;
  const auto a = steps.tensor(1), b = steps.tensor(1), g = steps.tensor(1);
  steps.forward(1, {}, {a});
  steps.forward(1, {a}, {b});
  steps.backward(1, {a}, {g});
  // Op 1 again is for nothing; the second run of op 0 was for it and for op 2.
  CHECK(without_unread_repeats(steps.problem, {0, 1, 0, 1, 2}) == Sequence{0, 1, 0, 2});
  CHECK(without_unread_repeats(steps.problem, {0, 1, 0, 1, 0, 2}) == Sequence{0, 1, 0, 2});
}

TEST_CASE("the least need is inputs, outputs, workspace and what cannot come again") {
  // op 3 needs a 10, db 3, dx 2 = 15; op 2 b 5 + db 3; op 1 a 10 + b 5 = 15, the first.
  CHECK(needs_at_least(two_layers()).bytes == 15);
  CHECK(needs_at_least(two_layers()).op == 1);
  Steps steps;
  const auto mask = steps.tensor(8), a = steps.tensor(10), g = steps.kept(4), h = steps.tensor(1);
  steps.once(1, {}, {mask});
  steps.forward(1, {}, {a});          // mask 8 is held: 18
  steps.backward(1, {a}, {g});        // a 10, mask 8, g 4: 22
  steps.backward(1, {mask, a}, {h});  // 8 + 10 + 1, and g is kept: 23
  steps.backward(1, {h}, {});         // h 1, g 4
  CHECK(needs_at_least(steps.problem).bytes == 23);
  CHECK(needs_at_least(steps.problem).op == 3);
  CHECK(needs_at_least(Problem()).op == kNone);
}

}  // namespace
}  // namespace tidemark::remat
