#pragma once
// How far simulated times are from measured ones, and how that changes with the parameters. Steps
// take long to simulate: rows run on several threads, and nothing is simulated that cannot matter.

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

#include "hardware/machine.hpp"
#include "tools/calibration/fit.hpp"

namespace tidemark::tools {

using Parameters = std::vector<const Parameter*>;

// `base` with the parameters at the exponentials of `logarithms`.
Machine machine_of(const Machine& base, const Parameters& chosen, const double* logarithms);

// log(simulated / measured).
double log_error(const Machine& machine, const Timing& timing);

class RowErrors {
 public:
  // All references outlive it. `simulated` hears how many steps were simulated so far.
  RowErrors(const Machine& base, const Parameters& chosen, const std::vector<const Timing*>& rows,
            const std::function<void(std::size_t)>& simulated);

  // At `logarithms`; slopes only where they are asked for. Asking again at the same point
  // simulates nothing again.
  void evaluate(const double* logarithms, bool slopes, bool moved = true);

  double error(std::size_t row) const { return errors_[row]; }
  // d log(time) / d log(parameter).
  double slope(std::size_t row, std::size_t parameter) const {
    return slopes_[row * chosen_.size() + parameter];
  }
  TimingKind kind(std::size_t row) const { return rows_[row]->kind; }
  // Whether any parameter moves the time of a row.
  bool concerned(std::size_t row) const {
    for (std::size_t c = 0; c < columns(); ++c) {
      if (slope(row, c) != 0) return true;
    }
    return false;
  }
  std::size_t rows() const { return rows_.size(); }
  std::size_t columns() const { return chosen_.size(); }

 private:
  double error_at(const double* logarithms, const Timing& timing);
  double slope_at(const double* logarithms, std::size_t row, std::size_t parameter);

  const Machine& base_;
  const Parameters& chosen_;
  const std::vector<const Timing*>& rows_;
  const std::function<void(std::size_t)>& told_;
  std::vector<double> errors_, slopes_;
  bool errors_known_ = false, slopes_known_ = false;
  std::atomic<std::size_t> simulated_ = 0;
};

}  // namespace tidemark::tools
