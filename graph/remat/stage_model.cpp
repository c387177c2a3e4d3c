#include "graph/remat/stage_model.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "graph/remat/front.hpp"
#include "graph/remat/local_peak.hpp"
#include "graph/remat/stage_shape.hpp"

namespace tidemark::remat {

namespace {

class Modeller {
 public:
  Modeller(const Problem& problem, const Chain& chain)
      : problem_(problem),
        chain_(chain),
        uses_(problem, chain),
        peak_(problem),
        held_(problem.tensor_count(), Held::kChoose),
        there_(problem.tensor_count(), 0) {}

  ChainModel model() {
    ChainModel model;
    std::map<std::vector<std::int64_t>, std::uint32_t> known;
    for (std::size_t s = 0; s < chain_.size(); ++s) {
      const auto next = static_cast<std::uint32_t>(model.shapes.size());
      const auto [at, added] = known.try_emplace(uses_.shape(s), next);
      if (added) model.shapes.push_back(stage(s));
      model.shape.push_back(at->second);
    }
    count_outside(model);
    return model;
  }

 private:
  bool inside(const Stage& stage, TensorIndex tensor) const {
    const OpIndex producer = problem_.tensor(tensor).producer;
    return producer != kNone && producer >= stage.forward_begin && producer < stage.forward_end;
  }

  // Made by the epilogue or in backward, before the stage's own backward.
  bool comes_from_behind(const Stage& stage, TensorIndex tensor) const {
    const OpIndex producer = problem_.tensor(tensor).producer;
    return producer != kNone && producer >= chain_.back().forward_end &&
           producer < stage.backward_begin;
  }

  StageModel stage(std::size_t s) {
    const Stage& stage = chain_[s];
    std::vector<OpIndex> ops(stage.forward_end - stage.forward_begin);
    std::iota(ops.begin(), ops.end(), stage.forward_begin);
    std::vector<TensorIndex> needed;
    StageModel model;
    model.first_stage = s;
    for (const OpIndex op : ops) {
      if (problem_.op(op).recomputable) model.forward_cost += problem_.op(op).cost;
      for (const TensorIndex tensor : problem_.outputs(op)) {
        const bool own = uses_.read_by_own_backward(s, tensor);
        if (own) needed.push_back(tensor);
        if (!uses_.leaves(s, tensor)) continue;
        held_[tensor] = Held::kFree;
        if (own || uses_.stays(s, tensor)) model.output_bytes += problem_.tensor(tensor).bytes;
      }
    }
    model.gradient_bytes = gradient_bytes(stage);
    const std::vector<Held> all_open(problem_.tensor_count(), Held::kChoose);
    model.tail_cost = model.forward_cost - evaluate({&problem_, ops, needed, all_open}, {}).cost;
    model.forward_need = forward_need(s, ops, {});
    model.passing_need = passing_need(s, ops);
    for (KeepSet& set : keep_front({&problem_, ops, needed, held_})) {
      StageOption option;
      option.bytes = set.bytes + model.output_bytes;
      option.cost = set.cost;
      option.forward_need = forward_need(s, ops, set.kept);
      option.backward_need = backward_need(s, ops, set.kept);
      option.kept = std::move(set.kept);
      model.options.push_back(std::move(option));
    }
    for (const OpIndex op : ops) {
      for (const TensorIndex tensor : problem_.outputs(op)) held_[tensor] = Held::kChoose;
    }
    return model;
  }

  std::int64_t gradient_bytes(const Stage& stage) {
    std::vector<TensorIndex> read;
    for (OpIndex op = stage.backward_begin; op < stage.backward_end; ++op) {
      for (const TensorIndex tensor : problem_.inputs(op)) {
        if (comes_from_behind(stage, tensor)) read.push_back(tensor);
      }
    }
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    std::int64_t bytes = 0;
    for (const TensorIndex tensor : read) bytes += problem_.tensor(tensor).bytes;
    return bytes;
  }

  std::int64_t forward_need(std::size_t s, std::span<const OpIndex> ops,
                            std::span<const TensorIndex> kept) {
    for (const TensorIndex tensor : kept) there_[tensor] = 1;
    const std::int64_t need = peak_(
        ops, [&](TensorIndex tensor) { return inside(chain_[s], tensor); },
        [&](TensorIndex tensor) {
          return there_[tensor] != 0 || (inside(chain_[s], tensor) && uses_.leaves(s, tensor));
        });
    for (const TensorIndex tensor : kept) there_[tensor] = 0;
    return need;
  }

  // With what the stage in front hands on, up to its last reader here.
  std::int64_t passing_need(std::size_t s, std::span<const OpIndex> ops) {
    const auto from_the_front = [&](TensorIndex tensor) {
      return s > 0 && inside(chain_[s - 1], tensor);
    };
    return peak_(
        ops,
        [&](TensorIndex tensor) { return inside(chain_[s], tensor) || from_the_front(tensor); },
        [&](TensorIndex tensor) {
          if (inside(chain_[s], tensor)) return uses_.leaves(s, tensor);
          return from_the_front(tensor) && uses_.read_by_later_forward(s, tensor);
        });
  }

  std::int64_t backward_need(std::size_t s, std::span<const OpIndex> ops,
                             std::span<const TensorIndex> kept) {
    const Stage& stage = chain_[s];
    for (const TensorIndex tensor : kept) there_[tensor] = 1;
    for (const OpIndex op : ops) {
      for (const TensorIndex tensor : problem_.outputs(op)) {
        if (held_[tensor] == Held::kFree || problem_.tensor(tensor).bytes == 0) there_[tensor] = 1;
      }
    }
    std::vector<OpIndex> sequence;
    const auto make = [&](const auto& self, TensorIndex tensor) -> void {
      if (!inside(stage, tensor) || there_[tensor] != 0) return;
      const OpIndex op = problem_.tensor(tensor).producer;
      for (const TensorIndex input : problem_.inputs(op)) self(self, input);
      sequence.push_back(op);
      for (const TensorIndex made : problem_.outputs(op)) there_[made] = 1;
    };
    for (OpIndex op = stage.backward_begin; op < stage.backward_end; ++op) {
      for (const TensorIndex tensor : problem_.inputs(op)) make(make, tensor);
      sequence.push_back(op);
    }
    for (const OpIndex op : ops) {
      for (const TensorIndex tensor : problem_.outputs(op)) there_[tensor] = 0;
    }
    return peak_(
        sequence,
        [&](TensorIndex tensor) {
          const OpIndex producer = problem_.tensor(tensor).producer;
          return producer != kNone && producer >= stage.forward_begin;
        },
        [&](TensorIndex tensor) {
          const OpIndex last = uses_.last_reader(tensor);
          return last != kNone && last >= stage.backward_end;
        });
  }

  // Gradients that are held, prologue, epilogue and rest.
  void count_outside(ChainModel& model) {
    const OpIndex forward_end = chain_.back().forward_end;
    const OpIndex forward_begin = chain_.front().forward_begin;
    const Readers reads = readers(problem_);
    // What a stage reads to run again stays as well.
    const auto read_to_run_again = [&](TensorIndex tensor) {
      const auto all = reads.of(tensor);
      return std::any_of(all.begin(), all.end(), [&](OpIndex op) {
        return op >= forward_begin && op < forward_end && problem_.op(op).recomputable;
      });
    };
    std::vector<std::int64_t> alive(std::size_t{problem_.op_count()} + 1, 0);  // before each op
    for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) {
      const Tensor& tensor = problem_.tensor(t);
      const OpIndex last = uses_.last_reader(t);
      if (tensor.producer == kNone || last == kNone) continue;
      if (tensor.producer < forward_begin && (last >= forward_end || read_to_run_again(t))) {
        model.prologue_bytes += tensor.bytes;
      }
      if (tensor.producer < forward_end) continue;
      alive[tensor.producer + 1] += tensor.bytes;
      alive[last + 1] -= tensor.bytes;
    }
    std::partial_sum(alive.begin(), alive.end(), alive.begin());
    for (const Stage& stage : chain_) {
      model.held.push_back(alive[stage.backward_begin] - gradient_bytes(stage));
    }
    const auto span_need = [&](OpIndex begin, OpIndex end) {
      std::vector<OpIndex> ops(end - begin);
      std::iota(ops.begin(), ops.end(), begin);
      return peak_(
          ops,
          [&](TensorIndex tensor) {
            const OpIndex producer = problem_.tensor(tensor).producer;
            return producer != kNone && (producer >= forward_end || dies_in_epilogue(tensor));
          },
          [&](TensorIndex tensor) {
            const OpIndex last = uses_.last_reader(tensor);
            return last != kNone && last >= end;
          });
    };
    model.epilogue_need = span_need(forward_end, chain_.back().backward_begin);
    const OpIndex rest = chain_.front().backward_end;
    std::int64_t held = alive[rest];
    std::vector<char> counted(problem_.tensor_count(), 0);  // by span_need, as it is read
    for (OpIndex op = rest; op < problem_.op_count(); ++op) {
      for (const TensorIndex tensor : problem_.inputs(op)) {
        const OpIndex producer = problem_.tensor(tensor).producer;
        if (producer == kNone || producer < forward_end || producer >= rest) continue;
        if (std::exchange(counted[tensor], 1) == 0) held -= problem_.tensor(tensor).bytes;
      }
    }
    model.rest_need = held + span_need(rest, problem_.op_count());
  }

  // Made in the last stage and gone behind the epilogue, so that no stage counts it.
  bool dies_in_epilogue(TensorIndex tensor) const {
    const std::size_t s = chain_.size() - 1;
    return inside(chain_[s], tensor) && uses_.leaves(s, tensor) && !uses_.stays(s, tensor) &&
           !uses_.read_by_own_backward(s, tensor);
  }

  const Problem& problem_;
  const Chain& chain_;
  StageUses uses_;
  LocalPeak peak_;
  std::vector<Held> held_;
  std::vector<char> there_;
};

}  // namespace

ChainModel model_of(const Problem& problem, const Chain& chain) {
  return Modeller(problem, chain).model();
}

std::vector<TensorIndex> kept_by(const Problem& problem, const Chain& chain,
                                 const ChainModel& model, std::size_t stage, std::uint32_t option) {
  // Stages of one shape have their ops, and the outputs of these, in the same order.
  const StageModel& shape = model.of(stage);
  const OpIndex there = chain[shape.first_stage].forward_begin;
  const OpIndex here = chain[stage].forward_begin;
  std::vector<TensorIndex> kept;
  for (const TensorIndex tensor : shape.options[option].kept) {
    const OpIndex producer = problem.tensor(tensor).producer;
    const auto outputs = problem.outputs(producer);
    const auto at = std::find(outputs.begin(), outputs.end(), tensor) - outputs.begin();
    kept.push_back(problem.outputs(here + (producer - there))[static_cast<std::size_t>(at)]);
  }
  return kept;
}

}  // namespace tidemark::remat
