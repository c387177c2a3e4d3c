#pragma once
// Online eviction, played ahead of time: ops run in order; when memory is short the resident tensor
// of least score goes, and comes back when it is read, by running its op again, and before that
// those that its op needs. Dynamic Tensor Rematerialization, Kirisame et al., ICLR 2021.
//
// Scores (staleness: compute time since a tensor was last made or read):
//   h_DTR     (own cost + cost of the evicted neighbourhood) / (bytes x staleness); the
//             neighbourhood: evicted tensors that it is made from, or that are made from it,
//             through evicted ones alone
//   h_DTR-eq  the same with the neighbourhood's cost kept in a union-find structure, which forgets
//             nothing when a tensor comes back but that tensor's own cost
//   local     own cost / (bytes x staleness)
//   LRU       1 / staleness;   size  1 / bytes;   MSPS  (own cost + evicted ancestors) / bytes

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/remat/problem.hpp"

namespace tidemark::remat {

enum class DtrScore : char { kDtr, kDtrEq, kLocal, kLru, kSize, kMsps };

struct DtrScoreName {
  DtrScore score;
  std::string_view name;
};
inline constexpr std::array kDtrScores = {
    DtrScoreName{DtrScore::kDtr, "h_DTR"},   DtrScoreName{DtrScore::kDtrEq, "h_DTR-eq"},
    DtrScoreName{DtrScore::kLocal, "local"}, DtrScoreName{DtrScore::kLru, "LRU"},
    DtrScoreName{DtrScore::kSize, "size"},   DtrScoreName{DtrScore::kMsps, "MSPS"}};

struct DtrResult {
  // Nothing: at some op what may not be evicted did not fit, or it ran ops more than
  // `most_repeats` times as often as the step has ops.
  std::optional<Sequence> sequence;
  OpIndex stuck_at = kNone;            // then: the op of the step that could not run
  std::vector<TensorIndex> evictions;  // in order
};

// Tensors go by themselves when nobody reads them any more. Equal scores: the lower index goes.
DtrResult dtr(const Problem& problem, std::int64_t budget, DtrScore score,
              std::int64_t most_repeats = 20);

}  // namespace tidemark::remat
