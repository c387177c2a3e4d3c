#include "tools/explain.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "graph/op_time.hpp"

namespace tidemark::tools {
namespace {

using remat::Drawn;

std::string without_path(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::string(name);
  const std::string_view last = name.substr(dot + 1);
  // "native_dropout.mask": one of several results.
  const bool part = last == "mask" || last == "mean" || last == "rstd";
  const std::size_t before = part ? name.rfind('.', dot - 1) : dot;
  return std::string(before == std::string_view::npos ? name : name.substr(before + 1));
}

// What happens to the tensors of the first pass of a step.
class Fates {
 public:
  Fates(const Gpu& gpu, const PlayedStep& step)
      : gpu_(gpu), graph_(step.graph), program_(step.program), result_(step.whole()) {
    const auto count = static_cast<std::uint32_t>(graph_.op_count());
    for (backward_ = 0; backward_ < count; ++backward_) {
      if (graph_.ops[backward_].phase != Phase::kForward) break;
    }
    for (end_ = backward_; end_ < count; ++end_) {
      const Phase phase = graph_.ops[end_].phase;
      if (phase != Phase::kBackward && phase != Phase::kRecompute) break;
    }
    find_read_by_blocks();
    find_moved();
    find_lifetimes();
  }

  Explanation explain(std::int64_t layers) const {
    Explanation explanation;
    std::vector<Drawn> fate(graph_.tensors.size(), Drawn::kGone);
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) fate[t] = fate_of(t);
    explanation.drawn = drawn(fate);
    explanation.before = explain_block(kBeforeBlocks, fate);
    for (int layer = 0; layer < layers; ++layer) {
      ExplainedBlocks block = explain_block(layer, fate);
      if (!explanation.blocks.empty() && same(explanation.blocks.back(), block)) {
        ExplainedBlocks& group = explanation.blocks.back();
        group.last = layer;
        for (std::size_t i = 0; i < block.tensors.size(); ++i) {
          group.tensors[i].alive = std::max(group.tensors[i].alive, block.tensors[i].alive);
        }
      } else {
        explanation.blocks.push_back(std::move(block));
      }
    }
    return explanation;
  }

 private:
  static bool same(const ExplainedBlocks& a, const ExplainedBlocks& b) {
    return a.recompute == b.recompute &&
           std::ranges::equal(a.tensors, b.tensors, [](const auto& left, const auto& right) {
             return left.same_kind(right);
           });
  }

  // The first block's input, and what all blocks share: masks, tables of angles.
  void find_read_by_blocks() {
    read_by_blocks_.assign(graph_.tensors.size(), false);
    for (std::uint32_t op = 0; op < backward_; ++op) {
      if (graph_.ops[op].layer < 0) continue;
      for (const TensorId id : graph_.inputs_of(OpId{op})) read_by_blocks_[index(id)] = true;
    }
  }

  void find_moved() {
    moved_.assign(graph_.tensors.size(), false);
    for (std::uint32_t i = 0; i < program_.instances.size(); ++i) {
      const Instance& instance = program_.instances[i];
      if (instance.stream != Stream::kCopyOut) continue;
      for (const BufferId id : program_.uses(InstanceId{i})) {
        const Buffer& buffer = program_.buffers[index(id)];
        if (buffer.tier == Tier::kHbm && buffer.tensor != kNoTensor) {
          moved_[index(buffer.tensor)] = true;
        }
      }
    }
  }

  void find_lifetimes() {
    alive_.assign(graph_.tensors.size(), SimTime(0));
    std::vector<SimTime> since(program_.buffers.size(), SimTime(0));
    for (const sim::MemoryEvent& event : result_.memory) {
      const Buffer& buffer = program_.buffers[index(event.buffer)];
      if (buffer.tier != Tier::kHbm || buffer.tensor == kNoTensor) continue;
      if (event.allocated) {
        since[index(event.buffer)] = event.time;
      } else {
        alive_[index(buffer.tensor)] += event.time - since[index(event.buffer)];
      }
    }
  }

  // Of what the blocks of the first pass make, and what they read of what is made ahead of them.
  Drawn fate_of(std::uint32_t t) const {
    const Tensor& tensor = graph_.tensors[t];
    if (tensor.initial() || (tensor.layer < 0 && !read_by_blocks_[t])) return Drawn::kGone;
    const std::uint32_t made = index(tensor.producer);
    const bool read_later = tensor.persistent() || index(tensor.last_use) >= backward_;
    if (made < backward_) {
      if (!read_later) return Drawn::kGone;
      return moved_[t] ? Drawn::kMoved : Drawn::kKept;
    }
    if (made >= end_ || graph_.ops[made].phase != Phase::kRecompute) return Drawn::kGone;
    const bool for_backward =
        !tensor.persistent() && graph_.op(tensor.last_use).phase == Phase::kBackward;
    return for_backward ? Drawn::kRecomputed : Drawn::kGone;
  }

  // The fate of what is made again for what forward made as well. An op that runs again is the one
  // of forward that reads the same, or what was made again in its place; of several such (queries
  // and keys are cloned alike) first the one whose results are gone, then the next in order.
  std::vector<Drawn> drawn(const std::vector<Drawn>& fate) const {
    using Reads = std::tuple<OpKind, std::int16_t, std::vector<std::uint32_t>>;
    struct Alike {
      std::vector<OpId> ops;
      std::vector<bool> taken;  // since all were taken
    };
    std::vector<std::uint32_t> origin(graph_.tensors.size());
    std::iota(origin.begin(), origin.end(), 0u);
    const auto reads = [&](OpId op) {
      Reads key{graph_.op(op).kind, graph_.op(op).layer, {}};
      for (const TensorId t : graph_.inputs_of(op)) std::get<2>(key).push_back(origin[index(t)]);
      return key;
    };
    const auto gone = [&](OpId op) {
      return std::ranges::all_of(graph_.outputs_of(op),
                                 [&](TensorId t) { return fate[index(t)] == Drawn::kGone; });
    };
    const auto take = [&](Alike& alike) {
      if (std::ranges::find(alike.taken, false) == alike.taken.end()) {
        alike.taken.assign(alike.ops.size(), false);
      }
      std::optional<std::size_t> found;
      for (std::size_t i = alike.ops.size(); i-- > 0;) {
        if (alike.taken[i]) continue;
        if (!found || gone(alike.ops[i]) || !gone(alike.ops[*found])) found = i;
      }
      alike.taken[*found] = true;
      return alike.ops[*found];
    };
    std::map<Reads, Alike> forward;
    std::vector<Drawn> result = fate;
    for (std::uint32_t i = 0; i < end_; ++i) {
      const OpId op{i};
      if (i < backward_) {
        Alike& alike = forward[reads(op)];
        alike.ops.push_back(op);
        alike.taken.push_back(false);
      }
      if (graph_.op(op).phase != Phase::kRecompute) continue;
      const auto same = forward.find(reads(op));
      if (same == forward.end()) continue;
      const auto made = graph_.outputs_of(op), first = graph_.outputs_of(take(same->second));
      for (std::size_t o = 0; o < std::min(made.size(), first.size()); ++o) {
        origin[index(made[o])] = index(first[o]);
        Drawn& drawn = result[index(first[o])];
        // What stayed although it is made again, as a block's result is, did stay.
        if (fate[index(made[o])] == Drawn::kRecomputed && drawn == Drawn::kGone) {
          drawn = Drawn::kRecomputed;
        }
      }
    }
    return result;
  }

  // `layer`: kBeforeBlocks for what is made ahead of all of them.
  ExplainedBlocks explain_block(int layer, const std::vector<Drawn>& fate) const {
    ExplainedBlocks block;
    block.first = block.last = layer;
    for (std::uint32_t op = 0; op < end_; ++op) {
      const Op& o = graph_.ops[op];
      if (layer == kBeforeBlocks ? o.layer >= 0 : o.layer != layer) continue;
      const bool again = o.phase == Phase::kRecompute;
      if (again) block.recompute += op_time(gpu_, o);
      for (const TensorId id : graph_.outputs_of(OpId{op})) {
        const std::uint32_t t = index(id);
        if (fate[t] == Drawn::kGone || graph_.tensors[t].bytes.count == 0) continue;
        add(block, op, t, fate[t]);
      }
    }
    std::ranges::stable_sort(block.tensors, {}, &ExplainedTensor::fate);
    return block;
  }

  void add(ExplainedBlocks& block, std::uint32_t op, std::uint32_t t, Drawn fate) const {
    const Tensor& tensor = graph_.tensors[t];
    ExplainedTensor row;
    row.name = without_path(graph_.name(tensor.name));
    row.module = graph_.ops[op].module;
    row.bytes = tensor.bytes;
    row.fate = fate;
    row.alive = alive_[t];
    if (fate == Drawn::kRecomputed) row.recompute = op_time(gpu_, graph_.ops[op]);
    (fate == Drawn::kKept    ? block.kept
     : fate == Drawn::kMoved ? block.moved
                             : block.recomputed) += tensor.bytes;
    block.tensors.push_back(std::move(row));
  }

  const Gpu& gpu_;
  const StepGraph& graph_;
  const Program& program_;
  const sim::Result& result_;
  std::uint32_t backward_ = 0, end_ = 0;  // ops: where the first pass turns back; where it ends
  static constexpr int kBeforeBlocks = -1;
  std::vector<bool> read_by_blocks_;
  std::vector<bool> moved_;
  std::vector<SimTime> alive_;
};

Bytes hbm_of(const Report& report) { return report.tier(Tier::kHbm).peak_reserved; }

}  // namespace

Explanation explain_blocks(const scenarios::RunSpec& run, const KeptSteps& steps) {
  return Fates(run.machine.gpu, steps.steady()).explain(run.model.layers);
}

WhatHelps what_helps(const scenarios::RunSpec& run, const Report& report) {
  std::vector<Change> candidates;
  if (report.fits()) candidates = loosenings_for(run);
  for (Change& change : changes_for(run)) candidates.push_back(std::move(change));
  std::vector<Change> changes;
  std::vector<scenarios::RunSpec> runs;
  for (Change& change : candidates) {
    if (change.alters_training) continue;
    auto changed = with_changes(run, std::span(&change, 1));
    if (!changed) continue;
    changes.push_back(std::move(change));
    runs.push_back(std::move(*changed));
  }
  const std::vector<Report> reports = evaluate_all(runs, {.largest = 0});
  const auto by_time = [](const Report& r) { return std::pair(r.step_time, hbm_of(r)); };
  const auto by_memory = [](const Report& r) { return std::pair(hbm_of(r), r.step_time); };
  std::optional<std::size_t> fastest, smallest;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& each = reports[i];
    const bool faster = each.fits() && (!report.fits() || each.step_time < report.step_time);
    if (faster && (!fastest || by_time(each) < by_time(reports[*fastest]))) fastest = i;
    const bool smaller = hbm_of(each) < hbm_of(report);
    if (smaller && (!smallest || by_memory(each) < by_memory(reports[*smallest]))) smallest = i;
  }
  WhatHelps help;
  help.tried = runs.size();
  if (fastest) help.fastest = {changes[*fastest], reports[*fastest]};
  if (smallest) help.smallest = {changes[*smallest], reports[*smallest]};
  help.one_for_both = fastest && fastest == smallest;
  help.machine = effects_of(run);
  return help;
}

}  // namespace tidemark::tools
