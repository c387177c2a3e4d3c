#include "graph/remat/ilp_model.hpp"

#include <algorithm>
#include <numeric>

namespace tidemark::remat {

namespace {

constexpr double kScale = 1e6;  // most units of memory, and of time

std::int64_t unit_of(std::int64_t common, std::int64_t most) {
  return std::max(
      {std::int64_t{1}, common, static_cast<std::int64_t>(static_cast<double>(most) / kScale)});
}

class Builder {
 public:
  Builder(const Problem& problem, std::int64_t budget)
      : problem_(problem), readers_(readers(problem)) {
    std::int64_t bytes = 0, time = 0;
    for (TensorIndex t = 0; t < problem.tensor_count(); ++t) {
      if (counted(t)) bytes = std::gcd(bytes, problem.tensor(t).bytes);
    }
    for (OpIndex op = 0; op < problem.op_count(); ++op) {
      bytes = std::gcd(bytes, problem.op(op).workspace);
      time = std::gcd(time, problem.op(op).cost);
    }
    unit_ = unit_of(bytes, budget);
    budget_ = static_cast<double>(budget / unit_);
    model_.time_unit = static_cast<double>(unit_of(time, problem.base_time()));
    model_.op_count = problem.op_count();
    model_.tensor_count = problem.tensor_count();
  }

  IlpModel build() {
    const std::uint32_t ops = model_.op_count;
    model_.run.assign(std::size_t{ops} * ops, IlpModel::kZero);
    model_.stay.assign(std::size_t{ops + 1} * model_.tensor_count, IlpModel::kZero);
    for (OpIndex stage = 0; stage < ops; ++stage) add_variables(stage);
    for (TensorIndex t = 0; t < model_.tensor_count; ++t) {
      if (counted(t) && problem_.tensor(t).keep) stay(ops, t) = IlpModel::kOne;
    }
    for (OpIndex stage = 0; stage < ops; ++stage) {
      add_dependencies(stage);
      add_memory(stage);
    }
    return std::move(model_);
  }

 private:
  using Term = IlpModel::Term;

  bool counted(TensorIndex tensor) const { return problem_.tensor(tensor).producer != kNone; }
  double units(std::int64_t bytes) const {
    return static_cast<double>((bytes + unit_ - 1) / unit_);
  }

  std::uint32_t& run(OpIndex stage, OpIndex op) {
    return model_.run[std::size_t{stage} * model_.op_count + op];
  }
  std::uint32_t& stay(OpIndex stage, TensorIndex tensor) {
    return model_.stay[std::size_t{stage} * model_.tensor_count + tensor];
  }

  std::uint32_t variable(double cost, double high, bool integer) {
    model_.cost.push_back(cost);
    model_.low.push_back(0);
    model_.high.push_back(high);
    model_.integer.push_back(integer ? 1 : 0);
    return static_cast<std::uint32_t>(model_.cost.size() - 1);
  }

  void add_variables(OpIndex stage) {
    run(stage, stage) = IlpModel::kOne;
    for (OpIndex op = 0; op < stage; ++op) {
      if (!problem_.op(op).recomputable) continue;
      run(stage, op) =
          variable(static_cast<double>(problem_.op(op).cost) / model_.time_unit, 1, true);
    }
    for (TensorIndex t = 0; t < model_.tensor_count; ++t) {
      if (counted(t) && problem_.tensor(t).producer < stage && read_from(stage, t)) {
        stay(stage, t) = variable(0, 1, true);
      }
    }
  }

  // Whether anything that runs in `stage` or later may read the tensor.
  bool read_from(OpIndex stage, TensorIndex tensor) const {
    const auto all = readers_.of(tensor);
    return problem_.tensor(tensor).keep || std::any_of(all.begin(), all.end(), [&](OpIndex op) {
             return op >= stage || problem_.op(op).recomputable;
           });
  }

  // The sum of the terms is at most `high`.
  void at_most(std::initializer_list<Term> terms, double high) {
    IlpModel::Row row;
    row.high = high;
    for (const Term& term : terms) add(row, term);
    double most = 0;  // that the terms can come to
    for (const Term& term : row.terms) {
      most += std::max(term.factor, 0.0) * model_.high[term.variable];
    }
    if (most > row.high) model_.rows.push_back(std::move(row));
  }

  static void add(IlpModel::Row& row, const Term& term) {
    if (term.variable == IlpModel::kZero) return;
    if (term.variable == IlpModel::kOne) {
      row.low -= term.factor;
      row.high -= term.factor;
    } else {
      row.terms.push_back(term);
    }
  }

  void add_dependencies(OpIndex stage) {
    for (OpIndex op = 0; op <= stage; ++op) {
      if (run(stage, op) == IlpModel::kZero) continue;
      for (const TensorIndex tensor : problem_.inputs(op)) {
        if (!counted(tensor)) continue;
        const OpIndex maker = problem_.tensor(tensor).producer;
        at_most({{run(stage, op), 1}, {run(stage, maker), -1}, {stay(stage, tensor), -1}}, 0);
      }
    }
    for (TensorIndex t = 0; t < model_.tensor_count; ++t) {
      if (!counted(t) || problem_.tensor(t).producer > stage) continue;
      const OpIndex maker = problem_.tensor(t).producer;
      at_most({{stay(stage + 1, t), 1}, {stay(stage, t), -1}, {run(stage, maker), -1}}, 0);
    }
  }

  // F for the tensor after op `op` in `stage`.
  std::uint32_t goes(OpIndex stage, TensorIndex tensor, OpIndex op) {
    const std::uint32_t free = variable(0, 1, false);
    at_most({{free, 1}, {run(stage, op), -1}}, 0);
    at_most({{free, 1}, {stay(stage + 1, tensor), 1}}, 1);
    for (const OpIndex reader : readers_.of(tensor)) {
      if (reader <= op || reader > stage) continue;
      at_most({{free, 1}, {run(stage, reader), 1}}, 1);
    }
    return free;
  }

  void add_memory(OpIndex stage) {
    // Each U is a variable; a row says how it differs from the one before.
    IlpModel::Row row;
    row.low = row.high = 0;
    for (TensorIndex t = 0; t < model_.tensor_count; ++t) {
      if (counted(t)) add(row, {stay(stage, t), units(problem_.tensor(t).bytes)});
    }
    for (OpIndex op = 0; op <= stage; ++op) {
      if (run(stage, op) == IlpModel::kZero) continue;
      for (const TensorIndex tensor : problem_.outputs(op)) {
        add(row, {run(stage, op), units(problem_.tensor(tensor).bytes)});
      }
      const std::uint32_t used = variable(0, budget_, false);
      add(row, {used, -1});
      model_.rows.push_back(row);
      if (problem_.op(op).workspace > 0) {
        at_most({{used, 1}, {run(stage, op), units(problem_.op(op).workspace)}}, budget_);
      }
      row.terms = {{used, 1}};
      row.low = row.high = 0;
      const auto free = [&](TensorIndex tensor) {
        add(row, {goes(stage, tensor, op), -units(problem_.tensor(tensor).bytes)});
      };
      for (const TensorIndex tensor : problem_.outputs(op)) free(tensor);
      for (const TensorIndex tensor : problem_.inputs(op)) {
        if (counted(tensor)) free(tensor);
      }
    }
  }

  const Problem& problem_;
  Readers readers_;
  IlpModel model_;
  std::int64_t unit_ = 1;
  double budget_ = 0;  // in units
};

}  // namespace

IlpModel ilp_model(const Problem& problem, std::int64_t budget) {
  return Builder(problem, budget).build();
}

Sequence sequence_of(const IlpModel& model, const std::vector<double>& solution) {
  Sequence sequence;
  for (OpIndex stage = 0; stage < model.op_count; ++stage) {
    for (OpIndex op = 0; op <= stage; ++op) {
      const std::uint32_t run = model.run[std::size_t{stage} * model.op_count + op];
      if (run == IlpModel::kZero) continue;
      if (run == IlpModel::kOne || solution[run] > 0.5) sequence.push_back(op);
    }
  }
  return sequence;
}

std::vector<double> solution_of(const IlpModel& model, const Problem& problem,
                                const Sequence& sequence) {
  std::vector<double> solution(model.cost.size(), 0);
  const auto set = [&](std::uint32_t variable) {
    if (variable < IlpModel::kOne) solution[variable] = 1;
  };
  std::vector<OpIndex> stage(sequence.size());  // of each run
  OpIndex next = 0;
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    stage[at] = next;
    set(model.run[std::size_t{next} * model.op_count + sequence[at]]);
    if (sequence[at] == next) ++next;
  }
  // From the end: the stage of the last reader of each tensor's instance.
  std::vector<OpIndex> last(model.tensor_count, kNone);
  for (std::size_t at = sequence.size(); at-- > 0;) {
    for (const TensorIndex tensor : problem.outputs(sequence[at])) {
      if (last[tensor] == kNone) continue;
      for (OpIndex s = stage[at] + 1; s <= last[tensor]; ++s) {
        set(model.stay[std::size_t{s} * model.tensor_count + tensor]);
      }
      last[tensor] = kNone;
    }
    for (const TensorIndex tensor : problem.inputs(sequence[at])) {
      if (last[tensor] == kNone) last[tensor] = stage[at];
    }
  }
  return solution;
}

}  // namespace tidemark::remat
