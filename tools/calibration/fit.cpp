// Ceres solves (Levenberg-Marquardt with bounds); every row is a residual block of its own, so that
// the loss weighs it alone. Residuals are in units of kNoise; parameters are logarithms, so that
// steps are relative.

#include "tools/calibration/fit.hpp"

#include <ceres/ceres.h>
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "hardware/decimal.hpp"
#include "scenarios/suggest.hpp"
#include "tools/calibration/errors.hpp"

namespace tidemark::tools {
namespace {

// Timings of one kernel repeat within a few percent; the loss turns at this size, and grows with
// the logarithm beyond (Cauchy).
constexpr double kNoise = 0.03;
// A combination of parameters whose change by 100 % moves the times by less than this on average
// is not determined by them.
constexpr double kLeastEffect = 0.02;
constexpr double kLeastShare = 0.3;  // of a combination, for a parameter to be named
constexpr std::size_t kRowsAParameter = 2;

// Reads what RowErrors has evaluated for all rows at once.
class RowCost final : public ceres::CostFunction {
 public:
  RowCost(const RowErrors& errors, std::size_t row) : errors_(errors), row_(row) {
    set_num_residuals(1);
    mutable_parameter_block_sizes()->push_back(static_cast<int>(errors.columns()));
  }

  bool Evaluate(double const* const*, double* residuals, double** jacobians) const override {
    residuals[0] = errors_.error(row_) / kNoise;
    if (jacobians == nullptr || jacobians[0] == nullptr) return true;
    for (std::size_t i = 0; i < errors_.columns(); ++i) {
      jacobians[0][i] = errors_.slope(row_, i) / kNoise;
    }
    return true;
  }

 private:
  const RowErrors& errors_;
  std::size_t row_;
};

class Prepare final : public ceres::EvaluationCallback {
 public:
  Prepare(RowErrors& errors, const std::vector<double>& logarithms)
      : errors_(errors), logarithms_(logarithms) {}
  void PrepareForEvaluation(bool jacobians, bool moved) override {
    errors_.evaluate(logarithms_.data(), jacobians, moved);
  }

 private:
  RowErrors& errors_;
  const std::vector<double>& logarithms_;
};

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

// Of all rows, with their errors; each weighed as the loss weighs it, where `weighed`.
Eigen::MatrixXd slopes_of(const RowErrors& rows, bool weighed, Eigen::VectorXd& errors) {
  const auto count = static_cast<Eigen::Index>(rows.rows());
  Eigen::MatrixXd slopes(count, static_cast<Eigen::Index>(rows.columns()));
  errors.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double error = rows.error(row);
    const double weight = weighed ? 1 / std::sqrt(1 + std::pow(error / kNoise, 2)) : 1;
    for (Eigen::Index c = 0; c < slopes.cols(); ++c) {
      slopes(i, c) = weight * rows.slope(row, static_cast<std::size_t>(c));
    }
    errors(i) = weight * error;
  }
  return slopes;
}

// The combination of parameters that changes least of what was measured, by column of `slopes`;
// empty where even that one is determined.
std::vector<double> undetermined(const Eigen::MatrixXd& slopes) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(slopes, Eigen::ComputeThinV);
  const Eigen::Index last = slopes.cols() - 1;
  const double effect = svd.singularValues()(last) / std::sqrt(static_cast<double>(slopes.rows()));
  if (effect >= kLeastEffect) return {};
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

// Moves `logarithms` to where they explain the rows best.
void solve(const Parameters& chosen, RowErrors& errors, bool steps,
           std::vector<double>& logarithms) {
  Prepare prepare(errors, logarithms);
  ceres::Problem::Options shared;
  shared.evaluation_callback = &prepare;
  ceres::Problem problem(shared);
  for (std::size_t row = 0; row < errors.rows(); ++row) {
    problem.AddResidualBlock(new RowCost(errors, row), new ceres::CauchyLoss(1.0),
                             logarithms.data());
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    problem.SetParameterLowerBound(logarithms.data(), static_cast<int>(i),
                                   std::log(chosen[i]->least));
    problem.SetParameterUpperBound(logarithms.data(), static_cast<int>(i),
                                   std::log(chosen[i]->most));
  }
  ceres::Solver::Options solver;
  solver.linear_solver_type = ceres::DENSE_QR;
  solver.num_threads = 1;  // one order of summation
  solver.max_num_iterations = steps ? 50 : 200;
  // Measured times are not known to a millionth, and each further iteration simulates every step.
  solver.function_tolerance = steps ? 1e-6 : 1e-9;
  if (steps) solver.parameter_tolerance = 1e-5;
  solver.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(solver, &problem, &summary);
  if (!summary.IsSolutionUsable()) throw FitError("no solution: " + summary.message);
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

}  // namespace

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
  const auto determined = [&](const RowErrors& rows, bool weighed) {
    slopes = slopes_of(rows, weighed, errors);
    const std::vector<double> shares = undetermined(slopes);
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
    if (!determined(rows, false)) continue;
    solve(chosen, rows, steps, logarithms);
    rows.evaluate(logarithms.data(), true);
    if (determined(rows, true)) break;
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
