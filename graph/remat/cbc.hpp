#pragma once
// The solver of integer programs. Only where this build has CBC: has_ilp() (ilp.hpp).

#include <vector>

#include "graph/remat/ilp_model.hpp"

namespace tidemark::remat {

struct CbcAnswer {
  std::vector<double> values;  // one entry a variable; empty: no solution was found
  double bound = 0;            // no solution costs less, as far as was proved
  bool optimal = false;        // proved
  bool infeasible = false;     // likewise
};

// The limit is of processor time. `start`: a solution to begin with, one entry a variable; null:
// none. The search ends where it is within `gap` of the bound, as a share, or within `near`.
CbcAnswer solve_with_cbc(const IlpModel& model, double limit_seconds,
                         const std::vector<double>* start = nullptr, double gap = 0,
                         double near = 0);

}  // namespace tidemark::remat
