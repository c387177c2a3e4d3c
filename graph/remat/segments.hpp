#pragma once
// Rules that cut a chain into segments: a segment keeps what comes in and is run again for its
// backward. Chen et al. 2016 (arXiv 1604.06174) and torch.utils.checkpoint.checkpoint_sequential.

#include <cstdint>
#include <span>
#include <vector>

#include "graph/remat/chain.hpp"
#include "graph/remat/plan.hpp"

namespace tidemark::remat {

struct SegmentRule {
  std::vector<std::size_t> stages;  // in each segment, in order; each at least 1
  bool last_keeps = false;          // the last segment keeps everything and does not run again
  When when = When::kEntry;
  How how = How::kNeeded;
};

// Segments of `size` stages; the last may have fewer.
std::vector<std::size_t> every(std::size_t stages, std::size_t size);

// Chen's sqrt(n) segments: each of floor(sqrt(n)) stages, as Checkmate's baselines count them.
std::vector<std::size_t> sqrt_segments(std::size_t stages);

// Chen's greedy: a segment ends with the stage at which its bytes pass `most`.
std::vector<std::size_t> greedy_segments(std::span<const std::int64_t> stage_bytes,
                                         std::int64_t most);

// What stays of each stage from its forward to its backward when it keeps everything: the bytes
// that greedy_segments() adds up.
std::vector<std::int64_t> saved_bytes(const Problem& problem, const Chain& chain);

// checkpoint_sequential: `count` - 1 segments of floor(stages / count), and a last one with the
// rest, which is to keep everything. Count from 1 to stages.
std::vector<std::size_t> sequential_segments(std::size_t stages, std::size_t count);

// Stages behind the last segment keep everything.
Plan plan_of(const Problem& problem, const Chain& chain, const SegmentRule& rule);

}  // namespace tidemark::remat
