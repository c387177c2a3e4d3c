#include "graph/remat/keep_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tidemark::remat {

namespace {

constexpr double kMicroseconds = 1e-6;
constexpr double kUnits = 1 << 10;  // of the room, so that sums stay exact in a double
constexpr double kInVain = 1e-4;    // of a copy's time, so that nothing moves that need not
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double unit_for(std::int64_t room) {
  return std::max(1.0, std::abs(static_cast<double>(room)) / kUnits);
}

}  // namespace

KeepModel::KeepModel(const Problem& problem, const Chain& chain, std::int64_t room,
                     const Moves* moves)
    : problem_(problem),
      chain_(chain),
      moves_(moves),
      readers_(readers(problem)),
      keep_(problem.tensor_count(), IlpModel::kOne),
      move_(problem.tensor_count(), IlpModel::kZero),
      again_(problem.op_count(), IlpModel::kZero) {
  for (const Stage& stage : chain) add_variables(stage);
  for (TensorIndex t = 0; moves != nullptr && t < problem.tensor_count(); ++t) {
    if (!moves->may_move(t)) continue;
    const auto both_ways = static_cast<double>(moves->out[t] + moves->in[t]);
    move_[t] = add_variable(both_ways * kMicroseconds * kInVain, true);
  }
  for (const Stage& stage : chain) add_rows(stage);
  if (moves == nullptr) {
    add_memory(room);
    return;
  }
  add_room_in_backward(room);
  add_host_room();
  add_copies_out();
  add_copies_back();
}

KeepChoice KeepModel::choice_of(const std::vector<double>& values, double bound) const {
  const auto is_set = [&](std::uint32_t variable) {
    return variable == IlpModel::kOne || (variable != IlpModel::kZero && values[variable] > 0.5);
  };
  double cost = 0;
  for (std::size_t i = 0; i < values.size(); ++i) cost += model_.cost[i] * values[i];
  KeepChoice choice{plan_of_everything(problem_),
                    {},
                    static_cast<std::int64_t>(std::llround(cost / kMicroseconds)),
                    0};
  choice.bound =
      std::min<std::int64_t>(choice.cost, std::llround(std::max(bound, 0.0) / kMicroseconds));
  for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) {
    const bool moves = is_set(move_[t]);
    choice.plan.keep[t] = moves || is_set(keep_[t]);
    if (moves && !(keep_[t] != IlpModel::kOne && is_set(keep_[t]))) choice.moved.push_back(t);
  }
  return choice;
}

std::uint32_t KeepModel::add_variable(double cost, bool integer, double high) {
  model_.cost.push_back(cost);
  model_.low.push_back(0);
  model_.high.push_back(high);
  model_.integer.push_back(integer);
  return static_cast<std::uint32_t>(model_.cost.size() - 1);
}

void KeepModel::add_variables(const Stage& stage) {
  for (OpIndex op = stage.forward_begin; op < stage.forward_end; ++op) {
    if (problem_.op(op).recomputable) {
      again_[op] = add_variable(static_cast<double>(problem_.op(op).cost) * kMicroseconds, false);
    }
    for (const TensorIndex tensor : problem_.outputs(op)) {
      if (inner(problem_, readers_, stage, tensor)) keep_[tensor] = add_variable(0, true);
    }
  }
}

void KeepModel::add_rows(const Stage& stage) {
  for (OpIndex op = stage.forward_begin; op < stage.forward_end; ++op) {
    for (const TensorIndex tensor : problem_.outputs(op)) {
      const auto all = readers_.of(tensor);
      if (!all.empty() && problem_.op(all.back()).backward) require(tensor, nullptr);
    }
    if (again_[op] == IlpModel::kZero) continue;
    for (const TensorIndex tensor : problem_.inputs(op)) require(tensor, &again_[op]);
  }
}

// Kept, on the host or made again; only where `reader` runs again, unless it is null.
void KeepModel::require(TensorIndex tensor, const std::uint32_t* reader) {
  if (keep_[tensor] == IlpModel::kOne) return;
  IlpModel::Row row;
  row.low = reader == nullptr ? 1 : 0;
  row.terms.push_back({keep_[tensor], 1});
  if (move_[tensor] != IlpModel::kZero) row.terms.push_back({move_[tensor], 1});
  const std::uint32_t maker = again_[problem_.tensor(tensor).producer];
  if (maker != IlpModel::kZero) row.terms.push_back({maker, 1});
  if (reader != nullptr) row.terms.push_back({*reader, -1});
  model_.rows.push_back(std::move(row));
}

void KeepModel::add_memory(std::int64_t room) {
  const double unit = unit_for(room);
  IlpModel::Row memory;
  memory.high = static_cast<double>(room) / unit;
  for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) {
    if (keep_[t] == IlpModel::kOne) continue;
    memory.terms.push_back({keep_[t], static_cast<double>(problem_.tensor(t).bytes) / unit});
  }
  model_.rows.push_back(std::move(memory));
}

// While the backward of each stage runs, and in front of all of them: what its own stage and those
// in front of it keep, and what has come back for it and for the stage in front of it.
void KeepModel::add_room_in_backward(std::int64_t room) {
  const double unit = unit_for(room);
  const std::size_t count = chain_.size() + 1;
  std::vector<IlpModel::Row> back(count), kept(count);
  IlpModel::Row stays;  // what stays but for moves is in the room already
  for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) {
    const double bytes = static_cast<double>(problem_.tensor(t).bytes) / unit;
    const bool chosen = keep_[t] != IlpModel::kOne;
    if (chosen) kept[stage_of(problem_.tensor(t).producer)].terms.push_back({keep_[t], bytes});
    if (move_[t] == IlpModel::kZero) continue;
    if (!chosen) stays.terms.push_back({move_[t], -bytes});
    const std::size_t reader = read_first_by(t);
    back[reader].terms.push_back({move_[t], bytes});
    if (reader + 1 < count) back[reader + 1].terms.push_back({move_[t], bytes});
  }
  stays.low = stays.high = 0;
  const std::uint32_t freed = add_variable(0, false, kNoLimit);  // of what would stay
  stays.terms.push_back({freed, 1});
  model_.rows.push_back(std::move(stays));
  std::uint32_t in_front = kNothing;  // kept by the stages so far
  for (std::size_t s = 0; s < count; ++s) {
    const std::uint32_t sum = add_variable(0, false, kNoLimit);
    IlpModel::Row& row = kept[s];
    row.low = row.high = 0;
    row.terms.push_back({sum, -1});
    if (in_front != kNothing) row.terms.push_back({in_front, 1});
    model_.rows.push_back(std::move(row));
    in_front = sum;
    back[s].high = static_cast<double>(room) / unit;
    back[s].terms.push_back({sum, 1});
    back[s].terms.push_back({freed, -1});
    model_.rows.push_back(std::move(back[s]));
  }
}

void KeepModel::add_host_room() {
  const double unit = unit_for(moves_->host_room);
  IlpModel::Row row;
  row.high = static_cast<double>(moves_->host_room) / unit;
  for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) {
    if (move_[t] == IlpModel::kZero) continue;
    row.terms.push_back({move_[t], static_cast<double>(problem_.tensor(t).bytes) / unit});
  }
  model_.rows.push_back(std::move(row));
}

// Of op `begin` and those up to `end`, run once.
double KeepModel::time_of(OpIndex begin, OpIndex end) const {
  double time = 0;
  for (OpIndex op = begin; op < end; ++op) time += static_cast<double>(problem_.op(op).cost);
  return time * kMicroseconds;
}

// Of an op of forward; what comes in front of all stages belongs to the first, what comes behind
// them is one more.
std::size_t KeepModel::stage_of(OpIndex op) const {
  const auto behind = std::ranges::upper_bound(chain_, op, {}, &Stage::forward_end);
  return static_cast<std::size_t>(behind - chain_.begin());
}

void KeepModel::add_copies_out() {
  struct Made {
    OpIndex first = kNone;
    std::vector<TensorIndex> tensors;
  };
  std::vector<Made> made(chain_.size() + 1);
  for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) {
    if (move_[t] == IlpModel::kZero) continue;
    const OpIndex maker = problem_.tensor(t).producer;
    Made& here = made[stage_of(maker)];
    here.first = std::min(here.first, maker);
    here.tensors.push_back(t);
  }
  std::uint32_t behind = kNothing;  // the time of copies of what later stages make
  for (std::size_t s = made.size(); s-- > 0;) {
    if (made[s].tensors.empty()) continue;
    const double time = time_of(made[s].first + 1, problem_.backward_begin());
    const std::uint32_t copies = add_variable(0, false, time);
    IlpModel::Row sum;
    sum.low = sum.high = 0;
    sum.terms.push_back({copies, -1});
    if (behind != kNothing) sum.terms.push_back({behind, 1});
    for (const TensorIndex t : made[s].tensors) {
      sum.terms.push_back({move_[t], static_cast<double>(moves_->out[t]) * kMicroseconds});
    }
    model_.rows.push_back(std::move(sum));
    behind = copies;
  }
}

// The first stage whose backward may read it, itself or to run an op again; one more than the last:
// what comes in front of all stages' backward.
std::size_t KeepModel::read_first_by(TensorIndex tensor) const {
  std::size_t first = 0;
  for (const OpIndex reader : readers_.of(tensor)) {
    if (!problem_.op(reader).backward) {
      if (again_[reader] != IlpModel::kZero) first = std::max(first, stage_of(reader));
      continue;
    }
    std::size_t s = chain_.size();  // stages run backward from the last
    while (s > 0 && reader >= chain_[s - 1].backward_begin) --s;
    if (s == chain_.size() || reader < chain_[s].backward_end) first = std::max(first, s);
  }
  return first;
}

void KeepModel::add_copies_back() {
  std::vector<IlpModel::Row> rows(chain_.size() + 1);
  for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) {
    if (move_[t] == IlpModel::kZero) continue;
    rows[read_first_by(t)].terms.push_back(
        {move_[t], static_cast<double>(moves_->in[t]) * kMicroseconds});
  }
  for (std::size_t s = 0; s < rows.size(); ++s) {
    IlpModel::Row& row = rows[s];
    if (row.terms.empty()) continue;
    row.terms.push_back({add_variable(1, false, kNoLimit), -1});  // waits
    row.high = 0;
    if (s + 1 < chain_.size()) {
      const Stage& ahead = chain_[s + 1];
      row.high = time_of(ahead.backward_begin, ahead.backward_end);
      for (OpIndex op = ahead.forward_begin; op < ahead.forward_end; ++op) {
        if (again_[op] == IlpModel::kZero) continue;
        row.terms.push_back(
            {again_[op], -static_cast<double>(problem_.op(op).cost) * kMicroseconds});
      }
    } else if (s + 1 == chain_.size()) {
      row.high = time_of(problem_.backward_begin(), chain_.back().backward_begin);
    }
    model_.rows.push_back(std::move(row));
  }
}

}  // namespace tidemark::remat
