#pragma once
// Tensors that are on the host between forward and backward.
//
//   block     |  0  |  1  | 2 forward | 2 backward |   1    |    0    |
//   reads v   |  makes v, reads it                          |  reads v
//   in HBM    |---------|                          |------------------|   it comes back one visit
//                                                                         ahead

#include <cstdint>
#include <span>
#include <vector>

#include "graph/remat/problem.hpp"

namespace tidemark::remat {

// What may move, and how long that takes.
struct Moves {
  static constexpr std::int64_t kStays = -1;

  // Picoseconds of a copy to the host, and of one back; by tensor. kStays, in both: may not move.
  std::vector<std::int64_t> out, in;
  std::int64_t host_room = 0;  // bytes

  bool may_move(TensorIndex tensor) const { return out[tensor] != kStays; }
};

// Of a valid sequence that makes each of `moved` once: the referee's peak where they are away from
// their last use in front of backward until, in backward, the run of ops of one block begins that
// comes before the one that uses them first. Copies take no time here.
std::int64_t peak_with_moves(const Problem& problem, const Sequence& sequence,
                             std::span<const TensorIndex> moved);

}  // namespace tidemark::remat
