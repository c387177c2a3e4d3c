// Steps whose activations and parameters move, played: times by hand, and laws over many of them.

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "graph/offload/saved_tensors.hpp"
#include "graph/plan.hpp"
#include "graph/remat/rematerialise.hpp"
#include "sim/account.hpp"
#include "sim/executor.hpp"
#include "sim/verify.hpp"
#include "tests/support/block_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/hbm_replay.hpp"
#include "tests/support/lowering.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/random_run.hpp"

namespace tidemark::sim {
namespace {

using test::BlockStep;
using test::HbmReplay;
using test::Presence;
using test::RandomRun;

Machine without_latency() {
  Machine machine = test::round_machine();
  machine.pcie.latency = 0_us;
  machine.ssd.latency = 0_us;
  return machine;
}

Offload to_host() {
  Offload offload;
  offload.activations.to = ActivationOffload::To::kHost;
  offload.activations.larger_than = 0_B;
  offload.activations.keep_last = 0;
  return offload;
}

SimTime stalled(const Program& program, const Result& result, StallCause cause) {
  return account(program, result, 0).stalled[static_cast<std::size_t>(cause)];
}

Bytes peak(const Program& program, const Result& result, Tier tier) {
  return account(program, result, 0).tiers[static_cast<std::size_t>(tier)].peak.level.total;
}

TEST_CASE("copies that the GPU waits for add their times to the step's") {
  // 8 kernels of 1 us; 3 tensors of 10 kB: out 1 us each at 10 GB/s, in 0.5 us at 20 GB/s.
  BlockStep step = BlockStep{}.build();
  Offload offload = to_host();
  offload.activations.synchronous = true;
  const Program program = plan(step.graph, {}, offload, without_latency());
  const Result result = simulate(program);
  CHECK(result.end == 8_us + 3 * 1_us + 3 * 500_ns);
  CHECK(stalled(program, result, StallCause::kPcieD2h) == 3_us);
  CHECK(stalled(program, result, StallCause::kPcieH2d) == 1'500_ns);
}

TEST_CASE("copies beside the kernels cost what no kernel hides") {
  // x0 out from 2 to 3 us, x1 from 3 to 4, x2 from 4 to 5. Head' at 4 us needs x2 back: in from 5
  // to 5.5; x1, asked for at 4 too, from 5.5 to 6. So head' runs 5.5 to 6.5, and 1.5 us are
  // lost: 1 of copying out, 0.5 of copying in. b1 at 6.5; x0, from then on, until 7; b0 at 7.5.
  BlockStep step = BlockStep{}.build();
  const Program program = plan(step.graph, {}, to_host(), without_latency());
  const Result result = simulate(program);
  CHECK(result.end == 9'500_ns);
  CHECK(stalled(program, result, StallCause::kPcieD2h) == 1_us);
  CHECK(stalled(program, result, StallCause::kPcieH2d) == 500_ns);
  CHECK(verify(program, result).empty());
}

TEST_CASE("a moved tensor's HBM is free from the end of its copy out to the start of its copy in") {
  BlockStep step = BlockStep{}.build();
  const Program program = plan(step.graph, {}, to_host(), without_latency());
  const Result result = simulate(program);
  const HbmReplay replay(step.graph, program, result);
  const std::vector<Presence> x0 = replay.presences(step.activations[0][0], Tier::kHbm);
  REQUIRE(x0.size() == 2);
  CHECK(x0[0].there == 0_us);
  CHECK(x0[0].gone == 3_us);  // copied out; read until 2
  CHECK(x0[1].there == 6'500_ns);
  CHECK(x0[1].gone == 8'500_ns);
  const std::vector<Presence> kept = replay.presences(step.activations[0][0], Tier::kHost);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].there == 2_us);
  CHECK(kept[0].gone == 7_us);
}

TEST_CASE("parameters that come in beside the kernels cost nothing but the first of them") {
  // Units of 10 kB: 0.5 us each. E comes before the step's first kernel can start; the others are
  // there when their visits begin.
  BlockStep step;
  step.weight = 10'000_B;
  step.build();
  Offload offload;
  offload.parameters.to = ParameterOffload::To::kHost;
  offload.optimizer = Offload::States::kHost;
  const Program program = plan(step.graph, {}, offload, without_latency());
  const Result result = simulate(program);
  const SimTime last_kernel = result.records[7].finish;
  CHECK(last_kernel == 8'500_ns);
  // Without prefetch each of the 7 fetches stands between two kernels.
  BlockStep again;
  again.weight = 10'000_B;
  again.build();
  offload.parameters.prefetch = 0;
  const Result waiting = simulate(plan(again.graph, {}, offload, without_latency()));
  CHECK(waiting.records[7].finish == 8_us + 7 * 500_ns);
}

TEST_CASE("no more units of parameters are in HBM than are visited and fetched ahead") {
  const std::int64_t prefetch = GENERATE(0, 1, 2);
  BlockStep step;
  step.blocks = 9;
  step.weight = 10'000_B;
  step.build();
  Offload offload;
  offload.parameters.to = ParameterOffload::To::kHost;
  offload.parameters.prefetch = prefetch;
  offload.optimizer = Offload::States::kHost;
  const Program program = plan(step.graph, {}, offload, without_latency());
  const Result result = simulate(program);
  Bytes level, most;
  for (const MemoryEvent& event : result.memory) {
    const Buffer& buffer = program.buffers[index(event.buffer)];
    if (buffer.tier != Tier::kHbm || buffer.category != Category::kParameters) continue;
    level += event.allocated ? buffer.bytes : buffer.bytes * -1;
    most = std::max(most, level);
  }
  CHECK(most == 10'000_B * (1 + prefetch));
}

TEST_CASE("with copies that take no time, moving activations costs no time") {
  // Links of 4 x 10^18 B/s move the tensors of this model in a picosecond; the last block and the
  // head, which are needed at once, keep theirs.
  LoweringInput input = support::gpt(4, 32, 4, 16, 2);
  input.training.micro_batches = 2;
  Machine machine = without_latency();
  machine.gpu.launch_latency = 5_us;
  const Bandwidth endless(4'000'000'000'000'000'000);
  machine.host.bandwidth = machine.pcie.h2d = machine.pcie.d2h = endless;
  machine.pcie.both = Bandwidth(std::numeric_limits<std::int64_t>::max());
  machine.ssd.read = machine.ssd.write = endless;
  StepGraph stays = lower(input), moves = lower(input);
  Offload offload = to_host();
  offload.activations.to = GENERATE(ActivationOffload::To::kHost, ActivationOffload::To::kSsd);
  offload.activations.keep_last = 1;
  const Result without = simulate(plan(stays, input.training, {}, machine));
  const Result with = simulate(plan(moves, input.training, offload, machine));
  CHECK(with.end == without.end);
  CHECK(with.moved[static_cast<std::size_t>(LinkKind::kPcieD2h)] > 0_B);
}

TEST_CASE("every kernel finds its tensors in HBM, whatever moves") {
  std::mt19937 random(11);
  for (int round = 0; round < 120; ++round) {
    RandomRun run(random);
    CAPTURE(round);
    StepGraph graph = run.graph();
    const Program program = plan(graph, run.input.training, run.offload, run.machine);
    const Result result = simulate(program);
    REQUIRE_FALSE(result.out_of_memory);
    const std::vector<Violation> violations = verify(program, result);
    if (!violations.empty()) FAIL(violations.front().text);
    const std::vector<std::string> faults = HbmReplay(graph, program, result).faults();
    if (!faults.empty()) FAIL(faults.front());
  }
}

TEST_CASE("what leaves comes back: each moved tensor goes each way once") {
  std::mt19937 random(12);
  for (int round = 0; round < 60; ++round) {
    RandomRun run(random);
    CAPTURE(round);
    run.offload.optimizer = Offload::States::kGpu;
    run.offload.parameters = {};
    run.input.update = UpdateOn::kGpu;
    StepGraph graph = run.graph();
    const Program program = plan(graph, run.input.training, run.offload, run.machine);
    const Result result = simulate(program);
    const HbmReplay replay(graph, program, result);
    Bytes moved;
    for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
      const std::vector<Presence> there = replay.presences(TensorId{t}, Tier::kHbm);
      if (there.size() < 2) continue;
      REQUIRE(there.size() == 2);
      CHECK(there[0].gone <= there[1].there);
      moved += graph.tensor(TensorId{t}).bytes;
    }
    const auto crossed = [&](LinkKind link) {
      return result.moved[static_cast<std::size_t>(link)];
    };
    CHECK(crossed(LinkKind::kPcieD2h) == moved);
    CHECK(crossed(LinkKind::kPcieH2d) == moved);
    const bool ssd = run.offload.activations.to == ActivationOffload::To::kSsd;
    CHECK(crossed(LinkKind::kNvmeWrite) == (ssd ? moved : 0_B));
    CHECK(crossed(LinkKind::kNvmeRead) == (ssd ? moved : 0_B));
  }
}

// A moved tensor is in HBM in a part of its life alone, and gradients stay: at every kernel there
// is no more than there is without moving.
TEST_CASE("moving activations never needs more HBM than keeping them") {
  std::mt19937 random(15);
  int less = 0;
  for (int round = 0; round < 60; ++round) {
    RandomRun run(random);
    CAPTURE(round);
    run.offload.optimizer = Offload::States::kGpu;
    run.offload.parameters = {};
    run.input.update = UpdateOn::kGpu;
    StepGraph moves = run.graph(), stays = run.graph();
    const Program with = plan(moves, run.input.training, run.offload, run.machine);
    const Program without = plan(stays, run.input.training, {}, run.machine);
    const Bytes peak_with = peak(with, simulate(with), Tier::kHbm);
    const Bytes peak_without = peak(without, simulate(without), Tier::kHbm);
    CHECK(peak_with <= peak_without);
    less += peak_with < peak_without;
  }
  CHECK(less > 5);
}

// Parameters that move leave more room than they take. Gradients may take it: they leave beside
// the kernels, and a step that waits less, or whose copies share DRAM with fetches, has more of
// them there at once. No more than all of them are.
TEST_CASE("moving parameters needs less HBM, apart from gradients that leave at other times") {
  std::mt19937 random(16);
  int more = 0;
  for (int round = 0; round < 60; ++round) {
    RandomRun run(random);
    CAPTURE(round);
    run.offload.activations = {};
    run.offload.optimizer = Offload::States::kHost;
    run.input.update = UpdateOn::kElsewhere;
    run.offload.parameters.to = ParameterOffload::To::kHost;
    Offload on_gpu = run.offload;
    on_gpu.parameters = {};
    StepGraph moves = run.graph(), stays = run.graph();
    Bytes gradients;
    for (const Parameter& p : moves.parameters) gradients += moves.tensor(p.gradient).bytes;
    const Program with = plan(moves, run.input.training, run.offload, run.machine);
    const Program without = plan(stays, run.input.training, on_gpu, run.machine);
    const Bytes peak_with = peak(with, simulate(with), Tier::kHbm);
    const Bytes peak_without = peak(without, simulate(without), Tier::kHbm);
    CHECK(peak_with <= peak_without + gradients);
    more += peak_with > peak_without;
  }
  CHECK(more == 0);
}

TEST_CASE("host memory for activations never exceeds its pool, or the largest tensor") {
  std::mt19937 random(13);
  for (int round = 0; round < 60; ++round) {
    RandomRun run(random);
    CAPTURE(round);
    run.offload.activations.to =
        round % 2 == 0 ? ActivationOffload::To::kHost : ActivationOffload::To::kSsd;
    run.offload.activations.pool = Bytes(1 + run.below(30'000));
    run.offload.optimizer = Offload::States::kGpu;
    run.offload.parameters = {};
    run.input.update = UpdateOn::kGpu;
    StepGraph graph = run.graph();
    Bytes largest;
    for (const SavedTensor& x : saved_tensors(graph, run.offload.activations)) {
      largest = std::max(largest, graph.tensor(x.tensor).bytes);
    }
    const Program program = plan(graph, run.input.training, run.offload, run.machine);
    const Bytes most = peak(program, simulate(program), Tier::kHost);
    const Bytes pool = run.offload.activations.pool;
    CHECK(most <= (round % 2 == 0 ? pool : std::max(pool, largest)));
  }
}

TEST_CASE("what fits in its window is a part of all, and the GPU never waits for it") {
  std::mt19937 random(14);
  int some = 0;
  for (int round = 0; round < 80; ++round) {
    RandomRun run(random);
    CAPTURE(round);
    run.offload.optimizer = Offload::States::kGpu;
    run.offload.parameters = {};
    run.input.update = UpdateOn::kGpu;
    run.offload.activations.synchronous = false;
    run.offload.activations.pool = 0_B;
    const auto moved = [&](ActivationOffload::When when, SimTime& waited) {
      run.offload.activations.when = when;
      StepGraph graph = run.graph();
      const Program program = plan(graph, run.input.training, run.offload, run.machine);
      const Result result = simulate(program);
      waited = SimTime(0);
      for (const Stall& stall : result.stalls) waited += stall.end - stall.begin;
      std::vector<TensorId> tensors;
      for (const Buffer& buffer : program.buffers) {
        if (buffer.tier != Tier::kHbm && buffer.tensor != kNoTensor &&
            buffer.category != Category::kStaging) {
          tensors.push_back(buffer.tensor);
        }
      }
      std::ranges::sort(tensors);
      return tensors;
    };
    SimTime waited_for_all{}, waited{};
    const auto all = moved(ActivationOffload::When::kAlways, waited_for_all);
    const auto fitting = moved(ActivationOffload::When::kFitsInWindow, waited);
    CHECK(std::ranges::includes(all, fitting));
    CHECK(waited == 0_ps);
    some += !fitting.empty() && fitting.size() < all.size();
  }
  CHECK(some > 5);  // the choice was one
}

}  // namespace
}  // namespace tidemark::sim
