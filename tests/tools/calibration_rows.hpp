#pragma once
// Rows of times as machines take them, for tests of fits.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"
#include "tools/calibration/fit.hpp"
#include "tools/calibration/timings.hpp"

namespace tidemark::tools {

inline std::string refusal_of(const Machine& base, const std::vector<Timing>& timings,
                              const FitOptions& options = {}) {
  try {
    fit(base, timings, options);
  } catch (const FitError& error) {
    return error.what();
  }
  return "fitted";
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Normal noise from the generator's own numbers, the same with every library.
class Noise {
 public:
  explicit Noise(double deviation) : deviation_(deviation) {}
  double factor() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return std::exp(deviation_ * radius * std::cos(2 * std::numbers::pi * uniform()));
  }

 private:
  double uniform() { return (static_cast<double>(random_()) + 0.5) / 4294967296.0; }
  double deviation_;
  std::mt19937 random_{7};
};

inline Timing timing(TimingKind kind, ComponentWork work) {
  Timing row;
  row.kind = kind;
  row.work = std::move(work);
  return row;
}

inline std::vector<Timing> rows() {
  std::vector<Timing> all;
  for (const std::int64_t k : {512, 1024, 2048, 4096}) {
    for (const std::int64_t n : {64, 128, 256, 512, 1024, 2048, 4096, 8192}) {
      all.push_back(timing(TimingKind::kMatmul, MatmulWork{n, n, k, 1, Arithmetic::k16Bit}));
    }
  }
  for (int power = 16; power <= 32; ++power) {
    for (const std::int64_t odd : {2, 3}) {
      all.push_back(timing(TimingKind::kStream, StreamWork{Bytes(odd << (power - 1))}));
    }
  }
  for (int power = 12; power <= 30; ++power) {
    for (const auto direction : {CopyWork::Direction::kH2d, CopyWork::Direction::kD2h}) {
      all.push_back(
          timing(TimingKind::kCopy, CopyWork{direction, Bytes(std::int64_t{1} << power)}));
    }
  }
  return all;
}

// As `machine` takes, with noise, and every tenth row (from the fourth on) three times as long:
// the machine was busy.
inline std::vector<Timing> measured_on(const Machine& machine, std::vector<Timing> timings,
                                       double deviation, bool outliers) {
  Noise noise(deviation);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const double factor = noise.factor() * (outliers && i % 10 == 3 ? 3 : 1);
    const double time = seconds(simulated_time(machine, timings[i])) * factor;
    timings[i].time = SimTime(std::llround(time * 1e12));
  }
  return timings;
}

inline Machine truth() {
  Machine machine = test::round_machine();
  machine.gpu.matmul_efficiency = 0.7;
  machine.gpu.stream_efficiency = 0.8;
  machine.gpu.launch_latency = 5_us;
  machine.pcie.h2d = 12_GBps;
  machine.pcie.d2h = 11_GBps;
  machine.pcie.both = 23_GBps;
  machine.pcie.latency = 15_us;
  return machine;
}

inline Machine start() {
  Machine machine = test::round_machine();
  machine.gpu.launch_latency = 2_us;
  return machine;
}

inline const FitOptions kFigures = {.keys = {"gpu.matmul_efficiency", "gpu.stream_efficiency",
                                             "gpu.launch_latency", "pcie.h2d", "pcie.d2h",
                                             "pcie.latency"}};

inline void check_near(const Machine& fitted, double rates, double latencies) {
  const Machine wanted = truth();
  const auto near = [](double a, double b, double share) { return std::abs(a / b - 1) <= share; };
  CAPTURE(fitted.gpu.matmul_efficiency, fitted.gpu.stream_efficiency,
          fitted.gpu.launch_latency.count(), fitted.pcie.h2d.count, fitted.pcie.latency.count());
  CHECK(near(fitted.gpu.matmul_efficiency, wanted.gpu.matmul_efficiency, rates));
  CHECK(near(fitted.gpu.stream_efficiency, wanted.gpu.stream_efficiency, rates));
  CHECK(near(seconds(fitted.gpu.launch_latency), seconds(wanted.gpu.launch_latency), latencies));
  CHECK(near(static_cast<double>(fitted.pcie.h2d.count), 12e9, rates));
  CHECK(near(static_cast<double>(fitted.pcie.d2h.count), 11e9, rates));
  CHECK(near(seconds(fitted.pcie.latency), seconds(wanted.pcie.latency), latencies));
}

}  // namespace tidemark::tools
