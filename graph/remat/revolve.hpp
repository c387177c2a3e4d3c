#pragma once
// Revolve: the fewest forward runs for a chain of equal steps of which only `checkpoints` states
// can be stored, the start among them. Griewank and Walther, Algorithm 799, ACM TOMS 26(1), 2000.

#include <cstdint>

#include "graph/remat/chain.hpp"
#include "graph/remat/problem.hpp"

namespace tidemark::remat {

// C(n, k); the largest int64 where it, or a product on the way to it, is more.
std::int64_t binomial(std::int64_t n, std::int64_t k);

// Forward runs beside those of the last time before each step's backward: steps + this are all.
// Steps at least 1, checkpoints at least 1.
//   t = r l - C(c + r, c + 1), r the least with C(c + r, c) >= l
std::int64_t revolve_repeats(std::int64_t steps, std::int64_t checkpoints);

// How many steps to go forward from the start before the next state is stored: the least that is
// optimal. Steps at least 2; with one checkpoint it is steps - 1, and nothing is stored.
std::int64_t revolve_advance(std::int64_t steps, std::int64_t checkpoints);

// The schedule for the stages of a chain, as if all were equal.
Sequence revolve(const Problem& problem, const Chain& chain, std::int64_t checkpoints);

}  // namespace tidemark::remat
