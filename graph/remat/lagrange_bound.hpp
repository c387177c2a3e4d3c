#pragma once
// The certificate of cut_bound.hpp for any graph, without fronts: minimum cuts over the whole
// forward, at the best price for each byte.

#include <cstdint>
#include <optional>

#include "graph/remat/problem.hpp"

namespace tidemark::remat {

// From the moment at which backward op `op` runs. Picoseconds; nothing: no sequence stays within
// the budget. Weaker than CutBound where fronts are far from their convex hulls.
std::optional<std::int64_t> lagrange_bound(const Problem& problem, OpIndex op, std::int64_t budget);

// The best over the first `count` backward ops.
std::optional<std::int64_t> best_lagrange_bound(const Problem& problem, std::int64_t budget,
                                                std::uint32_t count);

}  // namespace tidemark::remat
