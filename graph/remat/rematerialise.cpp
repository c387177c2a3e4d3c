#include "graph/remat/rematerialise.hpp"

#include <algorithm>
#include <utility>

#include "hardware/ensure.hpp"

namespace tidemark::remat {
namespace {

// The ops that write into a tensor after its producer, in order, by tensor.
std::vector<std::vector<OpId>> writers_of(const StepGraph& graph) {
  std::vector<std::vector<OpId>> writers(graph.tensors.size());
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    for (const TensorId t : graph.updated_by(OpId{op})) writers[index(t)].push_back(OpId{op});
  }
  return writers;
}

class Sequencer {
 public:
  Sequencer(const StepGraph& graph, const Drops& drops)
      : graph_(graph),
        drops_(drops),
        droppable_(droppable(graph)),
        writers_(writers_of(graph)),
        there_(graph.tensors.size(), false) {
    ensure(drops.fate.size() == graph.tensors.size(), "there is a decision for each tensor");
  }

  std::vector<OpId> run() && {
    for (std::uint32_t i = 0; i < graph_.op_count(); ++i) {
      const OpId op{i};
      if (graph_.op(op).phase == Phase::kBackward) {
        for (const TensorId t : graph_.inputs_of(op)) need(t);
        for (const TensorId t : graph_.updated_by(op)) need(t);
      }
      sequence_.push_back(op);
    }
    return std::move(sequence_);
  }

 private:
  // What backward finds without running anything again.
  bool available(TensorId t) const {
    const Tensor& tensor = graph_.tensor(t);
    if (tensor.initial() || graph_.op(tensor.producer).phase != Phase::kForward) return true;
    if (!droppable_[index(t)] || there_[index(t)]) return true;
    const Fate fate = drops_.fate[index(t)];
    return fate == Fate::kKept || (fate == Fate::kAsSaved && tensor.saved);
  }

  void need(TensorId t) {
    if (available(t)) return;
    if (drops_.timing == Timing::kEntry && drops_.fate[index(t)] == Fate::kDropped) bring_block(t);
    bring(t);
  }

  void bring_block(TensorId t) {
    const std::int16_t layer = graph_.tensor(t).layer;
    if (layer < 0) return;
    const std::vector<TensorId>& all = dropped_in(t);
    for (const TensorId other : all) bring(other);
  }

  // The dropped tensors of t's block and pass, in the order in which they were made. A pass's
  // forward is a stretch of ops without backward ones.
  const std::vector<TensorId>& dropped_in(TensorId t) {
    const std::uint32_t from = index(graph_.tensor(t).producer);
    std::uint32_t first = from;
    std::uint32_t last = from;
    const std::int16_t layer = graph_.tensor(t).layer;
    const auto forward = [&](std::uint32_t i) { return graph_.ops[i].phase == Phase::kForward; };
    while (first > 0 && forward(first - 1)) --first;
    while (last + 1 < graph_.op_count() && forward(last + 1)) ++last;
    block_.clear();
    for (std::uint32_t i = first; i <= last; ++i) {
      if (graph_.ops[i].layer != layer) continue;
      for (const TensorId out : graph_.outputs_of(OpId{i})) {
        if (drops_.fate[index(out)] == Fate::kDropped && graph_.tensor(out).saved)
          block_.push_back(out);
      }
    }
    return block_;
  }

  // Depth first, without recursion: chains can be as long as forward.
  void bring(TensorId wanted) {
    std::vector<TensorId> stack = {wanted};
    while (!stack.empty()) {
      const TensorId t = stack.back();
      if (available(t)) {
        stack.pop_back();
        continue;
      }
      const std::size_t before = stack.size();
      const OpId producer = graph_.tensor(t).producer;
      push_missing(producer, t, stack);
      for (const OpId writer : writers_[index(t)]) push_missing(writer, t, stack);
      if (stack.size() > before) continue;
      stack.pop_back();
      run_again(producer);
    }
  }

  void push_missing(OpId op, TensorId made, std::vector<TensorId>& stack) const {
    for (const TensorId in : graph_.inputs_of(op)) {
      if (in != made && !available(in)) stack.push_back(in);
    }
  }

  // The op and whatever then wrote into what it makes.
  void run_again(OpId op) {
    std::vector<OpId> ops = {op};
    for (const TensorId out : graph_.outputs_of(op)) {
      there_[index(out)] = true;
      const std::vector<OpId>& writers = writers_[index(out)];
      ops.insert(ops.end(), writers.begin(), writers.end());
    }
    std::ranges::sort(ops, {}, [](OpId id) { return index(id); });
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    sequence_.insert(sequence_.end(), ops.begin(), ops.end());
  }

  const StepGraph& graph_;
  const Drops& drops_;
  std::vector<bool> droppable_;
  std::vector<std::vector<OpId>> writers_;
  std::vector<bool> there_;  // by tensor: was made again
  std::vector<TensorId> block_;
  std::vector<OpId> sequence_;
};

}  // namespace

std::vector<bool> droppable(const StepGraph& graph) {
  const std::vector<std::vector<OpId>> writers = writers_of(graph);
  std::vector<bool> may(graph.tensors.size(), false);
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    if (tensor.initial() || tensor.persistent()) continue;
    const Op& producer = graph.op(tensor.producer);
    may[i] = producer.phase == Phase::kForward &&
             !(graph.dropout_runs_once && producer.kind == OpKind::kDropout);
  }
  // Written later by anything but forward, or read before it is written: not to be had again.
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    for (const OpId writer : writers[i]) {
      const Op& op = graph.op(writer);
      const bool forward = op.phase == Phase::kForward;
      const bool makes = !graph.outputs_of(writer).empty() || graph.updated_by(writer).size() > 1;
      if (!forward || makes) may[i] = false;
    }
    if (writers[i].empty() || !may[i]) continue;
    const std::uint32_t last = index(writers[i].back());
    for (std::uint32_t op = index(graph.tensors[i].producer) + 1; op < last; ++op) {
      const auto inputs = graph.inputs_of(OpId{op});
      if (std::ranges::find(inputs, TensorId(static_cast<std::uint32_t>(i))) != inputs.end()) {
        may[i] = false;
      }
    }
  }
  // An op runs again with all of its outputs.
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    const auto outputs = graph.outputs_of(OpId{op});
    const bool all = std::ranges::all_of(outputs, [&](TensorId t) { return may[index(t)]; });
    if (all && graph.updated_by(OpId{op}).empty()) continue;
    for (const TensorId t : outputs) may[index(t)] = false;
  }
  return may;
}

std::vector<OpId> sequence_of(const StepGraph& graph, const Drops& drops) {
  return Sequencer(graph, drops).run();
}

}  // namespace tidemark::remat
