#include "graph/remat/revolve.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "graph/remat/referee.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_models.hpp"

namespace tidemark::remat {
namespace {

using test::uniform_chain;

TEST_CASE("binomials do not overflow") {
  CHECK(binomial(5, 2) == 10);
  CHECK(binomial(6, 3) == 20);
  CHECK(binomial(8, 5) == 56);
  CHECK(binomial(14, 10) == 1001);
  CHECK(binomial(3, 4) == 0);
  CHECK(binomial(3, -1) == 0);
  CHECK(binomial(50, 25) == 126410606437752);
  CHECK(binomial(500, 250) == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("the closed form is the recursion") {
  // t(l, c) = min over j of j + t(j, c) + t(l - j, c - 1); t(l, 1) = l (l - 1) / 2
  std::vector<std::vector<std::int64_t>> t(60, std::vector<std::int64_t>(8, 0));
  for (std::size_t l = 1; l < 60; ++l) {
    for (std::size_t c = 1; c < 8; ++c) {
      const auto steps = static_cast<std::int64_t>(l);
      t[l][c] = steps * (steps - 1) / 2;
      for (std::size_t j = 1; c > 1 && j < l; ++j) {
        t[l][c] = std::min(t[l][c], static_cast<std::int64_t>(j) + t[j][c] + t[l - j][c - 1]);
      }
      CHECK(revolve_repeats(steps, static_cast<std::int64_t>(c)) == t[l][c]);
    }
  }
}

TEST_CASE("published and other known counts") {
  CHECK(revolve_repeats(10, 3) == 15);
  CHECK(revolve_repeats(14, 3) == 27);
  CHECK(revolve_repeats(32, 4) == 75);
  CHECK(revolve_repeats(32, 8) == 54);
  CHECK(revolve_repeats(96, 6) == 264);
  CHECK(revolve_repeats(100, 5) == 316);
  CHECK(revolve_repeats(1000, 10) == 3636);
  for (std::int64_t c = 10; c < 13; ++c) CHECK(revolve_repeats(10, c) == 9);
}

// A stage of uniform_chain needs only its input in backward, so the run of a step that Revolve
// makes right before its backward is for nothing and left out: of the t + l forward runs 1 + the
// first forward's l - 1 and t - (l - 1) repeats are left.
TEST_CASE("a schedule runs as often as counted and holds no more than its checkpoints") {
  for (std::uint32_t steps = 1; steps <= 20; ++steps) {
    const Problem problem = uniform_chain(steps);
    const auto chain = chain_of_blocks(problem);
    REQUIRE(chain);
    for (std::int64_t c = 1; c <= 6; ++c) {
      const Verdict verdict = referee(problem, revolve(problem, *chain, c));
      REQUIRE(describe(verdict) == "valid");
      CHECK(verdict.recompute_time == revolve_repeats(steps, c) - (steps - 1));
      // The checkpoints, two states between them on the way, two gradients less one.
      CHECK(verdict.peak <= c + 3);
    }
  }
}

TEST_CASE("with a checkpoint for every stage nothing but the last products run again") {
  const Problem problem = uniform_chain(5);
  const auto chain = chain_of_blocks(problem);
  CHECK(revolve(problem, *chain, 5) == keep_everything(problem));
  // Two checkpoints, five steps: t = 2 * 5 - C(4, 3) = 6, go 2 ahead: 0 1 store, 2 3 store nothing.
  // Ops: 0 x0, 1..5 forward, 6 loss, 7..11 backward of 4..0.
  CHECK(revolve_advance(5, 2) == 2);
  CHECK(revolve(problem, *chain, 2) == Sequence{0, 1, 2, 3, 4, 5, 6, 7, 3, 8, 9, 1, 10, 11});
}

}  // namespace
}  // namespace tidemark::remat
