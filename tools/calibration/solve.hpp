#pragma once
// The search for the figures that explain the rows best.

#include <vector>

#include "tools/calibration/errors.hpp"

namespace tidemark::tools {

// Relative: timings of one kernel repeat within a few percent; beyond, a row is heard less and
// less.
inline constexpr double kNoise = 0.03;

// Moves `logarithms`, of `chosen` in their order, to where they explain the rows best, within the
// parameters' bounds. `steps`: among the rows are steps, which take long to simulate. Throws
// FitError where there is no solution.
void solve(const Parameters& chosen, RowErrors& errors, bool steps,
           std::vector<double>& logarithms);

}  // namespace tidemark::tools
