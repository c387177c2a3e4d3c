// The executor against a reference that works everything out anew at every step.

#include <algorithm>

#include "sim/account.hpp"
#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/reference_executor.hpp"

namespace tidemark::sim {
namespace {

using test::random_program;
using test::RandomProgramShape;
using test::ReferenceExecutor;

Bytes peak_of(const Program& program, const Result& result, Tier tier) {
  Bytes level, peak;
  for (const MemoryEvent& event : result.memory) {
    const Buffer& buffer = program.buffers[index(event.buffer)];
    if (buffer.tier != tier) continue;
    if (event.allocated) level += buffer.bytes;
    if (!event.allocated) level -= buffer.bytes;
    peak = std::max(peak, level);
  }
  return peak;
}

void require_equal(const Program& program, const Result& got, const Result& expected) {
  REQUIRE(got.end == expected.end);
  REQUIRE(got.compute_busy == expected.compute_busy);
  REQUIRE(got.moved == expected.moved);
  REQUIRE(got.records.size() == expected.records.size());
  for (std::size_t i = 0; i < got.records.size(); ++i) {
    CAPTURE(i);
    REQUIRE(got.records[i].ready == expected.records[i].ready);
    REQUIRE(got.records[i].issued == expected.records[i].issued);
    REQUIRE(got.records[i].start == expected.records[i].start);
    REQUIRE(got.records[i].finish == expected.records[i].finish);
    REQUIRE(got.records[i].events_at_finish == expected.records[i].events_at_finish);
  }
  REQUIRE(got.memory.size() == expected.memory.size());
  for (std::size_t row = 0; row < got.memory.size(); ++row) {
    CAPTURE(row);
    REQUIRE(got.memory[row].time == expected.memory[row].time);
    REQUIRE(got.memory[row].buffer == expected.memory[row].buffer);
    REQUIRE(got.memory[row].instance == expected.memory[row].instance);
    REQUIRE(got.memory[row].allocated == expected.memory[row].allocated);
  }
  REQUIRE(got.out_of_memory.has_value() == expected.out_of_memory.has_value());
  if (got.out_of_memory) {
    REQUIRE(got.out_of_memory->tier == expected.out_of_memory->tier);
    REQUIRE(got.out_of_memory->instance == expected.out_of_memory->instance);
    REQUIRE(got.out_of_memory->buffer == expected.out_of_memory->buffer);
    REQUIRE(got.out_of_memory->requested == expected.out_of_memory->requested);
    REQUIRE(got.out_of_memory->free == expected.out_of_memory->free);
  }
  const Account sums = account(program, got);
  for (std::size_t t = 0; t < kTierCount; ++t) {
    REQUIRE(sums.tiers[t].peak.level.total == peak_of(program, expected, static_cast<Tier>(t)));
  }
}

// Every picosecond in which the compute stream stands still lies in one span, with the right cause.
void require_stalls(const Result& got, const ReferenceExecutor& reference) {
  std::size_t span = 0;
  for (SimTime t{}; t < got.end; ++t) {
    CAPTURE(t.count());
    while (span < got.stalls.size() && got.stalls[span].end <= t) ++span;
    const bool stalled = span < got.stalls.size() && got.stalls[span].begin <= t;
    const std::optional<StallCause> expected = reference.cause_at(t);
    REQUIRE(stalled == expected.has_value());
    if (stalled) REQUIRE(got.stalls[span].cause == *expected);
  }
}

struct Tally {
  int out_of_memory = 0, waited = 0, stalled = 0, launch_bound = 0;
};

void compare_on_random_programs(const RandomProgramShape& shape, std::uint32_t first_seed,
                                std::uint32_t seeds, Tally& tally,
                                std::size_t launch_queue = kLaunchQueue) {
  for (std::uint32_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    CAPTURE(seed);
    RandomProgramShape own = shape;
    if (seed % 3 == 0) own.instances = 1 + seed / 3 % static_cast<std::uint32_t>(shape.instances);
    const Program program = random_program(seed, own);
    const bool limited = seed % 5 != 0;
    SimulateOptions options;
    if (!limited) options.capacity = Capacity::kIgnored;
    options.launch_queue = launch_queue;
    ReferenceExecutor reference(program, limited, launch_queue);
    const Result expected = reference.run();
    const Result got = simulate(program, options);
    require_equal(program, got, expected);
    require_stalls(got, reference);
    tally.out_of_memory += got.out_of_memory ? 1 : 0;
    tally.stalled += got.stalls.empty() ? 0 : 1;
    tally.launch_bound += std::ranges::any_of(
        got.stalls, [](const Stall& stall) { return stall.cause == StallCause::kLaunch; });
    tally.waited += std::ranges::any_of(got.records, [](const InstanceRecord& r) {
      return r.start > r.ready && r.finish != kNever;
    });
  }
}

TEST_CASE("The executor agrees with the brute force on programs of up to 8 instances") {
  Tally tally;
  compare_on_random_programs({}, 1, 6000, tally);
  RandomProgramShape many_streams;
  many_streams.streams = 7;
  compare_on_random_programs(many_streams, 100'001, 3000, tally);
  // The comparison means something only if these things happen.
  CHECK(tally.out_of_memory > 300);
  CHECK(tally.waited > 300);
  CHECK(tally.stalled > 1000);
}

TEST_CASE("The executor agrees with the brute force on programs of up to 60 instances") {
  RandomProgramShape shape;
  shape.instances = 60;
  shape.buffers = 40;
  shape.streams = 7;
  shape.reach = 12;
  shape.use_reach = 5;
  Tally tally;
  compare_on_random_programs(shape, 200'001, 300, tally);
  CHECK(tally.out_of_memory > 10);
  CHECK(tally.waited > 10);
}

TEST_CASE("The executor agrees with the brute force where the host issues slowly") {
  Tally tally;
  RandomProgramShape shape;
  shape.issue = 6;
  compare_on_random_programs(shape, 300'001, 3000, tally);
  CHECK(tally.launch_bound > 1000);
  // A queue of one or two kernels: the host waits for the GPU, which then waits for the host.
  compare_on_random_programs(shape, 310'001, 1000, tally, 1);
  compare_on_random_programs(shape, 320'001, 1000, tally, 2);
  shape.instances = 60;
  shape.buffers = 40;
  shape.streams = 7;
  shape.reach = 12;
  shape.use_reach = 5;
  Tally many;
  compare_on_random_programs(shape, 330'001, 200, many, 3);
  CHECK(many.launch_bound > 100);
}

}  // namespace
}  // namespace tidemark::sim
