#include "graph/remat/keep_ilp.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "graph/remat/ilp.hpp"
#include "graph/remat/referee.hpp"

#ifdef TIDEMARK_HAS_CBC
#include "graph/remat/cbc.hpp"
#include "graph/remat/ilp_model.hpp"
#endif

namespace tidemark::remat {

#ifndef TIDEMARK_HAS_CBC

std::optional<Plan> keep_by_ilp(const Problem&, const Chain&, std::int64_t, double) {
  throw std::logic_error("this build has no CBC (coinor-libcbc-dev)");
}

#else

namespace {

constexpr double kGap = 1e-3;  // equal stages make many plans that are equal: no proof is sought
constexpr double kUnits = 1 << 20;  // of the room, so that sums stay exact in a double

class KeepModel {
 public:
  KeepModel(const Problem& problem, const Chain& chain, std::int64_t room)
      : problem_(problem),
        readers_(readers(problem)),
        keep_(problem.tensor_count(), IlpModel::kOne),
        again_(problem.op_count(), IlpModel::kZero),
        unit_(std::max(1.0, static_cast<double>(room) / kUnits)) {
    for (const Stage& stage : chain) add_variables(stage);
    for (const Stage& stage : chain) add_rows(stage);
    IlpModel::Row memory;
    memory.high = static_cast<double>(room) / unit_;
    for (TensorIndex t = 0; t < problem.tensor_count(); ++t) {
      if (keep_[t] == IlpModel::kOne) continue;
      memory.terms.push_back({keep_[t], static_cast<double>(problem.tensor(t).bytes) / unit_});
    }
    model_.rows.push_back(std::move(memory));
  }

  const IlpModel& model() const { return model_; }

  Plan plan_of(const std::vector<double>& values) const {
    Plan plan = plan_of_everything(problem_);
    for (TensorIndex t = 0; t < problem_.tensor_count(); ++t) {
      if (keep_[t] != IlpModel::kOne) plan.keep[t] = values[keep_[t]] > 0.5;
    }
    return plan;
  }

 private:
  std::uint32_t add_variable(double cost, bool integer) {
    model_.cost.push_back(cost);
    model_.low.push_back(0);
    model_.high.push_back(1);
    model_.integer.push_back(integer);
    return static_cast<std::uint32_t>(model_.cost.size() - 1);
  }

  void add_variables(const Stage& stage) {
    for (OpIndex op = stage.forward_begin; op < stage.forward_end; ++op) {
      if (problem_.op(op).recomputable) {
        again_[op] = add_variable(static_cast<double>(problem_.op(op).cost) * 1e-6, false);
      }
      for (const TensorIndex tensor : problem_.outputs(op)) {
        if (inner(problem_, readers_, stage, tensor)) keep_[tensor] = add_variable(0, true);
      }
    }
  }

  void add_rows(const Stage& stage) {
    for (OpIndex op = stage.forward_begin; op < stage.forward_end; ++op) {
      for (const TensorIndex tensor : problem_.outputs(op)) {
        const auto all = readers_.of(tensor);
        if (!all.empty() && problem_.op(all.back()).backward) require(tensor, nullptr);
      }
      if (again_[op] == IlpModel::kZero) continue;
      for (const TensorIndex tensor : problem_.inputs(op)) require(tensor, &again_[op]);
    }
  }

  // Kept or made again; only where `reader` runs again, unless it is null.
  void require(TensorIndex tensor, const std::uint32_t* reader) {
    if (keep_[tensor] == IlpModel::kOne) return;
    IlpModel::Row row;
    row.low = reader == nullptr ? 1 : 0;
    row.terms.push_back({keep_[tensor], 1});
    const std::uint32_t maker = again_[problem_.tensor(tensor).producer];
    if (maker != IlpModel::kZero) row.terms.push_back({maker, 1});
    if (reader != nullptr) row.terms.push_back({*reader, -1});
    model_.rows.push_back(std::move(row));
  }

  const Problem& problem_;
  Readers readers_;
  std::vector<std::uint32_t> keep_;   // by tensor; kOne: stays in any case
  std::vector<std::uint32_t> again_;  // by op; kZero: does not run again
  double unit_;
  IlpModel model_;
};

}  // namespace

std::optional<Plan> keep_by_ilp(const Problem& problem, const Chain& chain, std::int64_t room,
                                double limit_seconds) {
  if (room < 0) return std::nullopt;
  const KeepModel keep(problem, chain, room);
  const CbcAnswer answer = solve_with_cbc(keep.model(), limit_seconds, nullptr, kGap);
  if (answer.values.empty()) return std::nullopt;
  return keep.plan_of(answer.values);
}

#endif

std::optional<Sequence> plan_keeps_by_ilp(const Problem& problem, const Chain& chain,
                                          std::int64_t budget, double limit_seconds) {
  constexpr int kTries = 4;
  const Readers reads = readers(problem);
  std::int64_t most = 0;  // that a plan can choose to keep
  for (const Stage& stage : chain) {
    for (OpIndex op = stage.forward_begin; op < stage.forward_end; ++op) {
      for (const TensorIndex tensor : problem.outputs(op)) {
        const auto all = reads.of(tensor);
        const bool saved = !all.empty() && problem.op(all.back()).backward;
        if (saved && inner(problem, reads, stage, tensor)) most += problem.tensor(tensor).bytes;
      }
    }
  }
  std::int64_t room = most + budget - referee(problem, keep_everything(problem)).peak;
  for (int i = 0; i < kTries; ++i) {
    const auto plan = keep_by_ilp(problem, chain, std::min(room, most), limit_seconds);
    if (!plan) return std::nullopt;
    Sequence sequence = sequence_of(problem, *plan);
    const std::int64_t peak = referee(problem, sequence).peak;
    if (peak <= budget) return sequence;
    room = std::min(room, most) - (peak - budget);
  }
  return std::nullopt;
}

}  // namespace tidemark::remat
