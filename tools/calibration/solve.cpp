// Ceres solves (Levenberg-Marquardt with bounds); every row is a residual block of its own, so that
// the loss weighs it alone. Residuals are in units of kNoise; parameters are logarithms, so that
// steps are relative.

#include "tools/calibration/solve.hpp"

#include <ceres/ceres.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "tools/calibration/fit.hpp"

namespace tidemark::tools {
namespace {

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

// A loss that silences rows which are far off has a minimum at any figures that silence most of
// them. Squares (1) and absolute values (2) hear every row however far the search starts; those
// of absolute values let no few rows lead; from there the last (3) forgets what is far off.
enum class Loss { kSquares, kAbsolute, kCauchy };

ceres::LossFunction* loss_function(Loss loss) {
  if (loss == Loss::kAbsolute) return new ceres::HuberLoss(1.0);
  if (loss == Loss::kCauchy) return new ceres::CauchyLoss(1.0);
  return nullptr;
}

void search(const Parameters& chosen, RowErrors& errors, Loss loss, double tolerance,
            int iterations, std::vector<double>& logarithms) {
  Prepare prepare(errors, logarithms);
  ceres::Problem::Options shared;
  shared.evaluation_callback = &prepare;
  ceres::Problem problem(shared);
  for (std::size_t row = 0; row < errors.rows(); ++row) {
    problem.AddResidualBlock(new RowCost(errors, row), loss_function(loss), logarithms.data());
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
  solver.max_num_iterations = iterations;
  solver.function_tolerance = tolerance;
  if (tolerance > 1e-9) solver.parameter_tolerance = 10 * tolerance;
  solver.logging_type = ceres::SILENT;
  ceres::Solver::Summary summary;
  ceres::Solve(solver, &problem, &summary);
  if (!summary.IsSolutionUsable()) throw FitError("no solution: " + summary.message);
}

// Whether at least half of each kind's rows are near what was measured.
bool explains(const RowErrors& errors) {
  std::map<TimingKind, std::ptrdiff_t> near_less_far;
  for (std::size_t row = 0; row < errors.rows(); ++row) {
    if (!errors.concerned(row)) continue;
    const bool far = std::abs(std::exp(errors.error(row)) - 1) > kFarOff;
    near_less_far[errors.kind(row)] += far ? -1 : 1;
  }
  return std::ranges::all_of(near_less_far, [](const auto& each) { return each.second >= 0; });
}

}  // namespace

void solve(const Parameters& chosen, RowErrors& errors, bool steps,
           std::vector<double>& logarithms) {
  if (steps) {
    // Each further iteration simulates every step, and measured times are not known to a millionth.
    // Most searches begin near enough for the last loss alone.
    const std::vector<double> start = logarithms;
    search(chosen, errors, Loss::kCauchy, 1e-6, 50, logarithms);
    errors.evaluate(logarithms.data(), true);
    if (explains(errors)) return;
    logarithms = start;
  }
  const double way = steps ? 1e-3 : 1e-6;
  search(chosen, errors, Loss::kSquares, way, 50, logarithms);
  search(chosen, errors, Loss::kAbsolute, way, 50, logarithms);
  search(chosen, errors, Loss::kCauchy, steps ? 1e-6 : 1e-9, steps ? 50 : 200, logarithms);
}

}  // namespace tidemark::tools
