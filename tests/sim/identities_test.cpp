// What must hold for every program, on a thousand random ones of up to 400 instances.

#include "sim/account.hpp"
#include "sim/executor.hpp"
#include "sim/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/result_bytes.hpp"

namespace tidemark::sim {
namespace {

test::RandomProgramShape large(std::uint32_t seed) {
  test::RandomProgramShape shape;
  shape.instances = 20 + seed % 381;
  shape.buffers = shape.instances;
  shape.streams = 1 + seed % 9;
  shape.longest = seed % 2 == 0 ? 20 : 2'000'000'000;
  shape.most_bytes = seed % 2 == 0 ? 40 : 3'000'000'000;
  shape.reach = 30;
  shape.use_reach = 4;
  shape.limited = false;
  return shape;
}

// HBM and the host hold a little less than the program would need with no limits.
Program tight_program(std::uint32_t seed) {
  Program program = test::random_program(seed, large(seed));
  SimulateOptions unbounded;
  unbounded.capacity = Capacity::kIgnored;
  const Account sums = account(program, simulate(program, unbounded));
  test::Random random(seed);
  for (const std::size_t t : {0u, 1u}) {
    const std::int64_t start = sums.tiers[t].start.total.count;
    const std::int64_t peak = sums.tiers[t].peak.level.total.count;
    program.capacity[t] = Bytes(random.between(peak - (peak - start) / 8, peak));
  }
  return program;
}

void require_identities(const Program& program, const Result& result) {
  const Account sums = account(program, result);
  SimTime stalled{};
  for (const SimTime time : sums.stalled) stalled += time;
  REQUIRE(result.compute_busy + stalled == result.end);
  REQUIRE(sums.busy[static_cast<std::size_t>(Stream::kCompute)] == result.compute_busy);
  for (const SimTime busy : sums.busy) REQUIRE(busy <= result.end);

  std::array<Bytes, kTierCount> allocated{}, freed{};
  for (const MemoryEvent& event : result.memory) {
    const Buffer& buffer = program.buffers[index(event.buffer)];
    const auto tier = static_cast<std::size_t>(buffer.tier);
    (event.allocated ? allocated : freed)[tier] += buffer.bytes;
  }
  for (std::size_t t = 0; t < kTierCount; ++t) {
    const TierAccount& tier = sums.tiers[t];
    REQUIRE(allocated[t] == freed[t] + tier.end.total);
    Bytes at_end, at_peak;
    for (const Bytes bytes : tier.end.by_category) at_end += bytes;
    for (const Bytes bytes : tier.peak.level.by_category) at_peak += bytes;
    REQUIRE(at_end == tier.end.total);
    REQUIRE(at_peak == tier.peak.level.total);
    REQUIRE(tier.peak.level.total >= tier.start.total);
    std::optional<Bytes> highest;
    for (const std::optional<Bytes>& peak : tier.phase_peak) highest = std::max(highest, peak);
    if (highest) REQUIRE(*highest == tier.peak.level.total);
  }
}

TEST_CASE("Identities hold, verify finds nothing and a second run gives the same bytes") {
  int out_of_memory = 0, waited = 0;
  for (std::uint32_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    const Program program = tight_program(seed);
    const Result result = simulate(program);
    require_identities(program, result);
    const std::vector<Violation> violations = verify(program, result);
    for (const Violation& violation : violations) {
      FAIL_CHECK(name_of(violation.rule) << ": " << violation.text);
    }
    REQUIRE(violations.empty());
    REQUIRE(test::bytes_of(simulate(program)) == test::bytes_of(result));
    out_of_memory += result.out_of_memory ? 1 : 0;
    for (const Stall& stall : result.stalls) waited += stall.cause == StallCause::kAllocation;
  }
  CHECK(out_of_memory > 100);
  CHECK(out_of_memory < 900);
  CHECK(waited > 300);
}

TEST_CASE("Without limits every program ends, in the time that plenty of memory would give") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Program program = test::random_program(seed, large(seed));
    SimulateOptions unbounded;
    unbounded.capacity = Capacity::kIgnored;
    const Result result = simulate(program, unbounded);
    REQUIRE_FALSE(result.out_of_memory.has_value());
    REQUIRE(verify(program, result, unbounded).empty());
    // Exactly what it needed is enough, and one byte less in a tier that was used is not.
    const Account sums = account(program, result);
    for (std::size_t t = 0; t < kTierCount; ++t) {
      program.capacity[t] = sums.tiers[t].peak.level.total;
    }
    REQUIRE(test::bytes_of(simulate(program)) == test::bytes_of(result));
    if (program.capacity[0].count == 0) continue;
    program.capacity[0] -= Bytes(1);
    REQUIRE(test::bytes_of(simulate(program)) != test::bytes_of(result));
  }
}

}  // namespace
}  // namespace tidemark::sim
