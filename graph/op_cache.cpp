#include "graph/op_cache.hpp"

#include <algorithm>
#include <iterator>

#include "hardware/ensure.hpp"

namespace tidemark {

bool OpCache::lists(OpKind kind) {
  if (std::ranges::find(ops_.kinds, kind) == ops_.kinds.end()) return false;
  const bool product = kind == OpKind::kAddmm || kind == OpKind::kMm;
  return !(product && ops_.odd_products_only) || ++products_ % 2 == 1;
}

Value OpCache::take() {
  ensure(!results_.empty(), "a replay takes no more results than forward has kept");
  Value first = std::move(results_.front());
  results_.pop_front();
  return first;
}

void OpCache::put_back(std::vector<Value> taken) {
  results_.insert(results_.begin(), std::make_move_iterator(taken.begin()),
                  std::make_move_iterator(taken.end()));
}

}  // namespace tidemark
