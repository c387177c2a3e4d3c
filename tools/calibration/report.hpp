#pragma once
// What a calibration found, as a machine file and for people.

#include <string>

#include "tools/calibration/fit.hpp"

namespace tidemark::tools {

// A file for `hardware:`: the base's figures with the fitted ones over them, each with `source`.
std::string machine_file(const Fit& fit, const std::string& base, const std::string& source);

// Figures before and after, and how far off they leave the rows that were not used.
std::string fit_text(const Fit& fit);

// The same figures as JSON, and a line a row as CSV. Errors are simulated over measured, less 1.
std::string fit_json(const Fit& fit);
std::string fit_csv(const Fit& fit);

// The machine that the fit started from.
Machine machine_before(const Fit& fit);

// Middle and farthest |error|.
struct Spread {
  double median = 0;
  double worst = 0;
};
Spread spread_before(std::span<const Residual> rows);
Spread spread_after(std::span<const Residual> rows);

}  // namespace tidemark::tools
