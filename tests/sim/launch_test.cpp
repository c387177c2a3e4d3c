// The host issues kernels in order, ahead of the GPU where it can.

#include <algorithm>

#include "sim/account.hpp"
#include "sim/allocators/caching.hpp"
#include "sim/executor.hpp"
#include "sim/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"

namespace tidemark::sim {
namespace {

using namespace tidemark::literals;
using test::ProgramBuilder;

InstanceId kernel(ProgramBuilder& builder, SimTime takes, SimTime issue,
                  std::vector<InstanceId> dependencies = {}, std::vector<BufferId> uses = {}) {
  const InstanceId id =
      builder.add(Stream::kCompute, takes, std::move(dependencies), std::move(uses));
  builder.edit(id).issue = issue;
  return id;
}

SimTime launch_stall(const Result& result) {
  SimTime sum{};
  for (const Stall& stall : result.stalls) {
    if (stall.cause == StallCause::kLaunch) sum += stall.end - stall.begin;
  }
  return sum;
}

TEST_CASE("A step of tiny kernels takes the host's time") {
  // Issued at 10, 20, 30; each runs for 3 and leaves the GPU 7 idle.
  ProgramBuilder builder;
  for (int i = 0; i < 3; ++i) kernel(builder, 3_ps, 10_ps);
  const Program program = builder.build();
  const Result result = simulate(program);
  CHECK(result.end == 33_ps);
  CHECK(result.compute_busy == 9_ps);
  CHECK(launch_stall(result) == 24_ps);  // 0-10, 13-20, 23-30
  REQUIRE(result.stalls.size() == 3);
  CHECK(result.stalls[1].begin == 13_ps);
  CHECK(result.stalls[1].end == 20_ps);
  CHECK(result.stalls[1].waiting == InstanceId{1});
  CHECK(result.stalls[1].blocker == InstanceId{1});
  CHECK(verify(program, result).empty());
}

TEST_CASE("Long kernels hide the host but for the first") {
  ProgramBuilder builder;
  for (int i = 0; i < 3; ++i) kernel(builder, 30_ps, 10_ps);
  const Result result = simulate(builder.build());
  CHECK(result.end == 100_ps);
  CHECK(launch_stall(result) == 10_ps);
  CHECK(result.records[2].issued == 30_ps);
  CHECK(result.records[2].ready == 70_ps);
}

TEST_CASE("A lead that long kernels gave is used up by short ones") {
  // Issued at 10, 20, 30, 40, 50. The first runs 10-35; by then three more are there: 35-37, 37-39,
  // then the host is late: 40-42, 50-52.
  ProgramBuilder builder;
  kernel(builder, 25_ps, 10_ps);
  for (int i = 0; i < 4; ++i) kernel(builder, 2_ps, 10_ps);
  const Result result = simulate(builder.build());
  CHECK(result.records[2].start == 37_ps);
  CHECK(result.records[3].start == 40_ps);
  CHECK(result.end == 52_ps);
  CHECK(launch_stall(result) == 10_ps + 1_ps + 8_ps);
}

TEST_CASE("A kernel that waits for a copy and for the host has both causes, one after the other") {
  // The copy ends at 6, the host is done at 10.
  ProgramBuilder builder;
  const InstanceId copy = builder.add(Stream::kCopyIn, 6_ps);
  kernel(builder, 1_ps, 10_ps, {copy});
  const Result result = simulate(builder.build());
  REQUIRE(result.stalls.size() == 2);
  CHECK(result.stalls[0].cause == StallCause::kPcieH2d);
  CHECK(result.stalls[0].end == 6_ps);
  CHECK(result.stalls[1].cause == StallCause::kLaunch);
  CHECK(result.stalls[1].end == 10_ps);
}

TEST_CASE("The host waits while the launch queue is full") {
  // A queue of two: the third may be issued once the first has started, the fourth once the second
  // has. Issued: 10, 20, max(20, 10) + 10 = 30, max(30, 110) + 10 = 120, max(120, 210) + 10 = 220.
  ProgramBuilder builder;
  kernel(builder, 100_ps, 10_ps);
  kernel(builder, 100_ps, 10_ps);
  for (int i = 0; i < 3; ++i) kernel(builder, 1_ps, 10_ps);
  SimulateOptions options;
  options.launch_queue = 2;
  const Program program = builder.build();
  const Result result = simulate(program, options);
  CHECK(result.records[3].issued == 120_ps);
  CHECK(result.records[4].issued == 220_ps);
  CHECK(result.records[4].start == 220_ps);
  CHECK(verify(program, result, options).empty());
  // With the queue that GPUs have the host is far ahead.
  CHECK(simulate(program).records[4].issued == 50_ps);
  options.launch_queue = 0;
  CHECK_THROWS(simulate(program, options));
}

TEST_CASE("Driver calls block the host") {
  // A segment of 20 MiB for the first kernel: the driver answers 140 us after the kernel was
  // issued; only then the host goes on. Issued at 10 us and 150 + 10 us.
  ProgramBuilder builder;
  const BufferId a = builder.buffer(3_MiB);
  kernel(builder, 1_us, 10_us, {}, {a});
  kernel(builder, 1_us, 10_us, {}, {a});
  const Program program = builder.build();
  CachingAllocator allocator(64_MiB, {});
  SimulateOptions options;
  options.allocators[static_cast<std::size_t>(Tier::kHbm)] = &allocator;
  const Result result = simulate(program, options);
  CHECK(result.records[0].issued == 10_us);
  CHECK(result.records[0].start == 150_us);
  CHECK(result.records[1].issued == 160_us);
  CHECK(result.end == 161_us);
  REQUIRE(result.stalls.size() == 3);
  CHECK(result.stalls[0].cause == StallCause::kLaunch);
  CHECK(result.stalls[1].cause == StallCause::kAllocatorCall);
  CHECK(result.stalls[2].cause == StallCause::kLaunch);
  CHECK(result.stalls[2].begin == 151_us);
  CHECK(verify(program, result, options).empty());
}

TEST_CASE("Without time to issue nothing is ever late") {
  ProgramBuilder builder;
  for (int i = 0; i < 5; ++i) kernel(builder, 1_ps, 0_ps);
  SimulateOptions options;
  options.launch_queue = 1;
  const Result result = simulate(builder.build(), options);
  CHECK(result.end == 5_ps);
  CHECK(result.stalls.empty());
}

TEST_CASE("A host that issues faster never makes the step longer") {
  for (int issue = 0; issue < 20; ++issue) {
    const auto end_of = [](int each) {
      ProgramBuilder builder;
      for (int i = 0; i < 30; ++i) kernel(builder, SimTime(i % 7 * 4), SimTime(each));
      return simulate(builder.build()).end;
    };
    CHECK(end_of(issue) <= end_of(issue + 1));
  }
}

TEST_CASE("Negative times to issue, and transfers that are issued, are internal errors") {
  ProgramBuilder builder;
  const InstanceId k = kernel(builder, 1_ps, SimTime(-1));
  CHECK_THROWS(simulate(builder.build()));
  builder.edit(k).issue = 0_ps;
  const InstanceId copy = builder.add(Stream::kCopyIn, 1_ps);
  builder.edit(copy).issue = 1_ps;
  CHECK_THROWS(simulate(builder.build()));
}

TEST_CASE("A host that was faster or slower than it says is found out") {
  ProgramBuilder builder;
  for (int i = 0; i < 3; ++i) kernel(builder, 3_ps, 10_ps);
  const Program program = builder.build();
  const auto breaks = [&](const Result& result, Rule rule) {
    return std::ranges::any_of(verify(program, result),
                               [&](const Violation& v) { return v.rule == rule; });
  };
  Result result = simulate(program);
  result.records[1].issued = 19_ps;
  CHECK(breaks(result, Rule::kIssue));
  result = simulate(program);
  result.records[2].start = 29_ps;  // issued at 30
  CHECK(breaks(result, Rule::kIssue));
  result = simulate(program);
  result.records[2].start = 31_ps;
  CHECK(breaks(result, Rule::kStart));
  result = simulate(program);
  result.stalls[1].blocker = InstanceId{0};
  CHECK(breaks(result, Rule::kStalls));
}

}  // namespace
}  // namespace tidemark::sim
