#include <algorithm>
#include <utility>

#include "graph/categories.hpp"
#include "graph/remat/rematerialise.hpp"
#include "hardware/ensure.hpp"

namespace tidemark::remat {
namespace {

class Replay {
 public:
  Replay(const StepGraph& from, std::span<const OpId> sequence)
      : from_(from),
        sequence_(sequence),
        current_(from.tensors.size(), kNoTensor),
        position_(from.op_count(), kNoIndex) {}

  StepGraph run() && {
    copy_what_stays();
    for (const OpId op : sequence_) add(op);
    ensure(next_ == from_.op_count(), "every op runs once");
    Op sentinel;
    begin_rows(sentinel);
    to_.ops.push_back(sentinel);
    close_lives();
    copy_saves();
    point_parameters();
    sort_into_categories(to_);
    return std::move(to_);
  }

 private:
  void copy_what_stays() {
    to_.names = from_.names;
    to_.parameter_count = from_.parameter_count;
    to_.model_flops = from_.model_flops;
    to_.ops.reserve(sequence_.size() + 1);
    to_.tensors = from_.tensors;  // with their numbers; instances made again come after them
    last_touch_.assign(to_.tensors.size(), kNoOp);
    original_.resize(to_.tensors.size());
    for (std::uint32_t i = 0; i < to_.tensors.size(); ++i) {
      original_[i] = TensorId{i};
      if (from_.tensors[i].initial()) current_[i] = TensorId{i};
    }
  }

  void begin_rows(Op& op) const {
    op.first_input = static_cast<std::uint32_t>(to_.inputs.size());
    op.first_held = 0;  // set by close_lives
    op.first_output = static_cast<std::uint32_t>(to_.outputs.size());
    op.first_updated = static_cast<std::uint32_t>(to_.updated.size());
  }

  void add(OpId id) {
    const std::uint32_t at = static_cast<std::uint32_t>(to_.ops.size());
    const bool again = position_[index(id)] != kNoIndex;
    Op op = from_.op(id);
    if (again) {
      ensure(op.phase == Phase::kForward, "only ops of forward run again");
      op.phase = Phase::kRecompute;
    } else {
      ensure(index(id) == next_, "ops run in their order");
      ++next_;
      position_[index(id)] = at;
    }
    begin_rows(op);
    to_.ops.push_back(op);
    for (const TensorId t : from_.inputs_of(id)) to_.inputs.push_back(touch(t, at));
    for (const TensorId t : from_.updated_by(id)) to_.updated.push_back(touch(t, at));
    for (const TensorId t : from_.outputs_of(id)) to_.outputs.push_back(make(t, at, again));
  }

  TensorId touch(TensorId t, std::uint32_t at) {
    const TensorId instance = current_[index(t)];
    ensure(instance != kNoTensor, "what an op reads is there");
    last_touch_[index(instance)] = OpId{at};
    return instance;
  }

  TensorId make(TensorId t, std::uint32_t at, bool again) {
    TensorId instance = t;
    if (again) {
      instance = TensorId(static_cast<std::uint32_t>(to_.tensors.size()));
      Tensor copy = from_.tensor(t);
      copy.category = Category::kTemporaries;
      to_.tensors.push_back(copy);
      original_.push_back(t);
      last_touch_.push_back(kNoOp);
      to_.tensors[index(current_[index(t)])].saved = false;
      to_.tensors[index(current_[index(t)])].category = Category::kTemporaries;
    }
    to_.tensors[index(instance)].producer = OpId{at};
    last_touch_[index(instance)] = OpId{at};
    current_[index(t)] = instance;
    return instance;
  }

  // An instance that was not made again lives as long as it did, or to its last reader if that is
  // later: variables and nodes hold it. Others end with their last reader.
  void close_lives() {
    std::vector<std::vector<TensorId>> held(to_.op_count());
    for (std::uint32_t i = 0; i < to_.tensors.size(); ++i) {
      Tensor& tensor = to_.tensors[i];
      const TensorId original = original_[i];
      if (tensor.persistent()) continue;
      const bool once = current_[index(original)] == TensorId{i} && original == TensorId{i};
      std::uint32_t last = last_touch_[i] == kNoOp ? kNoIndex : index(last_touch_[i]);
      if (once) {
        const std::uint32_t end = position_[index(from_.tensor(original).last_use)];
        if (last == kNoIndex || end > last) {
          last = end;
          held[end].push_back(TensorId{i});
        }
      }
      ensure(last != kNoIndex, "a tensor ends somewhere");
      tensor.last_use = OpId{last};
    }
    for (std::uint32_t op = 0; op < to_.op_count(); ++op) {
      to_.ops[op].first_held = static_cast<std::uint32_t>(to_.held.size());
      to_.held.insert(to_.held.end(), held[op].begin(), held[op].end());
    }
    to_.ops.back().first_held = static_cast<std::uint32_t>(to_.held.size());
  }

  // A node keeps the instance that its derivative reads.
  void copy_saves() {
    for (const SavedBy& row : from_.saves) {
      const TensorId now = current_[index(row.tensor)];
      std::uint32_t op = position_[index(row.op)];
      if (!to_.tensor(now).initial()) op = std::max(op, index(to_.tensor(now).producer));
      to_.saves.push_back({now, row.node, OpId{op}});
    }
  }

  void point_parameters() {
    to_.parameters = from_.parameters;
    for (Parameter& parameter : to_.parameters) {
      if (parameter.gradient_ready == kNoOp) continue;
      parameter.gradient_ready = OpId{position_[index(parameter.gradient_ready)]};
    }
    to_.pass_gradients = from_.pass_gradients;
    for (PassGradient& gradient : to_.pass_gradients) {
      gradient.ready = OpId{position_[index(gradient.ready)]};
    }
  }

  const StepGraph& from_;
  std::span<const OpId> sequence_;
  StepGraph to_;
  std::vector<TensorId> current_;        // by tensor of from_: its newest instance
  std::vector<TensorId> original_;       // by tensor of to_
  std::vector<OpId> last_touch_;         // by tensor of to_: the last op that reads or writes it
  std::vector<std::uint32_t> position_;  // by op of from_: where it runs first
  std::uint32_t next_ = 0;               // ops of from_ that have run
};

}  // namespace

StepGraph replay(const StepGraph& graph, std::span<const OpId> sequence) {
  return Replay(graph, sequence).run();
}

}  // namespace tidemark::remat
