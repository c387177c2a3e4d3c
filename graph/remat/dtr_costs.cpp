#include "graph/remat/dtr_costs.hpp"

#include <algorithm>

namespace tidemark::remat {

DtrCosts::DtrCosts(const Problem& problem, DtrScore score)
    : problem_(problem),
      score_(score),
      state_(problem.tensor_count(), State::kNotYet),
      first_(std::size_t{problem.tensor_count()} + 1, 0),
      own_(problem.tensor_count(), 0),
      known_(problem.tensor_count(), -1),
      mark_(problem.tensor_count(), 0),
      op_mark_(problem.op_count(), 0),
      node_(problem.tensor_count(), kNone) {
  const auto for_each_pair = [&](const auto& visit) {
    for (OpIndex op = 0; op < problem.op_count(); ++op) {
      if (!problem.op(op).recomputable) continue;
      for (const TensorIndex in : problem.inputs(op)) {
        for (const TensorIndex out : problem.outputs(op)) visit(in, out);
      }
    }
  };
  for_each_pair([&](TensorIndex in, TensorIndex) { ++first_[in + 1]; });
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  makes_.resize(first_.back());
  auto next = first_;
  for_each_pair([&](TensorIndex in, TensorIndex out) { makes_[next[in]++] = out; });
  for (TensorIndex t = 0; t < problem.tensor_count(); ++t) {
    const OpIndex producer = problem.tensor(t).producer;
    if (producer != kNone) own_[t] = static_cast<double>(problem.op(producer).cost);
  }
}

// Visits what is reached from `from`, through evicted tensors alone.
template <class Next, class Visit>
void DtrCosts::walk(TensorIndex from, const Next& next, const Visit& visit) {
  stack_.assign(1, from);
  while (!stack_.empty()) {
    const TensorIndex at = stack_.back();
    stack_.pop_back();
    for (const TensorIndex tensor : next(at)) {
      if (problem_.tensor(tensor).producer == kNone || mark_[tensor] == stamp_) continue;
      mark_[tensor] = stamp_;
      visit(tensor);
      if (state_[tensor] == State::kEvicted) stack_.push_back(tensor);
    }
  }
}

double DtrCosts::around(TensorIndex tensor) {
  ++stamp_;
  double sum = 0;
  op_mark_[problem_.tensor(tensor).producer] = stamp_;
  const auto add = [&](TensorIndex other) {
    const OpIndex op = problem_.tensor(other).producer;
    if (state_[other] != State::kEvicted || op_mark_[op] == stamp_) return;
    op_mark_[op] = stamp_;
    sum += own_[other];
  };
  walk(
      tensor, [&](TensorIndex t) { return made_from(t); }, add);
  if (score_ == DtrScore::kDtr)
    walk(
        tensor, [&](TensorIndex t) { return makes(t); }, add);
  return sum;
}

// What is known of resident tensors that can see `tensor` through evicted ones.
void DtrCosts::forget_around(TensorIndex tensor) {
  ++stamp_;
  const auto forget = [&](TensorIndex other) { known_[other] = -1; };
  walk(
      tensor, [&](TensorIndex t) { return made_from(t); }, forget);
  walk(
      tensor, [&](TensorIndex t) { return makes(t); }, forget);
}

TensorIndex DtrCosts::set_of(TensorIndex tensor) {
  std::uint32_t root = node_[tensor];
  while (parent_[root] != root) root = parent_[root] = parent_[parent_[root]];
  return root;
}

double DtrCosts::around_by_sets(TensorIndex tensor) {
  double sum = 0;
  seen_.clear();
  const auto add = [&](TensorIndex other) {
    if (state_[other] != State::kEvicted) return;
    const std::uint32_t root = set_of(other);
    if (std::ranges::find(seen_, root) != seen_.end()) return;
    seen_.push_back(root);
    sum += set_cost_[root];
  };
  for (const TensorIndex other : made_from(tensor)) add(other);
  for (const TensorIndex other : makes(tensor)) add(other);
  return sum;
}

double DtrCosts::cost(TensorIndex tensor) {
  if (score_ == DtrScore::kDtrEq) return std::max(1.0, own_[tensor] + around_by_sets(tensor));
  if (score_ != DtrScore::kDtr && score_ != DtrScore::kMsps) return std::max(1.0, own_[tensor]);
  if (known_[tensor] < 0) known_[tensor] = own_[tensor] + around(tensor);
  return std::max(1.0, known_[tensor]);
}

void DtrCosts::change(TensorIndex tensor, State to) {
  const State from = state_[tensor];
  if (from == to) return;
  state_[tensor] = to;
  known_[tensor] = -1;
  if (from != State::kEvicted && to != State::kEvicted) return;
  if (score_ == DtrScore::kDtr || score_ == DtrScore::kMsps) forget_around(tensor);
  if (score_ != DtrScore::kDtrEq) return;
  if (from == State::kEvicted) {
    double& cost = set_cost_[set_of(tensor)];
    cost = std::max(0.0, cost - own_[tensor]);
    return;
  }
  node_[tensor] = static_cast<std::uint32_t>(parent_.size());
  parent_.push_back(node_[tensor]);
  set_cost_.push_back(own_[tensor]);
  const auto join = [&](TensorIndex other) {
    if (state_[other] != State::kEvicted) return;
    const std::uint32_t a = set_of(tensor), b = set_of(other);
    if (a == b) return;
    parent_[b] = a;
    set_cost_[a] += set_cost_[b];
  };
  for (const TensorIndex other : made_from(tensor)) join(other);
  for (const TensorIndex other : makes(tensor)) join(other);
}

}  // namespace tidemark::remat
