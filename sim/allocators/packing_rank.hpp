#pragma once
// In which order a search for a packing tries what may lie at one offset: an order for each
// attempt.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/allocators/packing.hpp"

namespace tidemark::sim {

inline constexpr std::uint32_t kAttemptsARound = 5;

// First and last + 1 section of time that an interval lives in.
using SectionSpan = std::pair<std::uint32_t, std::uint32_t>;

// The rank of each interval in attempt number `attempt`: its place among all, what is preferred
// first. The attempts of a round prefer what is long, large, or lives where much does; rounds after
// the first change that a little by chance, and some begin with where attempts have failed:
// `failures` are those of the sections. Deterministic.
std::vector<std::uint32_t> ranks_for(std::uint32_t attempt, std::span<const Interval> intervals,
                                     std::span<const SectionSpan> spans,
                                     std::span<const double> failures);

}  // namespace tidemark::sim
