#pragma once
// What it costs to bring a tensor back, given which others are evicted; for dtr.hpp.

#include <cstdint>
#include <span>
#include <vector>

#include "graph/remat/dtr_scores.hpp"
#include "graph/remat/problem.hpp"

namespace tidemark::remat {

class DtrCosts {
 public:
  DtrCosts(const Problem& problem, DtrScore score);

  bool resident(TensorIndex tensor) const { return state_[tensor] == State::kResident; }
  bool dead(TensorIndex tensor) const { return state_[tensor] == State::kDead; }
  void set_resident(TensorIndex tensor) { change(tensor, State::kResident); }
  void set_evicted(TensorIndex tensor) { change(tensor, State::kEvicted); }
  void set_dead(TensorIndex tensor) { change(tensor, State::kDead); }

  // Of a resident tensor: its own and, by the score, that of the evicted around it; at least 1.
  double cost(TensorIndex tensor);
  // Its own alone.
  double own(TensorIndex tensor) const { return own_[tensor]; }

 private:
  enum class State : char { kNotYet, kResident, kEvicted, kDead };

  std::span<const TensorIndex> made_from(TensorIndex tensor) const {
    return problem_.inputs(problem_.tensor(tensor).producer);
  }
  // What ops that may run again make from it.
  std::span<const TensorIndex> makes(TensorIndex tensor) const {
    return std::span(makes_).subspan(first_[tensor], first_[tensor + 1] - first_[tensor]);
  }

  void change(TensorIndex tensor, State to);
  void forget_around(TensorIndex tensor);
  template <class Next, class Visit>
  void walk(TensorIndex from, const Next& next, const Visit& visit);
  double around(TensorIndex tensor);
  double around_by_sets(TensorIndex tensor);
  TensorIndex set_of(TensorIndex tensor);

  const Problem& problem_;
  DtrScore score_;
  std::vector<State> state_;
  std::vector<std::uint32_t> first_;
  std::vector<TensorIndex> makes_;
  std::vector<double> own_;
  // Of the neighbourhood walk: costs that are known, and marks of what was visited.
  std::vector<double> known_;  // below 0: not
  std::vector<std::uint32_t> mark_, op_mark_;
  std::uint32_t stamp_ = 0;
  std::vector<TensorIndex> stack_;
  // Union-find over evicted tensors. One that comes back leaves its set with its cost; its old node
  // may still be the set's root, so that each eviction makes a new node.
  std::vector<std::uint32_t> node_;    // of each tensor
  std::vector<std::uint32_t> parent_;  // of each node
  std::vector<double> set_cost_;       // of each root
  std::vector<std::uint32_t> seen_;    // scratch: roots
};

}  // namespace tidemark::remat
