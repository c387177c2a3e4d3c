// max_split_size, the memory fraction and garbage collection, both sides of each edge.

#include <string_view>
#include <vector>

#include "sim/allocators/caching.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::sim {
namespace {

constexpr Stream kMain = Stream::kCompute;
constexpr std::int64_t kMiB = 1 << 20;

CachingSettings settings(std::string_view text) {
  const ParsedSettings parsed = parse_caching_settings(text);
  REQUIRE(parsed.errors.empty());
  return parsed.settings;
}

std::uint64_t take(CachingAllocator& allocator, Bytes bytes) {
  const auto allocation = allocator.allocate(bytes, kMain);
  REQUIRE(allocation.has_value());
  return allocation->handle;
}

TEST_CASE("blocks above max_split_size serve only large requests, and whole", "[caching]") {
  CachingAllocator allocator(1_GiB, settings("max_split_size_mb:40"));
  allocator.free(take(allocator, 60_MiB));
  // Just below the limit: not from the oversize block.
  take(allocator, Bytes(40 * kMiB - 512));
  CHECK(allocator.statistics().reserved == 100_MiB);
  // At the limit: from it, though 20 MiB - 512 B are wasted; never split.
  const auto whole = take(allocator, Bytes(40 * kMiB + 512));
  CHECK(allocator.statistics().reserved == 100_MiB);
  CHECK(allocator.statistics().allocated == 100_MiB);
  allocator.free(whole);
  // 20 MiB larger than the request: too wasteful.
  take(allocator, 40_MiB);
  CHECK(allocator.statistics().reserved == 140_MiB);
}

TEST_CASE("max_non_split_rounding sets how much an unsplit block may waste", "[caching]") {
  CachingAllocator allocator(1_GiB, settings("max_split_size_mb:40,max_non_split_rounding_mb:21"));
  allocator.free(take(allocator, 61_MiB));  // a segment of 62 MiB
  const auto first = take(allocator, Bytes(41 * kMiB + 512));
  CHECK(allocator.statistics().reserved == 62_MiB);
  allocator.free(first);
  take(allocator, 41_MiB);  // exactly 21 MiB more: refused
  CHECK(allocator.statistics().reserved == 62_MiB + 42_MiB);
}

TEST_CASE("oversize blocks are released before the whole cache is", "[caching]") {
  CachingAllocator allocator(100_MiB, settings("max_split_size_mb:30"));
  allocator.free(take(allocator, 20_MiB));
  const auto a = take(allocator, 30_MiB), b = take(allocator, 40_MiB);
  allocator.free(a);
  allocator.free(b);
  // 10 MiB are left. 25 MiB count as 30: the smallest block of at least that goes, and no other.
  take(allocator, 26_MiB);
  CHECK(allocator.statistics().driver_frees == 1);
  CHECK(allocator.statistics().retries == 0);
  CHECK(allocator.statistics().reserved == 20_MiB + 40_MiB + 26_MiB);
}

TEST_CASE("several oversize blocks are released where one is not enough", "[caching]") {
  CachingAllocator allocator(100_MiB, settings("max_split_size_mb:30"));
  const auto a = take(allocator, 30_MiB), b = take(allocator, 32_MiB), c = take(allocator, 34_MiB);
  allocator.free(a);
  allocator.free(b);
  allocator.free(c);
  allocator.trace(Trace::kOn);
  take(allocator, 60_MiB);  // 34 + 32 are enough, the largest first
  std::vector<std::int64_t> released;
  for (const MemoryTraceEvent& event : allocator.trace_events()) {
    if (event.action == MemoryAction::kSegmentFree) released.push_back(event.size.count / kMiB);
  }
  CHECK(released == std::vector<std::int64_t>{34, 32});
  CHECK(allocator.statistics().retries == 0);
}

TEST_CASE("a memory fraction refuses without asking the driver", "[caching]") {
  CachingAllocator allocator(80_MiB, settings("per_process_memory_fraction:0.5"));
  take(allocator, 20_MiB);
  const SimTime before = allocator.statistics().driver_time;
  CHECK_FALSE(allocator.allocate(22_MiB, kMain).has_value());
  CHECK(allocator.statistics().driver_time == before);
  CHECK(allocator.last_failure()->allowed == 40_MiB);
  CHECK(allocator.allocate(20_MiB, kMain).has_value());
}

TEST_CASE("garbage collection returns what has waited longest", "[caching]") {
  // Allowed 100 MiB; above 60 MiB something has to go before more is taken.
  CachingAllocator allocator(
      100_MiB, settings("garbage_collection_threshold:0.6,per_process_memory_fraction:1"));
  const auto a = take(allocator, 20_MiB), b = take(allocator, 22_MiB);
  allocator.free(a);
  allocator.free(take(allocator, 24_MiB));  // a misses once more than this one: it is older
  CHECK(allocator.statistics().reserved == 66_MiB);
  take(allocator, 26_MiB);
  // Over by 6 MiB: the 20 MiB of age 2 went, the 24 MiB of age 1 (average 1.5) stayed.
  CHECK(allocator.statistics().driver_frees == 1);
  CHECK(allocator.statistics().reserved == 22_MiB + 24_MiB + 26_MiB);
  allocator.free(b);
}

TEST_CASE("garbage is not collected up to the threshold, nor without a fraction", "[caching]") {
  CachingAllocator exact(
      100_MiB, settings("garbage_collection_threshold:0.4,per_process_memory_fraction:1"));
  const auto a = take(exact, 20_MiB), b = take(exact, 20_MiB);
  exact.free(a);
  exact.free(b);
  take(exact, 22_MiB);  // reserved 40 MiB, which is the threshold
  CHECK(exact.statistics().driver_frees == 0);
  CachingAllocator free_of_it(100_MiB, settings("garbage_collection_threshold:0.1"));
  free_of_it.free(take(free_of_it, 20_MiB));
  take(free_of_it, 22_MiB);
  CHECK(free_of_it.statistics().driver_frees == 0);
}

}  // namespace
}  // namespace tidemark::sim
