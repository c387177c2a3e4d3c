#pragma once
// What a selective checkpoint keeps beside its input: each result of the listed kinds of op, from
// forward to the replay, which takes them instead of running those ops again
// (torch/utils/checkpoint.py of 2.6, _CachingTorchDispatchMode and _CachedTorchDispatchMode).

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "graph/model.hpp"
#include "graph/value.hpp"

namespace tidemark {

class OpCache {
 public:
  OpCache() = default;
  explicit OpCache(CachedOps ops) : ops_(std::move(ops)) {}

  // Whether the op that comes next is listed. Forward and the replay ask once for each op.
  bool lists(OpKind kind);
  // Forward has ended, the replay begins: products are counted from the first again.
  void count_anew() { products_ = 0; }

  // In the order in which they are made; `alias` is not the tensor that the script holds.
  void put(Value alias) { results_.push_back(std::move(alias)); }
  Value take();
  void put_back(std::vector<Value> taken);
  void clear() { results_.clear(); }

 private:
  CachedOps ops_;
  std::int64_t products_ = 0;
  std::deque<Value> results_;
};

}  // namespace tidemark
