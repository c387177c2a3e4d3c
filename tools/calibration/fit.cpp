#include "tools/calibration/fit.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "hardware/decimal.hpp"
#include "scenarios/suggest.hpp"
#include "tools/calibration/errors.hpp"
#include "tools/calibration/solve.hpp"

namespace tidemark::tools {
namespace {

// A combination of parameters whose change by 100 % moves the times by less than this on average
// is not determined by them.
constexpr double kLeastEffect = 0.02;
// Far from where a search ends, a latency may hide behind a rate that is wrong. What the rows do
// not tell anywhere, as of one size, has no effect at all; that is seen before the search. Steps
// take too long to simulate for a search with figures that are left out in the end.
constexpr double kLeastEffectAtStart = kLeastEffect / 20;
constexpr double kLeastShare = 0.3;  // of a combination, for a parameter to be named
constexpr std::size_t kRowsAParameter = 2;

Parameters choose(const Machine& base, std::span<const Timing> timings,
                  const std::vector<std::string>& keys) {
  std::vector<std::string_view> known;
  for (const Parameter& parameter : parameters()) known.push_back(parameter.key);
  for (const std::string& key : keys) {
    if (std::ranges::find(known, key) != known.end()) continue;
    throw FitError(
        fmt::format("unknown parameter {}: {}", in_quotes(key), scenarios::suggestion(key, known)));
  }
  Parameters chosen;
  for (const Parameter& parameter : parameters()) {
    const bool concerned = std::ranges::any_of(timings, [&](const Timing& timing) {
      return std::ranges::find(parameter.kinds, timing.kind) != parameter.kinds.end();
    });
    const bool asked = std::ranges::find(keys, parameter.key) != keys.end();
    const bool applies = parameter.applies == nullptr || parameter.applies(base);
    if (asked && !applies) {
      throw FitError(fmt::format("{}: {}", parameter.key, parameter.otherwise));
    }
    if (asked && !concerned) {
      throw FitError(
          fmt::format("no row says anything of {}: {}", parameter.key, parameter.advice));
    }
    if (asked || (keys.empty() && concerned && applies)) chosen.push_back(&parameter);
  }
  return chosen;
}

// Every nth row of a kind, counted in the order of the file.
void split(std::span<const Timing> timings, std::size_t hold_out, std::vector<const Timing*>& used,
           std::vector<const Timing*>& held_out) {
  std::map<TimingKind, std::size_t> counts;
  for (const Timing& timing : timings) {
    const std::size_t number = ++counts[timing.kind];
    (hold_out > 0 && number % hold_out == 0 ? held_out : used).push_back(&timing);
  }
}

std::string list_of(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

// By how much a change of a parameter by 100 % moves the times of all rows, on average.
double effect_of(const RowErrors& rows, std::size_t column) {
  double squares = 0;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    squares += rows.slope(row, column) * rows.slope(row, column);
  }
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, rows.rows())));
}

// A rate that is beyond what something else lets through, such as DRAM, moves no time, and a search
// would not find the way down from there: such ones are halved until they matter, if they ever do.
void bring_into_effect(const Parameters& chosen, RowErrors& rows, std::vector<double>& logarithms) {
  constexpr int kHalvings = 6;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const double before = logarithms[i];
    for (int times = 0; times < kHalvings && effect_of(rows, i) < kLeastEffectAtStart; ++times) {
      logarithms[i] = std::max(logarithms[i] - std::log(2), std::log(chosen[i]->least));
      rows.evaluate(logarithms.data(), true);
    }
    if (effect_of(rows, i) >= kLeastEffectAtStart) continue;
    logarithms[i] = before;
    rows.evaluate(logarithms.data(), true);
  }
}

// By kind: the deviation of normal noise of which half the rows lie within the middle |error|, at
// least that of timings which repeat. A kind that the model misses by 10 % everywhere is heard.
std::map<TimingKind, double> noise_of(const RowErrors& rows) {
  std::map<TimingKind, std::vector<double>> errors;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    if (rows.concerned(row)) errors[rows.kind(row)].push_back(std::abs(rows.error(row)));
  }
  std::map<TimingKind, double> noise;
  for (auto& [kind, of_kind] : errors) {
    const auto middle = of_kind.begin() + static_cast<std::ptrdiff_t>(of_kind.size() / 2);
    std::ranges::nth_element(of_kind, middle);
    noise[kind] = std::max(kNoise, *middle / 0.6745);
  }
  return noise;
}

// Of all rows, with their errors; each weighed as the loss weighs it, where `weighed`, in units of
// its kind's noise.
Eigen::MatrixXd slopes_of(const RowErrors& rows, bool weighed, Eigen::VectorXd& errors) {
  const auto count = static_cast<Eigen::Index>(rows.rows());
  Eigen::MatrixXd slopes(count, static_cast<Eigen::Index>(rows.columns()));
  errors.resize(count);
  std::map<TimingKind, double> noise = noise_of(rows);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double error = rows.error(row);
    double weight = 1;
    if (weighed && rows.concerned(row)) {
      weight = 1 / std::sqrt(1 + std::pow(error / noise[rows.kind(row)], 2));
    }
    for (Eigen::Index c = 0; c < slopes.cols(); ++c) {
      slopes(i, c) = weight * rows.slope(row, static_cast<std::size_t>(c));
    }
    errors(i) = weight * error;
  }
  return slopes;
}

// The combination of parameters that changes least of what was measured, by column of `slopes`;
// empty where even that one is determined.
std::vector<double> undetermined(const Eigen::MatrixXd& slopes, double least_effect) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(slopes, Eigen::ComputeThinV);
  const Eigen::Index last = slopes.cols() - 1;
  const double effect = svd.singularValues()(last) / std::sqrt(static_cast<double>(slopes.rows()));
  if (effect >= least_effect) return {};
  const Eigen::VectorXd column = svd.matrixV().col(last);
  return {column.data(), column.data() + column.size()};
}

std::string refusal(const Parameters& chosen, const std::vector<double>& shares) {
  std::vector<std::string_view> mixed;
  std::string advice;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (std::abs(shares[i]) < kLeastShare) continue;
    mixed.push_back(chosen[i]->key);
    advice += fmt::format("{}{}", advice.empty() ? "" : "; ", chosen[i]->advice);
  }
  return fmt::format("the rows do not determine {}: {}; or fit others only: --fit", list_of(mixed),
                     advice);
}

// The parameter with most of the share, an optional one where there is one.
std::size_t most_mixed(const Parameters& chosen, const std::vector<double>& shares) {
  std::size_t most = chosen.size();
  const auto better = [&](std::size_t i) {
    if (most == chosen.size()) return true;
    if (chosen[i]->optional != chosen[most]->optional) return chosen[i]->optional;
    return std::abs(shares[i]) > std::abs(shares[most]);
  };
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (std::abs(shares[i]) >= kLeastShare && better(i)) most = i;
  }
  return most;
}

std::vector<double> start_of(const Machine& base, const Parameters& chosen) {
  std::vector<double> logarithms;
  for (const Parameter* parameter : chosen) {
    logarithms.push_back(std::log(
        std::clamp(parameter->get(base), parameter->least * 1.01, parameter->most * 0.99)));
  }
  return logarithms;
}

std::string kinds_of(const Parameter& parameter) {
  std::string text;
  for (const TimingKind kind : parameter.kinds) {
    text += fmt::format("{}{}", text.empty() ? "" : " or ",
                        kTimingKindNames[static_cast<std::size_t>(kind)]);
  }
  return text;
}

void check_enough(const Parameters& chosen, std::size_t rows, std::size_t held_out) {
  if (!chosen.empty() && rows >= kRowsAParameter * chosen.size()) return;
  std::string wanted;
  for (const Parameter* parameter : chosen) {
    wanted += fmt::format("{}{} takes {} rows: {}", wanted.empty() ? "" : "; ", parameter->key,
                          kinds_of(*parameter), parameter->advice);
  }
  if (chosen.empty()) wanted = "matmul, stream and copy rows say most";
  throw FitError(fmt::format(
      "too few rows: {} to fit {} figures, which take {} at least{}. {}", rows, chosen.size(),
      std::max(kRowsAParameter * chosen.size(), kRowsAParameter),
      held_out > 0 ? fmt::format(" ({} more are kept back: --hold-out)", held_out) : "", wanted));
}

// "31 of 38 rows are farther off than 20 %, the middle one by 73 %"
std::string far_off_text(std::vector<double> errors, std::size_t far, const std::string& of) {
  std::ranges::sort(errors);
  return fmt::format("{} of {} {}rows stay farther off than {:.0f} %, the middle one by {:.0f} %",
                     far, errors.size(), of, kFarOff * 100, errors[errors.size() / 2] * 100);
}

// Refuses what explains less than half of the rows, and less than half of a kind's where a figure
// of theirs would have to go farther than it may.
void check_explained(const Machine& base, const Parameters& chosen, const RowErrors& rows,
                     const std::vector<const Timing*>& used,
                     const std::vector<double>& logarithms) {
  std::map<TimingKind, std::vector<double>> kinds;
  std::vector<double> all;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    if (!rows.concerned(row)) continue;
    all.push_back(std::abs(std::exp(rows.error(row)) - 1));
    kinds[used[row]->kind].push_back(all.back());
  }
  const auto far = [](const std::vector<double>& errors) {
    return static_cast<std::size_t>(
        std::ranges::count_if(errors, [](double error) { return error > kFarOff; }));
  };
  const Machine machine = machine_of(base, chosen, logarithms.data());
  for (const auto& [kind, errors] : kinds) {
    if (2 * far(errors) <= errors.size()) continue;
    std::string bounds;
    for (const Parameter* parameter : chosen) {
      const bool theirs = std::ranges::find(parameter->kinds, kind) != parameter->kinds.end();
      if (!theirs || !at_bound(*parameter, parameter->get(machine))) continue;
      bounds += fmt::format("{}{} {}", bounds.empty() ? "" : ", ", parameter->key,
                            parameter->text(machine));
    }
    if (bounds.empty()) continue;
    const std::string of = fmt::format("{} ", kTimingKindNames[static_cast<std::size_t>(kind)]);
    throw FitError(fmt::format(
        "{} with figures as far as they may go ({}): the machine that was measured is too "
        "different from {}. Start from one that is more like it (--hardware), see whether the "
        "times have the right units, or fit others only: --fit",
        far_off_text(errors, far(errors), of), bounds, base.gpu.name));
  }
  if (2 * far(all) <= all.size()) return;
  throw FitError(fmt::format(
      "{}, so the figures explain too little of what was measured. Start from a machine that is "
      "more like it than {} (--hardware), see whether the times have the right units and belong "
      "to one machine, or fit others only: --fit",
      far_off_text(all, far(all), ""), base.gpu.name));
}

}  // namespace

bool at_bound(const Parameter& parameter, double value) {
  return value < parameter.least * 1.001 || value > parameter.most * 0.999;
}

Fit fit(const Machine& base, std::span<const Timing> timings, const FitOptions& options) {
  if (options.hold_out == 1) {
    throw FitError(
        "--hold-out 1 keeps back every row, and leaves none to fit: 0 keeps back none, "
        "2 every second one");
  }
  Parameters chosen = choose(base, timings, options.keys);
  std::vector<const Timing*> used, held_out;
  split(timings, options.hold_out, used, held_out);
  const bool steps =
      std::ranges::any_of(used, [](const Timing* row) { return row->run.has_value(); });
  Fit result;
  const auto leave = [&](std::size_t i) {
    result.left.push_back(chosen[i]);
    chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(i));
  };
  const bool may_leave = options.keys.empty();
  while (may_leave && used.size() < kRowsAParameter * chosen.size()) {
    const auto optional = std::ranges::find_if(chosen, &Parameter::optional);
    if (optional == chosen.end()) break;
    leave(static_cast<std::size_t>(optional - chosen.begin()));
  }
  std::vector<double> logarithms;
  Eigen::MatrixXd slopes;
  Eigen::VectorXd errors;
  // Whether the rows determine what is chosen; else one parameter fewer is, or it is refused.
  const auto determined = [&](const RowErrors& rows, bool weighed, double least_effect) {
    slopes = slopes_of(rows, weighed, errors);
    const std::vector<double> shares = undetermined(slopes, least_effect);
    if (shares.empty()) return true;
    if (!may_leave || chosen.size() == 1) throw FitError(refusal(chosen, shares));
    leave(most_mixed(chosen, shares));
    return false;
  };
  for (;;) {
    check_enough(chosen, used.size(), held_out.size());
    logarithms = start_of(base, chosen);
    RowErrors rows(base, chosen, used, options.simulated);
    // Before the search, which takes long where steps are simulated.
    rows.evaluate(logarithms.data(), true);
    if (!steps) bring_into_effect(chosen, rows, logarithms);
    if (!determined(rows, false, steps ? kLeastEffect : kLeastEffectAtStart)) continue;
    solve(chosen, rows, steps, logarithms);
    rows.evaluate(logarithms.data(), true);
    if (!determined(rows, true, kLeastEffect)) continue;
    check_explained(base, chosen, rows, used, logarithms);
    break;
  }
  const auto freedom = static_cast<double>(std::max<std::size_t>(1, used.size() - chosen.size()));
  const Eigen::MatrixXd covariance =
      (slopes.transpose() * slopes).inverse() * (errors.squaredNorm() / freedom);

  result.machine = machine_of(base, chosen, logarithms.data());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    result.parameters.push_back({chosen[i], chosen[i]->get(base), chosen[i]->get(result.machine),
                                 std::sqrt(std::max(0.0, covariance(at, at)))});
  }
  const auto residuals = [&](const std::vector<const Timing*>& rows) {
    std::vector<Residual> list;
    for (const Timing* timing : rows) {
      list.push_back({timing, std::exp(log_error(base, *timing)) - 1,
                      std::exp(log_error(result.machine, *timing)) - 1});
    }
    return list;
  };
  result.used = residuals(used);
  result.held_out = residuals(held_out);
  return result;
}

}  // namespace tidemark::tools
