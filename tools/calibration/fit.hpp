#pragma once
// Figures of a machine that explain measured times best: least squares of the logarithms of
// simulated over measured times, with a loss that outliers hardly move.

#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "tools/calibration/timings.hpp"

namespace tidemark::tools {

// A figure that can be fitted. Rows stand in parameters.cpp.
struct Parameter {
  std::string_view key;           // as below `hardware:`, "gpu.stream_efficiency"
  std::vector<TimingKind> kinds;  // of rows that say something of it
  double (*get)(const Machine& machine) = nullptr;
  void (*set)(Machine& machine, double value) = nullptr;
  std::string (*text)(const Machine& machine) = nullptr;  // as a machine file has it
  double least = 0, most = 0;                             // both above 0
  double step = 0.001;      // relative, of a finite difference: more where values are whole
  std::string_view advice;  // which rows tell it from others
  // Left out first where the rows are too few, or do not tell it from others.
  bool optional = false;
  bool (*applies)(const Machine& machine) = nullptr;  // null: to all; else times depend on it
  std::string_view otherwise = {};                    // why not
};

std::span<const Parameter> parameters();

// Whether a fit moved it as far as it may go.
bool at_bound(const Parameter& parameter, double value);

struct FittedParameter {
  const Parameter* parameter = nullptr;
  double before = 0;  // what the machine had
  double value = 0;
  double error = 0;  // standard error, relative
};

// |simulated / measured - 1|: the loss hardly hears a row that stays farther off.
inline constexpr double kFarOff = 0.2;

struct Residual {
  const Timing* timing = nullptr;
  double before = 0;  // simulated / measured - 1 with the figures of the machine as it was
  double after = 0;
};

struct Fit {
  Machine machine;
  std::vector<FittedParameter> parameters;
  std::vector<const Parameter*> left;  // stay as they were: the rows do not determine them
  std::vector<Residual> used;
  std::vector<Residual> held_out;  // every nth row of a kind, not used
};

struct FitOptions {
  std::size_t hold_out = 5;       // every nth; 0: none
  std::vector<std::string> keys;  // parameters to fit; empty: all that the rows' kinds concern
  std::function<void(std::size_t)> simulated = {};  // hears the number of steps simulated so far
};

// The rows do not suffice, or no figures explain most of them: the text says for what, and what
// would help.
struct FitError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws FitError. Parameters that are asked for by name are never left as they were.
Fit fit(const Machine& base, std::span<const Timing> timings, const FitOptions& options = {});

}  // namespace tidemark::tools
