#pragma once
// How full a tier was, as a step function of time, with as many points as a picture can show.

#include <cstddef>
#include <span>
#include <vector>

#include "graph/program.hpp"
#include "hardware/units.hpp"
#include "sim/result.hpp"

namespace tidemark::tools {

struct LevelPoint {
  SimTime time{};
  Bytes level;  // from here on
};

// After each row of Result::memory that concerns the tier.
std::vector<LevelPoint> levels_of(const Program& program, const sim::Result& result, Tier tier);

// At most three points for each of `buckets` equal parts of [0, end]: the first lowest, the first
// highest and the last one in it, so no peak is lost and each part begins where the last one ended.
// Points are in order of time. Fewer than three points a bucket come back as they are.
std::vector<LevelPoint> downsample(std::span<const LevelPoint> levels, SimTime end,
                                   std::size_t buckets);

}  // namespace tidemark::tools
