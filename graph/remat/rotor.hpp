#pragma once
// The best schedule of a chain among those in which a stored state stays until it is used: dynamic
// programming over intervals of stages and memory. Beaumont et al., arXiv 1911.13214, with more
// than one way to keep a stage and, on chains of half blocks, ways to keep a whole block.
//
//   V(s, t, m): least recomputation for the backward of stages s to t, with m bytes beside the
//   input of s; the gradient of the output of t is there.
//     keep s, by one of its options:      cost + V(s + 1, t, m - bytes)
//     run on to s' and store its input:   time of s to s' - 1, + V(s', t, m - input) + V(s, s' - 1,
//     m)
//
// Memory is innermost, so that loops over it are vectorised; intervals that look the same (equal
// blocks) are computed once, and at no level of memory that nothing can leave them with.

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/remat/chain.hpp"
#include "graph/remat/problem.hpp"
#include "graph/remat/stage_model.hpp"

namespace tidemark::remat {

struct ScheduleChoice {
  Sequence sequence;
  double planned = 0;   // picoseconds of recomputation, as far as the table counts
  double at_least = 0;  // no schedule of this kind has less: bytes rounded down
};

// What both planners below need of a problem; made once for all budgets.
struct RotorInput {
  struct Branch {
    std::size_t stages = 1;  // that it keeps
    std::int64_t bytes = 0, cost = 0, forward_need = 0, backward_need = 0;
    std::uint32_t option = 0;  // of the stage's model, or of the block's where `stages` > 1
  };
  struct Place {
    std::vector<Branch> branches;
    std::int64_t output_bytes = 0;
    std::int64_t pending_bytes = 0;  // gradients alive when its backward starts
    std::int64_t forward_cost = 0, tail_cost = 0, forward_need = 0, passing_need = 0;
    std::uint32_t shape = 0;       // places of one shape are the same in all above
    std::uint32_t last_shape = 0;  // and in what is read of the last of an interval
  };

  Chain chain;
  ChainModel model;
  Chain blocks;  // where there are branches of whole blocks
  ChainModel block_model;
  std::vector<std::size_t> block_at;  // of each stage; for the first stage of a block
  std::vector<Place> places;          // of each stage, and last of the epilogue
};

// Stages keep everything or nothing, as in the paper.
RotorInput rotor_input(const Problem& problem, const Chain& chain);

// Per-op options of each part of `parts`, and of the whole blocks that they make up.
RotorInput rotor_plus_input(const Problem& problem, const Chain& parts, const Chain& blocks);

// With `levels` memory levels; bytes are rounded up. Nothing: no schedule of this kind fits.
std::optional<ScheduleChoice> rotor(const Problem& problem, const RotorInput& input,
                                    std::int64_t budget, std::size_t levels = 500);

// The same, asked again with less where the referee's peak is above the budget: what goes on across
// stages can need more than the table counts.
std::optional<ScheduleChoice> rotor_within(const Problem& problem, const RotorInput& input,
                                           std::int64_t budget, std::size_t levels = 500);

}  // namespace tidemark::remat
