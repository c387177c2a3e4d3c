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

using Parameters = std::vector<const Parameter*>;

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

// d log(time) / d log(parameter), by central differences.
void add_slopes(const Machine& base, const Parameters& chosen, const double* logarithms,
                const Timing& timing, double* slopes) {
  std::vector<double> moved(logarithms, logarithms + chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const double step = chosen[i]->step;
    moved[i] = logarithms[i] + step;
    const double above = log_error(machine_of(base, chosen, moved.data()), timing);
    moved[i] = logarithms[i] - step;
    const double below = log_error(machine_of(base, chosen, moved.data()), timing);
    moved[i] = logarithms[i];
    slopes[i] = (above - below) / (2 * step);
  }
}

class RowCost final : public ceres::CostFunction {
 public:
  RowCost(const Machine& base, const Parameters& chosen, const Timing& timing)
      : base_(base), chosen_(chosen), timing_(timing) {
    set_num_residuals(1);
    mutable_parameter_block_sizes()->push_back(static_cast<int>(chosen.size()));
  }

  bool Evaluate(double const* const* blocks, double* residuals, double** jacobians) const override {
    residuals[0] = log_error(machine_of(base_, chosen_, blocks[0]), timing_) / kNoise;
    if (jacobians == nullptr || jacobians[0] == nullptr) return true;
    add_slopes(base_, chosen_, blocks[0], timing_, jacobians[0]);
    for (std::size_t i = 0; i < chosen_.size(); ++i) jacobians[0][i] /= kNoise;
    return true;
  }

 private:
  const Machine& base_;
  const Parameters& chosen_;
  const Timing& timing_;
};

Parameters choose(std::span<const Timing> timings, const std::vector<std::string>& keys) {
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
    if (asked && !concerned) {
      throw FitError(
          fmt::format("no row says anything of {}: {}", parameter.key, parameter.advice));
    }
    if (asked || (keys.empty() && concerned)) chosen.push_back(&parameter);
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

// Slopes of all rows, each weighed as the loss weighs it at the solution.
Eigen::MatrixXd weighed_slopes(const Machine& base, const Parameters& chosen,
                               const std::vector<double>& logarithms,
                               const std::vector<const Timing*>& used, Eigen::VectorXd& errors) {
  const auto rows = static_cast<Eigen::Index>(used.size());
  const auto columns = static_cast<Eigen::Index>(chosen.size());
  Eigen::MatrixXd slopes(rows, columns);
  errors.resize(rows);
  std::vector<double> row(chosen.size());
  const Machine machine = machine_of(base, chosen, logarithms.data());
  for (Eigen::Index i = 0; i < rows; ++i) {
    const Timing& timing = *used[static_cast<std::size_t>(i)];
    const double error = log_error(machine, timing);
    const double weight = 1 / std::sqrt(1 + std::pow(error / kNoise, 2));
    add_slopes(base, chosen, logarithms.data(), timing, row.data());
    for (Eigen::Index c = 0; c < columns; ++c) {
      slopes(i, c) = weight * row[static_cast<std::size_t>(c)];
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

// The optional parameter with most of the share; the number of parameters: there is none.
std::size_t most_optional(const Parameters& chosen, const std::vector<double>& shares) {
  std::size_t most = chosen.size();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i]->optional || std::abs(shares[i]) < kLeastShare) continue;
    if (most == chosen.size() || std::abs(shares[i]) > std::abs(shares[most])) most = i;
  }
  return most;
}

// Logarithms of the parameters that explain `used` best.
std::vector<double> solve(const Machine& base, const Parameters& chosen,
                          const std::vector<const Timing*>& used) {
  std::vector<double> logarithms;
  for (const Parameter* parameter : chosen) {
    logarithms.push_back(std::log(
        std::clamp(parameter->get(base), parameter->least * 1.01, parameter->most * 0.99)));
  }
  ceres::Problem problem;
  for (const Timing* timing : used) {
    problem.AddResidualBlock(new RowCost(base, chosen, *timing), new ceres::CauchyLoss(1.0),
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
  solver.max_num_iterations = 200;
  solver.function_tolerance = 1e-9;
  solver.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(solver, &problem, &summary);
  if (!summary.IsSolutionUsable()) throw FitError("no solution: " + summary.message);
  return logarithms;
}

void check_enough(const Parameters& chosen, std::size_t rows) {
  if (!chosen.empty() && rows >= kRowsAParameter * chosen.size()) return;
  std::vector<std::string_view> names;
  for (const Parameter* parameter : chosen) names.push_back(parameter->key);
  throw FitError(fmt::format("too few rows: {} to fit {} figures ({}), which take {} at least",
                             rows, chosen.size(), list_of(names),
                             std::max(kRowsAParameter * chosen.size(), kRowsAParameter)));
}

}  // namespace

Fit fit(const Machine& base, std::span<const Timing> timings, const FitOptions& options) {
  Parameters chosen = choose(timings, options.keys);
  std::vector<const Timing*> used, held_out;
  split(timings, options.hold_out, used, held_out);
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
  for (;;) {
    check_enough(chosen, used.size());
    logarithms = solve(base, chosen, used);
    slopes = weighed_slopes(base, chosen, logarithms, used, errors);
    const std::vector<double> shares = undetermined(slopes);
    if (shares.empty()) break;
    const std::size_t optional = may_leave ? most_optional(chosen, shares) : chosen.size();
    if (optional == chosen.size()) throw FitError(refusal(chosen, shares));
    leave(optional);
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
