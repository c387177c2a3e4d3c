// What must hold for every program with the caching allocator in HBM, on random ones.

#include "sim/account.hpp"
#include "sim/allocators/caching.hpp"
#include "sim/executor.hpp"
#include "sim/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/result_bytes.hpp"

namespace tidemark::sim {
namespace {

const AllocatorRecord& hbm(const Result& result) { return result.allocators[0]; }

SimulateOptions with(CachingAllocator& allocator, std::span<const KeptBuffer> carried = {}) {
  SimulateOptions options;
  options.allocators[0] = &allocator;
  options.carried = carried;
  return options;
}

SimTime stalled(const Program& program, const Result& result, StallCause cause) {
  return account(program, result).stalled[static_cast<std::size_t>(cause)];
}

Bytes rounded(Bytes bytes) { return Bytes((bytes.count + 511) / 512 * 512); }

// HBM as the memory events tell it, each buffer in whole units of 512 B. A block above 1 MiB may be
// up to 1 MiB larger than that, since so little is not split off: `slack`.
struct RoundedLevels {
  Bytes end, peak, at_live_peak, slack;

  RoundedLevels(const Program& program, const Result& result) {
    Bytes live, most{-1};
    for (const MemoryEvent& event : result.memory) {
      const Buffer& buffer = program.buffers[index(event.buffer)];
      if (buffer.tier != Tier::kHbm || is_set_aside(buffer)) continue;
      const std::int64_t sign = event.allocated ? 1 : -1;
      live += Bytes(sign * buffer.bytes.count);
      end += Bytes(sign * rounded(buffer.bytes).count);
      if (event.allocated && rounded(buffer.bytes) > 1_MiB) slack += 1_MiB;
      if (end > peak) peak = end;
      if (live <= most) continue;
      most = live;
      at_live_peak = end;
    }
  }
};

void require_level(Bytes allocated, Bytes level, Bytes slack) {
  REQUIRE(allocated >= level);
  REQUIRE(allocated <= level + slack);
}

void require_identities(const Program& program, const CachingSettings& settings,
                        const Result& result, SimTime before_the_step) {
  const RoundedLevels levels(program, result);
  const AllocatorStatistics& end = hbm(result).end;
  const Bytes slack = settings.expandable_segments ? 0_B : levels.slack;
  require_level(end.allocated, levels.end, slack);
  require_level(end.allocated_peak, levels.peak, slack);
  require_level(hbm(result).at_peak.allocated, levels.at_live_peak, slack);
  for (const AllocatorStatistics& at : {end, hbm(result).at_peak}) {
    REQUIRE(at.reserved >= at.active);
    REQUIRE(at.active == at.allocated);  // a buffer lives until its last user has finished
    REQUIRE(at.reserved <= end.reserved_peak);
    REQUIRE(at.reserved.count % (2 << 20) == 0);
    REQUIRE(at.inactive_split <= at.reserved - at.allocated);
  }
  REQUIRE(end.reserved_peak >= end.active_peak);
  REQUIRE(end.active_peak == end.allocated_peak);

  SimTime stalls = result.compute_busy;
  for (const Stall& stall : result.stalls) stalls += stall.end - stall.begin;
  REQUIRE(stalls == result.end);
  if (result.out_of_memory) return;
  // Each driver call of the step delayed somebody, exactly once; save those of an instance that in
  // the end found its buffers taken by others.
  SimTime delays{};
  bool taken_by_others = false;
  std::vector<SimTime> asked(program.instances.size(), kNever);
  for (const MemoryEvent& event : result.memory) {
    if (event.allocated && event.instance != kNoInstance) asked[index(event.instance)] = event.time;
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const InstanceRecord& record = result.records[i];
    if (asked[i] != kNever) delays += record.start - asked[i];
    taken_by_others = taken_by_others || (asked[i] == kNever && record.start > record.ready);
  }
  REQUIRE(before_the_step + delays <= end.driver_time);
  if (!taken_by_others) REQUIRE(before_the_step + delays == end.driver_time);
}

SimTime driver_time_of_initial(const Program& program, CachingAllocator allocator) {
  for (const Buffer& buffer : program.buffers) {
    if (buffer.initial && buffer.tier == Tier::kHbm && !is_set_aside(buffer)) {
      allocator.allocate(buffer.bytes, Stream::kCompute);
    }
  }
  return allocator.statistics().driver_time;
}

Program program_of(std::uint32_t seed) {
  test::RandomProgramShape shape;
  shape.instances = 20 + seed % 181;
  shape.buffers = shape.instances;
  shape.streams = 1 + seed % 7;
  shape.longest = seed % 2 == 0 ? 20 : 2'000'000'000;
  const std::array<std::int64_t, 4> most = {3'000, 3'000'000, 30'000'000, 300'000'000};
  shape.most_bytes = most[seed % most.size()];
  shape.reach = 30;
  shape.use_reach = 4;
  shape.limited = false;
  return test::random_program(seed, shape);
}

Bytes set_aside(const Program& program) {
  Bytes sum;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.tier == Tier::kHbm && is_set_aside(buffer)) sum += buffer.bytes;
  }
  return sum;
}

constexpr Bytes kPlenty{std::int64_t{1} << 50};

void require_verified(const Program& program, const Result& result,
                      const SimulateOptions& options) {
  for (const Violation& violation : verify(program, result, options)) {
    FAIL_CHECK(name_of(violation.rule) << ": " << violation.text);
  }
}

TEST_CASE("What the allocator counts is what lives, rounded, in every random program") {
  int out_of_memory = 0, retried = 0, waited = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    const Program program = program_of(seed);
    CachingSettings settings;
    settings.expandable_segments = seed % 3 == 0;
    const CachingAllocator unlimited(kPlenty, settings);
    CachingAllocator plenty = unlimited;
    const Result free = simulate(program, with(plenty));
    REQUIRE_FALSE(free.out_of_memory);
    require_identities(program, settings, free, driver_time_of_initial(program, unlimited));
    require_verified(program, free, with(plenty));

    // What it reserved is enough; less makes it wait, empty its cache or fail.
    const Bytes others = set_aside(program);
    CachingAllocator exact(hbm(free).end.reserved_peak + others, settings);
    REQUIRE(test::bytes_of(simulate(program, with(exact))) == test::bytes_of(free));
    test::Random random(seed);
    const Bytes capacity(random.between(hbm(free).end.allocated_peak.count * 9 / 10,
                                        hbm(free).end.reserved_peak.count));
    const CachingAllocator empty(capacity + others, settings);
    CachingAllocator tight = empty;
    const Result result = simulate(program, with(tight));
    require_identities(program, settings, result, driver_time_of_initial(program, empty));
    require_verified(program, result, with(tight));
    REQUIRE(hbm(result).end.reserved_peak <= capacity);
    std::int64_t starts = 0;
    for (const InstanceRecord& record : result.records) starts += record.ready != kNever;
    REQUIRE(hbm(result).end.retries <= starts + std::ssize(program.buffers));
    out_of_memory += result.out_of_memory ? 1 : 0;
    retried += hbm(result).end.retries > 0 ? 1 : 0;
    for (const Stall& stall : result.stalls) waited += stall.cause == StallCause::kAllocation;
  }
  CHECK(out_of_memory > 30);
  CHECK(out_of_memory < 300);
  CHECK(retried > 100);
  CHECK(waited > 50);
}

TEST_CASE("Steps repeated on one allocator come to ask the driver for nothing") {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Program program = program_of(seed);
    for (Buffer& buffer : program.buffers) buffer.persistent = buffer.initial;
    CachingAllocator allocator(kPlenty, {});
    Result result = simulate(program, with(allocator));
    int steps = 1;
    for (; steps < 6 && hbm(result).end.driver_allocations > 0; ++steps) {
      const Result next = simulate(program, with(allocator, result.kept));
      REQUIRE(hbm(next).end.allocated == hbm(result).end.allocated);
      require_identities(program, {}, next, 0_us);
      require_verified(program, next, with(allocator, result.kept));
      result = next;
    }
    REQUIRE(steps < 6);
    REQUIRE(stalled(program, result, StallCause::kAllocatorCall) == 0_us);
  }
}

}  // namespace
}  // namespace tidemark::sim
