#include "graph/remat/stage_shape.hpp"

#include <algorithm>
#include <map>

namespace tidemark::remat {

StageUses::StageUses(const Problem& problem, const Chain& chain)
    : problem_(problem), chain_(chain), readers_(readers(problem)) {
  for (TensorIndex t = 0; t < problem.tensor_count(); ++t) {
    const auto all = readers_.of(t);
    last_.push_back(problem.tensor(t).keep ? problem.op_count() - 1
                    : all.empty()          ? kNone
                                           : all.back());
  }
}

namespace {

bool own(const Stage& stage, OpIndex op) {
  return (op >= stage.forward_begin && op < stage.forward_end) ||
         (op >= stage.backward_begin && op < stage.backward_end);
}

}  // namespace

bool StageUses::leaves(std::size_t stage, TensorIndex tensor) const {
  const auto all = readers_.of(tensor);
  return problem_.tensor(tensor).keep ||
         std::any_of(all.begin(), all.end(), [&](OpIndex op) { return !own(chain_[stage], op); });
}

bool StageUses::stays(std::size_t stage, TensorIndex tensor) const {
  if (!leaves(stage, tensor)) return false;
  if (problem_.tensor(tensor).keep) return true;
  const auto all = readers_.of(tensor);
  return std::any_of(all.begin(), all.end(), [&](OpIndex op) {
    const bool epilogue = op >= chain_.back().forward_end && op < chain_.back().backward_begin;
    const bool forward = op >= chain_[stage].forward_begin && op < chain_[stage].forward_end;
    return !epilogue && !forward;
  });
}

bool StageUses::read_by_own_backward(std::size_t stage, TensorIndex tensor) const {
  const auto all = readers_.of(tensor);
  return std::any_of(all.begin(), all.end(), [&](OpIndex op) {
    return op >= chain_[stage].backward_begin && op < chain_[stage].backward_end;
  });
}

bool StageUses::read_by_later_forward(std::size_t stage, TensorIndex tensor) const {
  const auto all = readers_.of(tensor);
  return std::any_of(all.begin(), all.end(), [&](OpIndex op) {
    return op >= chain_[stage].forward_end && op < problem_.backward_begin();
  });
}

std::vector<std::int64_t> StageUses::shape(std::size_t stage) const {
  const Stage& s = chain_[stage];
  std::vector<std::int64_t> shape;
  std::map<TensorIndex, std::int64_t> number;
  const auto add_input = [&](TensorIndex tensor) {
    const OpIndex producer = problem_.tensor(tensor).producer;
    if (producer == kNone) return shape.push_back(-1);
    // What is made outside is numbered too: two ops may read the same. What stays behind this
    // stage's backward is not counted when it goes.
    const auto [at, added] = number.try_emplace(tensor, static_cast<std::int64_t>(number.size()));
    shape.push_back(at->second);
    if (!added) return;
    shape.push_back(problem_.tensor(tensor).bytes);
    shape.push_back(producer < s.forward_begin ? -2 : producer >= s.forward_end ? -3 : -4);
    shape.push_back((last_[tensor] >= s.backward_end ? 1 : 0) +
                    (read_by_later_forward(stage, tensor) ? 2 : 0));
  };
  const auto add_output = [&](TensorIndex tensor, bool forward) {
    number.try_emplace(tensor, static_cast<std::int64_t>(number.size()));
    shape.push_back(problem_.tensor(tensor).bytes);
    const bool goes_on = last_[tensor] != kNone && last_[tensor] >= s.backward_end;
    shape.push_back(goes_on + 2 * (forward && leaves(stage, tensor)) +
                    4 * (forward && stays(stage, tensor)));
  };
  const auto add_ops = [&](OpIndex begin, OpIndex end, bool forward) {
    for (OpIndex i = begin; i < end; ++i) {
      const Op& op = problem_.op(i);
      shape.insert(shape.end(), {op.cost, op.workspace, op.recomputable ? 1 : 0});
      for (const TensorIndex tensor : problem_.inputs(i)) add_input(tensor);
      shape.push_back(-5);
      for (const TensorIndex tensor : problem_.outputs(i)) add_output(tensor, forward);
    }
    shape.push_back(-6);
  };
  add_ops(s.forward_begin, s.forward_end, true);
  add_ops(s.backward_begin, s.backward_end, false);
  return shape;
}

}  // namespace tidemark::remat
