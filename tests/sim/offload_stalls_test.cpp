// Whatever is slow is what the GPU is said to wait for.

#include <algorithm>
#include <array>
#include <string>

#include "sim/account.hpp"
#include "sim/executor.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/offloaded_step.hpp"
#include "tests/support/plans.hpp"

namespace tidemark::sim {
namespace {

constexpr std::int64_t kMega = 1'000'000;

struct Slow {
  const char* what;
  Offload::States optimizer;
  Offload::Processor update_on;
  Offload::States gradients;
  void (*slow)(Machine&);
  StallCause cause;
};

TEST_CASE("the slow device is the cause of most of the waiting") {
  constexpr auto kHost = Offload::States::kHost;
  constexpr auto kSsd = Offload::States::kSsd;
  constexpr auto kStay = Offload::States::kGpu;
  constexpr auto kCpu = Offload::Processor::kCpu;
  constexpr auto kGpu = Offload::Processor::kGpu;
  const auto in = [](Machine& m) { m.pcie.h2d = Bandwidth(10 * kMega); };
  const auto out = [](Machine& m) { m.pcie.d2h = Bandwidth(10 * kMega); };
  const auto read = [](Machine& m) { m.ssd.read = Bandwidth(10 * kMega); };
  const auto write = [](Machine& m) { m.ssd.write = Bandwidth(10 * kMega); };
  const auto cpu = [](Machine& m) { m.host.cpu_optimizer = FlopRate(10 * kMega); };
  const Slow row = GENERATE_COPY(
      Slow{"parameters come in", kHost, kCpu, kStay, in, StallCause::kPcieH2d},
      Slow{"gradients go out", kHost, kCpu, kStay, out, StallCause::kPcieD2h},
      Slow{"the CPU updates", kHost, kCpu, kStay, cpu, StallCause::kCpuOptimizer},
      Slow{"states are read", kSsd, kCpu, kStay, read, StallCause::kNvmeRead},
      Slow{"states are written", kSsd, kCpu, kStay, write, StallCause::kNvmeWrite},
      Slow{"states come in", kHost, kGpu, kStay, in, StallCause::kPcieH2d},
      Slow{"states go out", kHost, kGpu, kStay, out, StallCause::kPcieD2h},
      Slow{"states are read for the GPU", kSsd, kGpu, kStay, read, StallCause::kNvmeRead},
      Slow{"gradients come back", kStay, kCpu, kHost, in, StallCause::kPcieH2d},
      Slow{"gradients are written", kStay, kCpu, kSsd, write, StallCause::kNvmeWrite},
      Slow{"gradients are read", kStay, kCpu, kSsd, read, StallCause::kNvmeRead});
  INFO(row.what);
  LoweringInput input = support::gpt(2, 64, 2, 8, 1);
  input.training.precision = Precision::kBf16Mixed;
  Offload offload;
  offload.optimizer = row.optimizer;
  offload.update_on = row.update_on;
  offload.gradients = row.gradients;
  offload.bucket = 50'000_B;
  Machine machine = test::round_machine();
  machine.pcie.latency = SimTime(0);
  machine.ssd.latency = SimTime(0);
  row.slow(machine);
  const test::OffloadedStep step = test::offloaded_step(input, offload, machine);
  const Result result = simulate(step.program);
  const Account account = sim::account(step.program, result);
  const SimTime named = account.stalled[static_cast<std::size_t>(row.cause)];
  // Everything else is a thousand times faster, so it is the longest by far.
  CHECK(named.count() > result.end.count() / 10 * 9);
}

TEST_CASE("where HBM is full until gradients have left, the GPU waits for allocation") {
  // Ten gradients of 2 MB, room for one and a half beside 20 MB of weights: each backward kernel
  // but the first waits until the gradient before has left, 0.2 ms each. The last one's way, its
  // update (28 MB, 0.28 ms) and its parameters follow.
  test::Chain chain(10, kMega);
  Machine machine = test::round_machine();
  machine.pcie.latency = SimTime(0);
  machine.gpu.capacity = 23'000'000_B;
  const Program program = plan(chain.graph, {}, test::on_host(1_B), machine);
  const Result result = simulate(program);
  REQUIRE_FALSE(result.out_of_memory);
  const Account account = sim::account(program, result);
  const SimTime waits = account.stalled[static_cast<std::size_t>(StallCause::kAllocation)];
  CHECK(waits == *std::ranges::max_element(account.stalled));
  CHECK(waits > 9 * 199_us);
}

}  // namespace
}  // namespace tidemark::sim
