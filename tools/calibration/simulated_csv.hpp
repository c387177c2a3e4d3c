#pragma once
// A table of timings with simulated times in the place of the measured ones.

#include <cstdint>
#include <memory>
#include <string>

#include "hardware/machine.hpp"
#include "scenarios/diagnostic.hpp"

namespace tidemark::tools {

struct SimulatedCsvOptions {
  double noise = 0;  // standard deviation of the logarithm of a factor on each time
  std::uint32_t seed = 1;
};

// Every line of the file; those of rows with the times of `machine`. The noise is the same for a
// seed wherever it runs. Throws ScenarioError as read_timings does.
std::string simulated_csv(const std::shared_ptr<const scenarios::Source>& source,
                          const Machine& machine, const SimulatedCsvOptions& options);

}  // namespace tidemark::tools
