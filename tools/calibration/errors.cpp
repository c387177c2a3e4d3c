#include "tools/calibration/errors.hpp"

#include <cmath>

#include "tools/parallel.hpp"

namespace tidemark::tools {
namespace {

// A step that moves nothing off the GPU takes as long on any link, drive and host memory.
bool matters(const Parameter& parameter, const Timing& timing) {
  if (!timing.run || parameter.key.starts_with("gpu.") || parameter.key == "host.issue") {
    return true;
  }
  const Offload& offload = timing.run->offload;
  return offload.moves_states() || offload.moves_gradients() ||
         offload.parameters.to != ParameterOffload::To::kGpu ||
         offload.activations.to != ActivationOffload::To::kGpu;
}

}  // namespace

Machine machine_of(const Machine& base, const Parameters& chosen, const double* logarithms) {
  Machine machine = base;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    chosen[i]->set(machine, std::exp(logarithms[i]));
  }
  return machine;
}

double log_error(const Machine& machine, const Timing& timing) {
  return std::log(seconds(simulated_time(machine, timing)) / seconds(timing.time));
}

RowErrors::RowErrors(const Machine& base, const Parameters& chosen,
                     const std::vector<const Timing*>& rows,
                     const std::function<void(std::size_t)>& simulated)
    : base_(base),
      chosen_(chosen),
      rows_(rows),
      told_(simulated),
      errors_(rows.size()),
      slopes_(rows.size() * chosen.size()) {}

double RowErrors::error_at(const double* logarithms, const Timing& timing) {
  if (timing.run) ++simulated_;
  return log_error(machine_of(base_, chosen_, logarithms), timing);
}

// By central differences; of a step by one-sided ones, which cost half, away from the bound.
double RowErrors::slope_at(const double* logarithms, std::size_t row, std::size_t parameter) {
  const Timing& timing = *rows_[row];
  const Parameter& moved = *chosen_[parameter];
  if (!matters(moved, timing)) return 0;
  std::vector<double> at(logarithms, logarithms + chosen_.size());
  const double here = at[parameter];
  if (timing.run) {
    const double step = here + moved.step > std::log(moved.most) ? -moved.step : moved.step;
    at[parameter] = here + step;
    return (error_at(at.data(), timing) - errors_[row]) / step;
  }
  at[parameter] = here + moved.step;
  const double above = error_at(at.data(), timing);
  at[parameter] = here - moved.step;
  return (above - error_at(at.data(), timing)) / (2 * moved.step);
}

void RowErrors::evaluate(const double* logarithms, bool slopes, bool moved) {
  if (moved) errors_known_ = slopes_known_ = false;
  const auto tell = [&](std::size_t) {
    if (told_) told_(simulated_);
  };
  if (!errors_known_) {
    run_parallel(
        rows_.size(), [&](std::size_t i) { errors_[i] = error_at(logarithms, *rows_[i]); }, tell);
    errors_known_ = true;
  }
  if (!slopes || slopes_known_) return;
  run_parallel(
      slopes_.size(),
      [&](std::size_t i) {
        slopes_[i] = slope_at(logarithms, i / chosen_.size(), i % chosen_.size());
      },
      tell);
  slopes_known_ = true;
}

}  // namespace tidemark::tools
