#include "graph/offload/stays.hpp"

#include <algorithm>

#include "hardware/ensure.hpp"

namespace tidemark {

Stays::Stays(const StepGraph& graph) : row_(graph.tensors.size(), kNoIndex) {}

void Stays::divide(TensorId tensor, std::span<const Stay> stays) {
  ensure(!divided(tensor), "a tensor is divided once");
  row_[index(tensor)] = static_cast<std::uint32_t>(first_.size() - 1);
  for (std::size_t k = 0; k < stays.size(); ++k) {
    const Stay& stay = stays[k];
    // kNoOp is the largest index, so that a stay without end ends after all ops.
    ensure(stay.first == kNoOp || index(stay.first) <= index(stay.last),
           "a stay does not end before it begins");
    ensure(k == 0 || (stay.first != kNoOp && index(stays[k - 1].last) < index(stay.first)),
           "stays are disjoint and in order");
    placed_.push_back({stay, kNoBuffer});
  }
  first_.push_back(static_cast<std::uint32_t>(placed_.size()));
}

void Stays::add_buffers(ProgramBuilder& builder, const StepGraph& graph) {
  const auto add = [&](std::uint32_t i, bool initial, bool persistent) {
    const Tensor& tensor = graph.tensors[i];
    return builder.add_buffer({.bytes = tensor.bytes,
                               .tier = Tier::kHbm,
                               .category = tensor.category,
                               .initial = initial,
                               .persistent = persistent,
                               .tensor = TensorId{i}});
  };
  const auto add_stay = [&](std::uint32_t i, Placed& placed) {
    placed.buffer = add(i, placed.stay.first == kNoOp, placed.stay.last == kNoOp);
  };
  for (std::uint32_t i = 0; i < row_.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    if (row_[i] == kNoIndex) {
      add(i, tensor.initial(), tensor.persistent());
    } else if (first_[row_[i]] == first_[row_[i] + 1]) {
      add(i, false, false);
    } else {
      add_stay(i, placed_[first_[row_[i]]]);
    }
  }
  for (std::uint32_t i = 0; i < row_.size(); ++i) {
    if (row_[i] == kNoIndex) continue;
    for (std::uint32_t k = first_[row_[i]] + 1; k < first_[row_[i] + 1]; ++k) {
      add_stay(i, placed_[k]);
    }
  }
}

BufferId Stays::buffer(TensorId tensor, OpId op) const {
  const std::uint32_t row = row_[index(tensor)];
  if (row == kNoIndex) return BufferId{index(tensor)};
  const auto begin = placed_.begin() + first_[row];
  const auto end = placed_.begin() + first_[row + 1];
  const auto found = std::find_if(
      begin, end, [&](const Placed& placed) { return index(op) <= index(placed.stay.last); });
  if (found == end) return kNoBuffer;
  const bool begun = found->stay.first == kNoOp || index(found->stay.first) <= index(op);
  return begun ? found->buffer : kNoBuffer;
}

BufferId Stays::buffer_of_stay(TensorId tensor, std::size_t k) const {
  const std::uint32_t row = row_[index(tensor)];
  if (row == kNoIndex) return BufferId{index(tensor)};
  ensure(first_[row] + k < first_[row + 1], "a stay that is asked for exists");
  return placed_[first_[row] + k].buffer;
}

}  // namespace tidemark
