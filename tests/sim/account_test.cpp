#include "sim/account.hpp"

#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"

namespace tidemark::sim {
namespace {

using namespace tidemark::literals;
using test::ProgramBuilder;

constexpr auto kForward = static_cast<std::size_t>(StepPart::kForward);
constexpr auto kBackward = static_cast<std::size_t>(StepPart::kBackward);
constexpr auto kOptimizer = static_cast<std::size_t>(StepPart::kOptimizer);

// A step of a block and its update. w (10 B) is there before and after.
//
//   instance  f 0-2      f2 2-5     r 5-6      b 6-10         o 10-12      z 12-13
//   uses      w, x (4)   x, y (7)   x, c (1)   y, c, g (10)   w, g, s (3)  g
struct Example {
  BufferId w, x, y, c, g, s;
  InstanceId f, f2, r, b, o, z;
  Program program;

  Example() {
    ProgramBuilder builder;
    w = builder.buffer(10_B, Tier::kHbm, Category::kParameters);
    x = builder.buffer(4_B, Tier::kHbm, Category::kActivations);
    y = builder.buffer(7_B, Tier::kHbm, Category::kActivations);
    c = builder.buffer(1_B, Tier::kHbm, Category::kRecomputed);
    g = builder.buffer(10_B, Tier::kHbm, Category::kGradients);
    s = builder.buffer(3_B, Tier::kHbm, Category::kTemporaries);
    builder.edit(w).initial = builder.edit(w).persistent = true;
    f = builder.add(Stream::kCompute, 2_ps, {}, {w, x}, Phase::kForward);
    f2 = builder.add(Stream::kCompute, 3_ps, {}, {x, y}, Phase::kForward);
    r = builder.add(Stream::kCompute, 1_ps, {}, {x, c}, Phase::kRecompute);
    b = builder.add(Stream::kCompute, 4_ps, {}, {y, c, g}, Phase::kBackward);
    o = builder.add(Stream::kCompute, 2_ps, {}, {w, g, s}, Phase::kOptimizer);
    z = builder.add(Stream::kCompute, 1_ps, {}, {g}, Phase::kZeroGrad);
    program = builder.build();
  }
};

TEST_CASE("Levels, peaks and phases of a step, by hand") {
  // Level: start 10; f +4 = 14; f2 +7 = 21; r +1 = 22, then x goes: 18; b +10 = 28, then y and c
  // go: 20; o +3 = 23, then s goes: 20; z: g goes: 10.
  const Example e;
  const Account sums = account(e.program, simulate(e.program));
  const TierAccount& hbm = sums.tiers[0];
  CHECK(hbm.start.total == 10_B);
  CHECK(hbm.start.by_category[static_cast<std::size_t>(Category::kParameters)] == 10_B);
  CHECK(hbm.end.total == 10_B);

  CHECK(hbm.peak.level.total == 28_B);
  CHECK(hbm.peak.time == 6_ps);
  CHECK(hbm.peak.instance == e.b);
  CHECK(hbm.peak.level.by_category[static_cast<std::size_t>(Category::kActivations)] == 7_B);
  CHECK(hbm.peak.level.by_category[static_cast<std::size_t>(Category::kGradients)] == 10_B);
  CHECK(hbm.peak.level.by_category[static_cast<std::size_t>(Category::kRecomputed)] == 1_B);
  CHECK(hbm.peak.largest == std::vector<BufferId>{e.w, e.g, e.y, e.c});

  CHECK(hbm.phase_peak[kForward] == 21_B);
  CHECK(hbm.phase_peak[kBackward] == 28_B);
  CHECK(hbm.phase_peak[kOptimizer] == 23_B);
  REQUIRE(hbm.live_after[kForward].has_value());
  CHECK(hbm.live_after[kForward]->total == 21_B);
  CHECK(hbm.live_after[kForward]->by_category[static_cast<std::size_t>(Category::kActivations)] ==
        11_B);
  CHECK(hbm.live_after[kBackward]->total == 20_B);
  CHECK(hbm.live_after[kOptimizer]->total == 20_B);  // before the gradients are dropped

  CHECK(sums.busy[0] == 13_ps);
  CHECK(sums.recompute == 1_ps);
  const TierAccount& ssd = sums.tiers[2];
  CHECK(ssd.peak.event == kNoIndex);
  CHECK(ssd.peak.largest.empty());
  CHECK(ssd.phase_peak[kForward] == 0_B);
}

TEST_CASE("As many of the largest buffers as asked for, the lower number first among equals") {
  const Example e;
  const Result result = simulate(e.program);
  CHECK(account(e.program, result, 2).tiers[0].peak.largest == std::vector<BufferId>{e.w, e.g});
  CHECK(account(e.program, result, 0).tiers[0].peak.largest.empty());
}

TEST_CASE("The first of equal peaks is the peak") {
  ProgramBuilder builder;
  const BufferId first = builder.buffer(5_B);
  const BufferId second = builder.buffer(5_B);
  const InstanceId a = builder.add(Stream::kCompute, 1_ps, {}, {first});
  builder.add(Stream::kCompute, 1_ps, {}, {second});
  const Program program = builder.build();
  CHECK(account(program, simulate(program)).tiers[0].peak.instance == a);
}

TEST_CASE("Parts of the step that have no kernels are absent") {
  ProgramBuilder builder;
  builder.add(Stream::kCompute, 1_ps, {}, {}, Phase::kForward);
  builder.add(Stream::kCpuOptimizer, 1_ps, {}, {}, Phase::kOptimizer);
  const Program program = builder.build();
  const TierAccount hbm = account(program, simulate(program)).tiers[0];
  CHECK(hbm.live_after[kForward].has_value());
  CHECK_FALSE(hbm.live_after[kBackward].has_value());
  CHECK_FALSE(hbm.phase_peak[kOptimizer].has_value());
}

// f 0-2 makes x (4 B) and b 2-4 ends it; c 4-9 copies 3 B into h (5 B), and u 9-12 updates with t
// (2 B) beside them.
Program with_tail(Phase update) {
  ProgramBuilder builder;
  const BufferId x = builder.buffer(4_B);
  const BufferId h = builder.buffer(5_B, Tier::kHost, Category::kGradients);
  const BufferId t = builder.buffer(2_B, Tier::kHost, Category::kTemporaries);
  const InstanceId f = builder.add(Stream::kCompute, 2_ps, {}, {x}, Phase::kForward);
  const InstanceId b = builder.add(Stream::kCompute, 2_ps, {f}, {x}, Phase::kBackward);
  const InstanceId c = builder.add(Stream::kCopyOut, 5_ps, {b}, {h}, Phase::kTransfer);
  builder.add(Stream::kCpuOptimizer, 3_ps, {c}, {h, t}, update);
  return builder.build();
}

TEST_CASE("What comes after the last kernel counts in the peak of the optimizer") {
  const Program program = with_tail(Phase::kOptimizer);
  const Account sums = account(program, simulate(program));
  const TierAccount& host = sums.tiers[1];
  CHECK(host.peak.level.total == 7_B);
  CHECK(host.phase_peak[kForward] == 0_B);
  CHECK(host.phase_peak[kBackward] == 0_B);
  CHECK(host.phase_peak[kOptimizer] == 7_B);
  CHECK_FALSE(host.live_after[kOptimizer].has_value());  // there is no kernel of it
  CHECK(sums.tiers[0].phase_peak[kBackward] == 4_B);
  CHECK(sums.tiers[0].phase_peak[kOptimizer] == 0_B);
}

TEST_CASE("Where nothing is updated, what comes after the last kernel counts with its part") {
  const Program program = with_tail(Phase::kTransfer);
  const TierAccount host = account(program, simulate(program)).tiers[1];
  CHECK(host.phase_peak[kBackward] == 7_B);
  CHECK_FALSE(host.phase_peak[kOptimizer].has_value());
}

TEST_CASE("What copies take while gradients are zeroed counts in the peak of the optimizer") {
  // z 0-3 drops g (6 B); beside it a copy fills h (9 B) from 1 to 2; then forward, with x (2 B).
  ProgramBuilder builder;
  const BufferId g = builder.buffer(6_B);
  const BufferId h = builder.buffer(9_B);
  const BufferId x = builder.buffer(2_B);
  builder.edit(g).initial = true;
  const InstanceId first = builder.add(Stream::kCopyIn, 1_ps, {}, {}, Phase::kTransfer);
  builder.add(Stream::kCompute, 3_ps, {}, {g}, Phase::kZeroGrad);
  builder.add(Stream::kCopyIn, 1_ps, {first}, {h}, Phase::kTransfer);
  builder.add(Stream::kCompute, 1_ps, {}, {x}, Phase::kForward);
  const Program program = builder.build();
  const TierAccount hbm = account(program, simulate(program)).tiers[0];
  CHECK(hbm.peak.level.total == 15_B);
  CHECK(hbm.phase_peak[kOptimizer] == 15_B);
  CHECK(hbm.phase_peak[kForward] == 2_B);
}

TEST_CASE("Kernels of no duration still have a border between their phases") {
  // All at time 0: forward makes x (5 B) and y (3 B, gone at its end), backward makes g (6 B).
  // After forward 5 B are alive, though 11 B are by the end of that instant.
  ProgramBuilder builder;
  const BufferId x = builder.buffer(5_B);
  const BufferId y = builder.buffer(3_B);
  const BufferId g = builder.buffer(6_B);
  builder.add(Stream::kCompute, 0_ps, {}, {x, y}, Phase::kForward);
  builder.add(Stream::kCompute, 0_ps, {}, {x, g}, Phase::kBackward);
  const Program program = builder.build();
  const TierAccount hbm = account(program, simulate(program)).tiers[0];
  CHECK(hbm.live_after[kForward]->total == 5_B);
  CHECK(hbm.phase_peak[kForward] == 8_B);
  CHECK(hbm.phase_peak[kBackward] == 11_B);
  CHECK(hbm.live_after[kBackward]->total == 0_B);
}

TEST_CASE("Two micro-batches: peaks over all spans of a part, live after its last one") {
  // forward with 9 B saved, backward; forward again with 6 B, backward.
  ProgramBuilder builder;
  const BufferId first = builder.buffer(9_B);
  const BufferId second = builder.buffer(6_B);
  builder.add(Stream::kCompute, 1_ps, {}, {first}, Phase::kForward);
  builder.add(Stream::kCompute, 1_ps, {}, {first}, Phase::kBackward);
  builder.add(Stream::kCompute, 1_ps, {}, {second}, Phase::kForward);
  builder.add(Stream::kCompute, 1_ps, {}, {second}, Phase::kBackward);
  const Program program = builder.build();
  const TierAccount hbm = account(program, simulate(program)).tiers[0];
  CHECK(hbm.phase_peak[kForward] == 9_B);
  CHECK(hbm.live_after[kForward]->total == 6_B);
  CHECK(hbm.live_after[kBackward]->total == 0_B);
}

TEST_CASE("A run out of memory accounts for what it reached") {
  // Forward ends with 4 B of 10; the first backward kernel wants 7.
  ProgramBuilder builder;
  builder.capacity(Tier::kHbm, 10_B);
  const BufferId saved = builder.buffer(4_B);
  const BufferId gradient = builder.buffer(7_B);
  builder.add(Stream::kCompute, 1_ps, {}, {saved}, Phase::kForward);
  builder.add(Stream::kCompute, 1_ps, {}, {saved, gradient}, Phase::kBackward);
  builder.add(Stream::kCompute, 1_ps, {}, {}, Phase::kOptimizer);
  const Program program = builder.build();
  const Result result = simulate(program);
  REQUIRE(result.out_of_memory.has_value());
  const TierAccount hbm = account(program, result).tiers[0];
  CHECK(hbm.live_after[kForward]->total == 4_B);
  CHECK(hbm.phase_peak[kBackward] == 4_B);
  CHECK_FALSE(hbm.live_after[kBackward].has_value());
  CHECK_FALSE(hbm.phase_peak[kOptimizer].has_value());
  CHECK(hbm.end.total == 4_B);
}

TEST_CASE("The timeline has the level of the category after each event") {
  const Example e;
  const Result result = simulate(e.program);
  const std::vector<Sample> samples = timeline(e.program, result);
  REQUIRE(samples.size() == result.memory.size());
  // w, x, y, c allocated; x freed: activations 11 - 4.
  CHECK(samples[4].time == 6_ps);
  CHECK(samples[4].category == Category::kActivations);
  CHECK(samples[4].bytes == 7_B);
}

}  // namespace
}  // namespace tidemark::sim
