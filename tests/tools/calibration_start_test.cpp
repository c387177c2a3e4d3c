// Fits that start from a machine that is far from the one that was measured.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/tools/calibration_rows.hpp"
#include "tools/calibration/fit.hpp"

namespace tidemark::tools {
namespace {

// Five copies at twice the rate of the base: 1 GB, 256, 64, 16 and 4 MB.
std::vector<Timing> copies_to_the_gpu() {
  std::vector<Timing> copies;
  for (const std::int64_t megabytes : {1000, 256, 64, 16, 4}) {
    copies.push_back(timing(TimingKind::kCopy,
                            CopyWork{CopyWork::Direction::kH2d, Bytes(megabytes * 1'000'000)}));
  }
  return copies;
}

TEST_CASE("copies at twice the rate of the machine that a fit starts from are heard") {
  Machine mine = start();
  mine.pcie.h2d = 40_GBps;
  mine.pcie.both = 50_GBps;
  const std::vector<Timing> copies = measured_on(mine, copies_to_the_gpu(), 0, false);
  // Figures are written in whole MB/s: of 40,000.
  const Fit asked = fit(start(), copies, {.keys = {"pcie.h2d"}});
  CHECK(asked.machine.pcie.h2d.count == Approx(40e9).epsilon(1e-4));
  // The start's total of both directions, 30 GB/s, does not hold it up: as in a machine file.
  CHECK(asked.machine.pcie.both == asked.machine.pcie.h2d + start().pcie.d2h);
  const Fit all = fit(start(), copies);
  CHECK(all.machine.pcie.h2d.count == Approx(40e9).epsilon(1e-3));
  CHECK(all.machine.pcie.latency == start().pcie.latency);  // what the copies were made with
}

// Every figure of a GPU and its link that rows() tell, `factor` times as much; `latency` as much of
// a time.
Machine scaled_start(double factor, double latency) {
  Machine machine = truth();
  const auto rate = [&](Bandwidth value) {
    return Bandwidth(std::llround(static_cast<double>(value.count) * factor));
  };
  const auto time = [&](SimTime value) {
    return SimTime(std::llround(static_cast<double>(value.count()) * latency));
  };
  machine.gpu.matmul_efficiency = std::min(1.0, machine.gpu.matmul_efficiency * factor);
  machine.gpu.stream_efficiency = std::min(1.0, machine.gpu.stream_efficiency * factor);
  machine.gpu.launch_latency = time(machine.gpu.launch_latency);
  machine.pcie.h2d = rate(machine.pcie.h2d);
  machine.pcie.d2h = rate(machine.pcie.d2h);
  machine.pcie.both = machine.pcie.h2d;
  machine.pcie.latency = time(machine.pcie.latency);
  return machine;
}

TEST_CASE("a fit finds the same figures however far off the machine is that it starts from") {
  const std::vector<Timing> timings = measured_on(truth(), rows(), 0, false);
  std::vector<Timing> with_outliers = timings;
  with_outliers[12].time = with_outliers[12].time * 10;                  // a product
  with_outliers[75].time = SimTime(with_outliers[75].time.count() / 8);  // a copy
  for (const double factor : {0.1, 0.4, 1.0, 3.0, 10.0}) {
    for (const double latency : {0.2, 1.0, 5.0}) {
      CAPTURE(factor, latency);
      const Machine base = scaled_start(factor, latency);
      check_near(fit(base, timings, kFigures).machine, 0.001, 0.002);
      // The loss hears of a row that is ten times too long less than 0.03 / log(10), a hundredth
      // of what it hears of a row that fits.
      check_near(fit(base, with_outliers, kFigures).machine, 0.005, 0.01);
    }
  }
}

TEST_CASE(
    "which figures the rows determine does not depend on the machine that a fit starts from") {
  const std::vector<Timing> timings = measured_on(truth(), rows(), 0.01, false);
  const auto keys_of = [](const Fit& fitted) {
    std::vector<std::string> keys;
    for (const FittedParameter& each : fitted.parameters) {
      keys.emplace_back(each.parameter->key);
    }
    return keys;
  };
  const std::vector<std::string> near = keys_of(fit(truth(), timings));
  CHECK(near.size() >= 6);
  CHECK(keys_of(fit(scaled_start(0.25, 1), timings)) == near);
  CHECK(keys_of(fit(scaled_start(4, 3), timings)) == near);
}

TEST_CASE("a machine too different from the one that was measured is refused, with what to do") {
  Machine mine = truth();
  mine.gpu.matmul_16bit = 300_TFLOPs;  // of the base, no efficiency gives that
  const std::string refused = refusal_of(start(), measured_on(mine, rows(), 0, false), kFigures);
  CAPTURE(refused);
  CHECK(has(refused, " matmul rows stay farther off than 20 %, the middle one by "));
  CHECK(has(refused, "as far as they may go (gpu.matmul_efficiency 1)"));
  CHECK(has(refused, "--hardware"));
  FitOptions others = kFigures;
  std::erase(others.keys, "gpu.matmul_efficiency");
  std::erase(others.keys, "gpu.launch_latency");
  CHECK(fit(start(), measured_on(mine, rows(), 0, false), others).parameters.size() == 4);
}

TEST_CASE("rows that contradict each other are refused, not fitted to a few of them") {
  std::vector<Timing> copies = measured_on(truth(), copies_to_the_gpu(), 0, false);
  // Times for a ninth, a third, 1, 3 and 9 times the rate: no rate is within 20 % of more than one.
  double factor = 1.0 / 9;
  for (Timing& copy : copies) {
    copy.time = SimTime(std::llround(static_cast<double>(copy.time.count()) / factor));
    factor *= 3;
  }
  const std::string refused = refusal_of(start(), copies, {.hold_out = 0, .keys = {"pcie.h2d"}});
  CAPTURE(refused);
  CHECK(has(refused, "4 of 5 rows stay farther off than 20 %, the middle one by "));
}

}  // namespace
}  // namespace tidemark::tools
