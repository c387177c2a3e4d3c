#pragma once
// Most bytes alive while some ops run one after the other, of the tensors that count.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/remat/problem.hpp"

namespace tidemark::remat {

class LocalPeak {
 public:
  explicit LocalPeak(const Problem& problem)
      : problem_(problem), last_(problem.tensor_count(), 0), seen_(problem.tensor_count(), 0) {}

  // What is read before it is made is there from the start. `counts(tensor)`: whether it counts;
  // `lives_on(tensor)`: whether its last instance stays to the end.
  template <class Counts, class LivesOn>
  std::int64_t operator()(std::span<const OpIndex> ops, const Counts& counts,
                          const LivesOn& lives_on) {
    change_.assign(ops.size() + 1, 0);
    touched_.clear();
    const auto touch = [&](TensorIndex tensor, std::size_t at) {
      if (last_[tensor] != 0) return;
      last_[tensor] = seen_[tensor] == 0 && lives_on(tensor) ? ops.size() : at + 1;
      if (seen_[tensor] == 0) touched_.push_back(tensor);
      seen_[tensor] = 1;
    };
    const auto alive_from = [&](TensorIndex tensor, std::size_t at) {
      const std::int64_t bytes = counts(tensor) ? problem_.tensor(tensor).bytes : 0;
      change_[at] += bytes;
      change_[last_[tensor]] -= bytes;
      last_[tensor] = 0;
    };
    for (std::size_t at = ops.size(); at-- > 0;) {
      for (const TensorIndex tensor : problem_.outputs(ops[at])) {
        touch(tensor, at);
        alive_from(tensor, at);
      }
      for (const TensorIndex tensor : problem_.inputs(ops[at])) touch(tensor, at);
    }
    for (const TensorIndex tensor : touched_) {
      if (last_[tensor] != 0) alive_from(tensor, 0);
      seen_[tensor] = 0;
    }
    std::int64_t live = 0, peak = 0;
    for (std::size_t at = 0; at < ops.size(); ++at) {
      live += change_[at];
      peak = std::max(peak, live + problem_.op(ops[at]).workspace);
    }
    return peak;
  }

 private:
  const Problem& problem_;
  std::vector<std::size_t> last_;  // one behind the last use of the instance; 0: not used yet
  std::vector<char> seen_;
  std::vector<TensorIndex> touched_;
  std::vector<std::int64_t> change_;
};

}  // namespace tidemark::remat
