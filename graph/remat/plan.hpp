#pragma once
// What is kept, and when and how the rest is made again; and the sequence that follows from it.

#include <cstdint>
#include <vector>

#include "graph/remat/problem.hpp"

namespace tidemark::remat {

enum class When : char {
  kLazy,   // each op right before its first reader, as a compiler does
  kEntry,  // a segment at once, before the first backward op that needs some of it
};

enum class How : char {
  kNeeded,  // only ops whose outputs are needed: non-reentrant checkpoints, which stop early
  kReplay,  // all ops of the segment: re-entrant checkpoints
};

struct Plan {
  // One entry a tensor: whether it stays from forward to its readers in backward. What an op made
  // that may not run again stays in any case.
  std::vector<char> keep;
  // One entry a forward op: its segment, or kNone. Of ops in no segment `when` and `how` are kLazy
  // and kNeeded.
  std::vector<std::uint32_t> segment;
  When when = When::kLazy;
  How how = How::kNeeded;
};

// Keeps everything, in no segment.
Plan plan_of_everything(const Problem& problem);

// No op runs more than twice.
Sequence sequence_of(const Problem& problem, const Plan& plan);

}  // namespace tidemark::remat
