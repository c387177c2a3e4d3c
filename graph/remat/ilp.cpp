#include "graph/remat/ilp.hpp"

#include <stdexcept>

#ifdef TIDEMARK_HAS_CBC
#include <algorithm>
#include <cmath>

#include "graph/remat/cbc.hpp"
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
  std::vector<double> first;
  if (result.sequence) first = solution_of(model, problem, *start);
  const CbcAnswer answer = solve_with_cbc(model, limit_seconds, result.sequence ? &first : nullptr);
  if (!answer.values.empty()) {
    offer(without_unread_repeats(problem, sequence_of(model, answer.values)));
  }
  result.infeasible = answer.infeasible && !result.sequence;
  result.proven = answer.optimal && result.sequence.has_value();
  // The solver's tolerance is 1e-6 of an objective.
  const double bound = answer.bound * model.time_unit * (1 - 1e-6);
  result.bound = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(bound)), 0,
                                          result.recompute_time);
  if (result.proven) result.bound = result.recompute_time;
  return result;
}

#endif

}  // namespace tidemark::remat
