#include "graph/remat/ilp.hpp"

#include <stdexcept>

#ifdef TIDEMARK_HAS_CBC
#include <coin/Cbc_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "graph/remat/ilp_model.hpp"
#include "graph/remat/referee.hpp"
#endif

namespace tidemark::remat {

double IlpResult::gap() const {
  if (proven || recompute_time == 0) return 0;
  return static_cast<double>(recompute_time - bound) / static_cast<double>(recompute_time);
}

#ifndef TIDEMARK_HAS_CBC

bool has_ilp() { return false; }

IlpResult plan_by_ilp(const Problem&, std::int64_t, double, const Sequence*) {
  throw std::logic_error("this build has no CBC (coinor-libcbc-dev)");
}

#else

bool has_ilp() { return true; }

namespace {

struct Delete {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};
using Solver = std::unique_ptr<Cbc_Model, Delete>;

Solver load(const IlpModel& model) {
  Solver solver(Cbc_newModel());
  Cbc_setLogLevel(solver.get(), 0);
  Cbc_setParameter(solver.get(), "log", "0");
  // CBC takes columns.
  const auto columns = static_cast<int>(model.cost.size());
  std::vector<CoinBigIndex> first(model.cost.size() + 1, 0);
  for (const IlpModel::Row& row : model.rows) {
    for (const IlpModel::Term& term : row.terms) ++first[term.variable + 1];
  }
  for (std::size_t i = 0; i < model.cost.size(); ++i) first[i + 1] += first[i];
  std::vector<int> rows(static_cast<std::size_t>(first.back()));
  std::vector<double> factors(rows.size()), low, high;
  std::vector<CoinBigIndex> next = first;
  for (const IlpModel::Row& row : model.rows) {
    for (const IlpModel::Term& term : row.terms) {
      const auto at = static_cast<std::size_t>(next[term.variable]++);
      rows[at] = static_cast<int>(low.size());
      factors[at] = term.factor;
    }
    low.push_back(row.low);
    high.push_back(row.high);
  }
  Cbc_loadProblem(solver.get(), columns, static_cast<int>(low.size()), first.data(), rows.data(),
                  factors.data(), model.low.data(), model.high.data(), model.cost.data(),
                  low.data(), high.data());
  for (int i = 0; i < columns; ++i) {
    if (model.integer[static_cast<std::size_t>(i)] != 0) Cbc_setInteger(solver.get(), i);
  }
  return solver;
}

void start_from(Cbc_Model* solver, const IlpModel& model, const std::vector<double>& solution) {
  std::vector<int> columns;
  std::vector<double> values;
  for (std::size_t i = 0; i < solution.size(); ++i) {
    if (model.integer[i] == 0) continue;
    columns.push_back(static_cast<int>(i));
    values.push_back(solution[i]);
  }
  Cbc_setMIPStartI(solver, static_cast<int>(columns.size()), columns.data(), values.data());
}

}  // namespace

IlpResult plan_by_ilp(const Problem& problem, std::int64_t budget, double limit_seconds,
                      const Sequence* start) {
  IlpResult result;
  if (needs_at_least(problem).bytes > budget) {
    result.infeasible = true;
    return result;
  }
  const auto offer = [&](Sequence sequence) {
    const Verdict verdict = referee(problem, sequence);
    if (!verdict.valid() || verdict.peak > budget) return;
    if (result.sequence && result.recompute_time <= verdict.recompute_time) return;
    result.sequence = std::move(sequence);
    result.recompute_time = verdict.recompute_time;
  };
  if (start != nullptr) offer(*start);
  const IlpModel model = ilp_model(problem, budget);
  const Solver solver = load(model);
  Cbc_setParameter(solver.get(), "sec", std::to_string(limit_seconds).c_str());
  if (result.sequence) start_from(solver.get(), model, solution_of(model, problem, *start));
  Cbc_solve(solver.get());
  if (const double* best = Cbc_bestSolution(solver.get()); best != nullptr) {
    offer(without_unread_repeats(
        problem, sequence_of(model, std::vector<double>(best, best + model.cost.size()))));
  }
  result.infeasible = Cbc_isProvenInfeasible(solver.get()) != 0 && !result.sequence;
  result.proven = Cbc_isProvenOptimal(solver.get()) != 0 && result.sequence.has_value();
  // The solver's tolerance is 1e-6 of an objective.
  const double bound = Cbc_getBestPossibleObjValue(solver.get()) * model.time_unit * (1 - 1e-6);
  result.bound = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(bound)), 0,
                                          result.recompute_time);
  if (result.proven) result.bound = result.recompute_time;
  return result;
}

#endif

}  // namespace tidemark::remat
