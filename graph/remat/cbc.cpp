#include "graph/remat/cbc.hpp"

#ifdef TIDEMARK_HAS_CBC
#include <coin/Cbc_C_Interface.h>

#include <memory>
#include <string>

namespace tidemark::remat {

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

CbcAnswer solve_with_cbc(const IlpModel& model, double limit_seconds,
                         const std::vector<double>* start, double gap, double near) {
  const Solver solver = load(model);
  Cbc_setParameter(solver.get(), "sec", std::to_string(limit_seconds).c_str());
  if (gap > 0) Cbc_setParameter(solver.get(), "ratio", std::to_string(gap).c_str());
  if (near > 0) Cbc_setParameter(solver.get(), "allow", std::to_string(near).c_str());
  if (start != nullptr) start_from(solver.get(), model, *start);
  Cbc_solve(solver.get());
  CbcAnswer answer;
  if (const double* best = Cbc_bestSolution(solver.get()); best != nullptr) {
    answer.values.assign(best, best + model.cost.size());
  }
  answer.infeasible = Cbc_isProvenInfeasible(solver.get()) != 0;
  answer.optimal = Cbc_isProvenOptimal(solver.get()) != 0;
  answer.bound = Cbc_getBestPossibleObjValue(solver.get());
  return answer;
}

}  // namespace tidemark::remat

#endif
