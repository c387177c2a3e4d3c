#include "sim/stalls.hpp"

#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"

namespace tidemark::sim {
namespace {

using namespace tidemark::literals;
using test::ProgramBuilder;

void check(const std::vector<Stall>& stalls, const std::vector<Stall>& expected) {
  REQUIRE(stalls.size() == expected.size());
  for (std::size_t i = 0; i < stalls.size(); ++i) {
    CAPTURE(i);
    CHECK(stalls[i].begin == expected[i].begin);
    CHECK(stalls[i].end == expected[i].end);
    CHECK(stalls[i].cause == expected[i].cause);
    CHECK(stalls[i].waiting == expected[i].waiting);
    CHECK(stalls[i].blocker == expected[i].blocker);
  }
}

TEST_CASE("A compute stream that never waits has no stalls") {
  ProgramBuilder builder;
  builder.add(Stream::kCompute, 5_ps);
  builder.add(Stream::kCompute, 5_ps);
  CHECK(simulate(builder.build()).stalls.empty());
}

// The picture of sim/stalls.hpp: k0 0-2, NVMe read 0-6, copy-in 6-11, k1 11-12.
TEST_CASE("A gap goes to what ran in it, back along the chain of blockers") {
  ProgramBuilder builder;
  builder.add(Stream::kCompute, 2_ps);
  const InstanceId read = builder.add(Stream::kNvmeRead, 6_ps);
  const InstanceId copy = builder.add(Stream::kCopyIn, 5_ps, {read});
  const InstanceId k1 = builder.add(Stream::kCompute, 1_ps, {copy});
  check(simulate(builder.build()).stalls, {{2_ps, 6_ps, StallCause::kNvmeRead, k1, read},
                                           {6_ps, 11_ps, StallCause::kPcieH2d, k1, copy}});
}

TEST_CASE("A blocker held up by its own stream passes the time on to its predecessor") {
  // Copies 0-4 and 4-7 on one stream; k needs the second.
  ProgramBuilder builder;
  const InstanceId first = builder.add(Stream::kCopyIn, 4_ps);
  const InstanceId second = builder.add(Stream::kCopyIn, 3_ps);
  const InstanceId k = builder.add(Stream::kCompute, 1_ps, {second});
  check(simulate(builder.build()).stalls, {{0_ps, 4_ps, StallCause::kPcieH2d, k, first},
                                           {4_ps, 7_ps, StallCause::kPcieH2d, k, second}});
}

TEST_CASE("The dependency that finishes last is the blocker, the first of the row among equals") {
  ProgramBuilder builder;
  const InstanceId early = builder.add(Stream::kCopyOut, 3_ps);
  const InstanceId late = builder.add(Stream::kNvmeWrite, 5_ps);
  const InstanceId equal = builder.add(Stream::kCommunication, 5_ps);
  const InstanceId k = builder.add(Stream::kCompute, 1_ps, {early, late, equal});
  check(simulate(builder.build()).stalls, {{0_ps, 5_ps, StallCause::kNvmeWrite, k, late}});
}

TEST_CASE("The tail after the last kernel belongs to whoever ends the step") {
  ProgramBuilder builder;
  const InstanceId k = builder.add(Stream::kCompute, 3_ps);
  const InstanceId out = builder.add(Stream::kCopyOut, 4_ps, {k});
  const InstanceId update = builder.add(Stream::kCpuOptimizer, 6_ps, {out});
  check(simulate(builder.build()).stalls,
        {{3_ps, 7_ps, StallCause::kPcieD2h, kNoInstance, out},
         {7_ps, 13_ps, StallCause::kCpuOptimizer, kNoInstance, update}});
}

TEST_CASE("A step without kernels is all stall") {
  ProgramBuilder builder;
  const InstanceId copy = builder.add(Stream::kCopyIn, 4_ps);
  check(simulate(builder.build()).stalls, {{0_ps, 4_ps, StallCause::kPcieH2d, kNoInstance, copy}});
}

// 10 B of HBM. k0 (0-2) makes x of 8 B, which a copy holds 2-9; k1 wants 5 B from 2 on.
TEST_CASE("Waiting for memory is an allocation stall, and whoever frees it the blocker") {
  ProgramBuilder builder;
  builder.capacity(Tier::kHbm, 10_B);
  const BufferId x = builder.buffer(8_B);
  const BufferId y = builder.buffer(5_B);
  const InstanceId k0 = builder.add(Stream::kCompute, 2_ps, {}, {x});
  const InstanceId copy = builder.add(Stream::kCopyOut, 7_ps, {k0}, {x});
  const InstanceId k1 = builder.add(Stream::kCompute, 1_ps, {}, {y});
  check(simulate(builder.build()).stalls, {{2_ps, 9_ps, StallCause::kAllocation, k1, copy}});
}

// As above, but it is the copy-in c that waits for memory (2-9), then runs (9-12); k1 waits for c.
TEST_CASE("A blocker that waited for memory passes the time on as an allocation stall") {
  ProgramBuilder builder;
  builder.capacity(Tier::kHbm, 10_B);
  const BufferId x = builder.buffer(8_B);
  const BufferId y = builder.buffer(5_B);
  const InstanceId k0 = builder.add(Stream::kCompute, 2_ps, {}, {x});
  const InstanceId out = builder.add(Stream::kCopyOut, 7_ps, {k0}, {x});
  const InstanceId c = builder.add(Stream::kCopyIn, 3_ps, {k0}, {y});
  const InstanceId k1 = builder.add(Stream::kCompute, 1_ps, {c}, {y});
  check(simulate(builder.build()).stalls, {{2_ps, 9_ps, StallCause::kAllocation, k1, out},
                                           {9_ps, 12_ps, StallCause::kPcieH2d, k1, c}});
}

TEST_CASE("Only the part of a blocker within the gap counts") {
  // The copy runs 0-10 beside k0 (0-6); the stall is 6-10.
  ProgramBuilder builder;
  const InstanceId copy = builder.add(Stream::kCopyIn, 10_ps);
  builder.add(Stream::kCompute, 6_ps);
  const InstanceId k1 = builder.add(Stream::kCompute, 1_ps, {copy});
  check(simulate(builder.build()).stalls, {{6_ps, 10_ps, StallCause::kPcieH2d, k1, copy}});
}

TEST_CASE("A run out of memory still explains the time until it stopped") {
  ProgramBuilder builder;
  builder.capacity(Tier::kHbm, 10_B);
  const BufferId big = builder.buffer(11_B);
  builder.add(Stream::kCompute, 2_ps);
  const InstanceId copy = builder.add(Stream::kCopyIn, 5_ps);
  builder.add(Stream::kCompute, 1_ps, {}, {big});
  const Result result = simulate(builder.build());
  CHECK(result.end == 5_ps);
  check(result.stalls, {{2_ps, 5_ps, StallCause::kPcieH2d, kNoInstance, copy}});
}

}  // namespace
TEST_CASE("Memory that another instance has taken in between was waited for all the same") {
  // Host memory of 10 B: c holds 8 until 4. Update u wants h (6 B) from 0 on; at 4 copy m, whose
  // stream comes first, takes h, and u uses it too. What u takes itself is in HBM, where nothing
  // was freed.
  ProgramBuilder builder;
  builder.capacity(Tier::kHost, 10_B);
  const BufferId x = builder.buffer(8_B, Tier::kHost);
  const BufferId h = builder.buffer(6_B, Tier::kHost);
  const BufferId b = builder.buffer(1_B);
  const InstanceId c = builder.add(Stream::kCopyOut, 4_ps, {}, {x});
  builder.add(Stream::kCopyIn, 1_ps, {c}, {h});
  const InstanceId u = builder.add(Stream::kCpuOptimizer, 3_ps, {}, {h, b});
  const InstanceId k = builder.add(Stream::kCompute, 1_ps, {u});
  check(simulate(builder.build()).stalls, {{0_ps, 4_ps, StallCause::kAllocation, k, c},
                                           {4_ps, 7_ps, StallCause::kCpuOptimizer, k, u}});
}

}  // namespace tidemark::sim
