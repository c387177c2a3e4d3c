#pragma once
// Simulated against published times of kernels, for the tests of this folder.

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "tests/scenarios/text.hpp"

namespace tidemark::scenarios {

inline Machine machine_of(const std::string& hardware) {
  return load_text("model: gpt-124m\nhardware: " + hardware + "\n" + kOneStrategy).runs[0].machine;
}

// Relative errors of a table, and its rows in words for a test that fails.
class Errors {
 public:
  void add(const std::string& what, double simulated, double measured) {
    const double error = simulated / measured - 1;
    errors_.push_back(error);
    rows_ << what << ": simulated " << simulated << ", measured " << measured << ", "
          << std::lround(100 * error) << " %\n";
  }
  std::size_t count() const { return errors_.size(); }
  double median() const {
    std::vector<double> sorted;
    for (const double error : errors_) sorted.push_back(std::abs(error));
    std::ranges::sort(sorted);
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
  double largest() const {
    double most = 0;
    for (const double error : errors_) most = std::max(most, std::abs(error));
    return most;
  }
  std::size_t above(double bound) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(errors_, [bound](double error) { return std::abs(error) > bound; }));
  }
  std::string text() const { return rows_.str(); }

 private:
  std::vector<double> errors_;
  std::ostringstream rows_;
};

}  // namespace tidemark::scenarios
