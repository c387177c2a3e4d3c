// Copies from and to pageable memory, which block the host.

#include <algorithm>
#include <map>
#include <random>

#include "graph/offload/strategy.hpp"
#include "graph/plan.hpp"
#include "sim/account.hpp"
#include "sim/executor.hpp"
#include "sim/verify.hpp"
#include "tests/support/block_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_run.hpp"
#include "tests/support/reference_executor.hpp"

namespace tidemark::sim {
namespace {

TEST_CASE("copies of pageable memory, out and in, hold up the host and so the next kernel") {
  // f0 ends at 2 us; x0 out until 3; f1 3 to 4; x1 out until 5; head 5 to 6; x2 out until 7. The
  // host then asks for x2, in until 7.5, and x1, until 8: head' 8 to 9, though x2 is all that it
  // needs. x0 in until 9.5; b1, b0 and embed' from 9.5 to 12.5.
  test::BlockStep step = test::BlockStep{}.build();
  Offload offload;
  offload.activations.to = ActivationOffload::To::kHost;
  offload.activations.larger_than = 0_B;
  offload.activations.keep_last = 0;
  offload.transport.memory = Transport::HostMemory::kPageable;
  Machine machine = test::round_machine();
  machine.pcie.latency = 0_us;
  const Program program = plan(step.graph, {}, offload, machine);
  const Result result = simulate(program);
  CHECK(result.end == 12'500_ns);
  const Account sums = account(program, result, 0);
  CHECK(sums.stalled[static_cast<std::size_t>(StallCause::kPcieD2h)] == 3_us);
  CHECK(sums.stalled[static_cast<std::size_t>(StallCause::kPcieH2d)] == 1'500_ns);
  CHECK(verify(program, result).empty());
  const Result naive = test::ReferenceExecutor(program, true).run();
  CHECK(naive.end == result.end);
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    CHECK(naive.records[i].start == result.records[i].start);
  }
}

// Kernels that are issued before an instance is: up to the last that it waits for, directly or
// through other instances. Kernels are the first instances, in their order.
std::uint32_t kernels_before(const Program& program, InstanceId id,
                             std::map<InstanceId, std::uint32_t>& known) {
  if (program.instances[index(id)].stream == Stream::kCompute) return index(id) + 1;
  const auto found = known.find(id);
  if (found != known.end()) return found->second;
  std::uint32_t last = 0;
  for (const InstanceId each : program.dependencies(id)) {
    last = std::max(last, kernels_before(program, each, known));
  }
  return known[id] = last;
}

TEST_CASE("while the host copies pageable memory it issues nothing") {
  std::mt19937 random(14);
  int out = 0, in = 0, states = 0;
  for (int round = 0; round < 120; ++round) {
    test::RandomRun run(random);
    CAPTURE(round);
    run.offload.transport.memory = Transport::HostMemory::kPageable;
    run.offload.transport.ssd_path = Transport::SsdPath::kBounce;
    run.machine.host.copy = Bandwidth(1'000'000'000 * (2 + run.below(10)));
    if (run.offload.moves_states() && run.below(3) == 0) {
      run.offload.update_on = Offload::Processor::kGpu;
      run.offload.parameters = {};
      run.offload.clip = run.offload.upcast = false;
      ask_for(run.offload, run.input);
    }
    StepGraph graph = run.graph();
    const Program program = plan(graph, run.input.training, run.offload, run.machine);
    const Result result = simulate(program);
    REQUIRE_FALSE(result.out_of_memory);
    REQUIRE(verify(program, result).empty());
    const auto kernels = static_cast<std::uint32_t>(graph.op_count());
    std::map<InstanceId, std::uint32_t> known;
    for (std::uint32_t i = kernels; i < program.instances.size(); ++i) {
      const Instance& copy = program.instances[i];
      const bool blocks = copy.stream == Stream::kCopyOut || copy.stream == Stream::kFetch ||
                          (copy.stream == Stream::kCopyIn && !run.offload.updates_on_cpu());
      const std::uint32_t next = kernels_before(program, InstanceId{i}, known);
      if (!blocks || next >= kernels) continue;
      REQUIRE(result.records[next].start >= result.records[i].finish);
      ++(copy.stream == Stream::kCopyOut ? out : copy.stream == Stream::kFetch ? in : states);
    }
  }
  CHECK(out > 100);
  CHECK(in > 100);
  CHECK(states > 100);
}

}  // namespace
}  // namespace tidemark::sim
