#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "hardware/quantity.hpp"
#include "tools/calibration/fit.hpp"

#include <fmt/format.h>

namespace tidemark::tools {
namespace {

using enum TimingKind;

// A share between 0 and 1.
template <double Gpu::*kMember>
Parameter share(std::string_view key, std::vector<TimingKind> kinds, std::string_view advice) {
  return {
      .key = key,
      .kinds = std::move(kinds),
      .get = [](const Machine& machine) { return machine.gpu.*kMember; },
      .set = [](Machine& machine, double value) { machine.gpu.*kMember = std::min(value, 1.0); },
      .text = [](const Machine& machine) { return fmt::format("{:.4g}", machine.gpu.*kMember); },
      .least = 0.01,
      .most = 1,
      .advice = advice};
}

// A whole number: wide differences, for it moves in steps.
template <std::int64_t Gpu::*kMember>
Parameter whole(std::string_view key, std::vector<TimingKind> kinds, std::string_view advice) {
  return {.key = key,
          .kinds = std::move(kinds),
          .get = [](const Machine& machine) { return static_cast<double>(machine.gpu.*kMember); },
          .set =
              [](Machine& machine, double value) {
                machine.gpu.*kMember = std::max<std::int64_t>(1, std::llround(value));
              },
          .text = [](const Machine& machine) { return std::to_string(machine.gpu.*kMember); },
          .least = 1,
          .most = 100'000,
          .step = 0.2,
          .advice = advice};
}

template <auto kPart, auto kMember>
Parameter bandwidth(std::string_view key, std::vector<TimingKind> kinds, std::string_view advice) {
  return {.key = key,
          .kinds = std::move(kinds),
          .get =
              [](const Machine& machine) {
                return static_cast<double>((machine.*kPart.*kMember).count);
              },
          .set =
              [](Machine& machine, double value) {
                // A whole number of MB/s, so that the file says what was fitted.
                (machine.*kPart.*kMember).count = std::llround(value / 1e6) * 1'000'000;
              },
          .text = [](const Machine& machine) { return exact_text(machine.*kPart.*kMember); },
          .least = 1e8,
          .most = 2e12,
          .step = 0.01,
          .advice = advice};
}

template <auto kPart, auto kMember>
Parameter latency(std::string_view key, std::vector<TimingKind> kinds, std::string_view advice) {
  return {.key = key,
          .kinds = std::move(kinds),
          .get =
              [](const Machine& machine) {
                return static_cast<double>((machine.*kPart.*kMember).count());
              },
          .set =
              [](Machine& machine, double value) {
                machine.*kPart.*kMember = SimTime(std::llround(value / 1000) * 1000);  // whole ns
              },
          .text = [](const Machine& machine) { return exact_text(machine.*kPart.*kMember); },
          .least = 1e5,  // 0.1 us
          .most = 1e10,  // 10 ms
          .step = 0.05,
          .advice = advice};
}

// A direction that a machine file states sets the total of both, as scenarios are read.
template <auto kMember>
Parameter direction(std::string_view key, std::string_view advice) {
  Parameter parameter = bandwidth<&Machine::pcie, kMember>(key, {kCopy}, advice);
  parameter.set = [](Machine& machine, double value) {
    (machine.pcie.*kMember).count = std::llround(value / 1e6) * 1'000'000;
    machine.pcie.both = machine.pcie.h2d + machine.pcie.d2h;
  };
  return parameter;
}

Parameter optional(Parameter parameter) {
  parameter.optional = true;
  return parameter;
}

// Writes of a drive run at one of two speeds (hardware/nvme_array.hpp).
bool sustains(const Machine& machine) {
  return machine.ssd.cache == WriteCache::kFull && machine.ssd.sustained.count > 0;
}

Parameter cached_writes() {
  Parameter parameter =
      bandwidth<&Machine::ssd, &Ssd::write>("ssd.write", {kDrive}, "add writes of large sizes");
  parameter.applies = [](const Machine& machine) { return !sustains(machine); };
  parameter.otherwise =
      "writes of this drive run at ssd.sustained (cache: full), which can be fitted";
  return parameter;
}

Parameter sustained_writes() {
  Parameter parameter = bandwidth<&Machine::ssd, &Ssd::sustained>(
      "ssd.sustained", {kDrive}, "add writes of large sizes, longer than the drive's cache lasts");
  parameter.set = [](Machine& machine, double value) {
    machine.ssd.sustained.count = std::llround(value / 1e6) * 1'000'000;
    machine.ssd.write = std::max(machine.ssd.write, machine.ssd.sustained);  // at least that
  };
  parameter.applies = sustains;
  parameter.otherwise =
      "this drive's writes do not slow down: it states no such speed, or its cache is empty";
  return parameter;
}

}  // namespace

std::span<const Parameter> parameters() {
  static const std::vector<Parameter> all = {
      share<&Gpu::matmul_efficiency>("gpu.matmul_efficiency", {kMatmul, kStep},
                                     "add matmul rows of large sizes"),
      optional(whole<&Gpu::matmul_ramp>("gpu.matmul_ramp", {kMatmul},
                                        "add matmul rows of small and large k")),
      optional(latency<&Machine::gpu, &Gpu::matmul_start>("gpu.matmul_start", {kMatmul},
                                                          "add matmul rows of 256 and less")),
      share<&Gpu::stream_efficiency>("gpu.stream_efficiency", {kStream, kStep},
                                     "add stream rows of 256 MiB and more"),
      optional(latency<&Machine::gpu, &Gpu::stream_ramp>("gpu.stream_ramp", {kStream},
                                                         "add stream rows of 4 to 64 MiB")),
      optional(share<&Gpu::strided_efficiency>("gpu.strided_efficiency", {kStep},
                                               "add steps of other models")),
      optional(latency<&Machine::gpu, &Gpu::launch_latency>("gpu.launch_latency", {kStream},
                                                            "add stream rows of 1 MiB and less")),
      optional(latency<&Machine::host, &Host::issue>("host.issue", {kStep},
                                                     "add steps of small kernels")),
      direction<&Pcie::h2d>("pcie.h2d", "add h2d copies of large sizes"),
      direction<&Pcie::d2h>("pcie.d2h", "add d2h copies of large sizes"),
      optional(
          latency<&Machine::pcie, &Pcie::latency>("pcie.latency", {kCopy}, "add copies of 64 KiB")),
      bandwidth<&Machine::host, &Host::bandwidth>("host.bandwidth", {kUpdate},
                                                  "add updates of 100 million parameters and more"),
      bandwidth<&Machine::ssd, &Ssd::read>("ssd.read", {kDrive}, "add reads of large sizes"),
      cached_writes(),
      sustained_writes(),
  };
  return all;
}

}  // namespace tidemark::tools
