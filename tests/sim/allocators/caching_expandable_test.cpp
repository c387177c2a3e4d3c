#include <string>
#include <vector>

#include "sim/allocators/caching.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::sim {
namespace {

constexpr Stream kMain = Stream::kCompute;
constexpr std::int64_t kMiB = 1 << 20;

CachingSettings expandable() {
  CachingSettings settings;
  settings.expandable_segments = true;
  return settings;
}

std::uint64_t take(CachingAllocator& allocator, Bytes bytes, Stream stream = kMain) {
  const auto allocation = allocator.allocate(bytes, stream);
  REQUIRE(allocation.has_value());
  return allocation->handle;
}

TEST_CASE("an expandable segment grows by whole pages of 20 MiB, or 2 MiB if small", "[caching]") {
  CachingAllocator allocator(1_GiB, expandable());
  take(allocator, 20_MiB);
  CHECK(allocator.statistics().reserved == 20_MiB);
  take(allocator, Bytes(20 * kMiB + 512));
  CHECK(allocator.statistics().reserved == 60_MiB);  // not 42 MiB: two pages more
  take(allocator, 1_MiB);
  CHECK(allocator.statistics().reserved == 62_MiB);
  const MemorySnapshot segments = allocator.snapshot();
  REQUIRE(segments.size() == 2);  // one per pool: growing needs no new segment
  CHECK(segments[0].expandable);
  CHECK(segments[0].blocks.size() == 3);
}

TEST_CASE("an expandable block is split down to 512 bytes, also a large one", "[caching]") {
  CachingAllocator allocator(1_GiB, expandable());
  take(allocator, Bytes(20 * kMiB - 512));
  CHECK(allocator.snapshot()[0].blocks.size() == 2);
  CHECK(allocator.statistics().allocated == Bytes(20 * kMiB - 512));
  CHECK(allocator.statistics().inactive_split == 0_B);  // pages can go back: not counted
}

TEST_CASE("a free block at the end is grown, not left behind", "[caching]") {
  CachingAllocator allocator(1_GiB, expandable());
  const auto a = take(allocator, 10_MiB);
  const auto b = take(allocator, 30_MiB);  // 10 MiB of the first page and one page more
  CHECK(allocator.statistics().reserved == 40_MiB);
  CHECK(allocator.address_of(b) == allocator.address_of(a) + 10 * kMiB);
  allocator.free(b);
  const auto c = take(allocator, 50_MiB);
  CHECK(allocator.address_of(c) == allocator.address_of(a) + 10 * kMiB);
  CHECK(allocator.statistics().reserved == 60_MiB);
}

TEST_CASE("a block that can grow counts as large in the search for the best fit", "[caching]") {
  CachingAllocator allocator(1_GiB, expandable());
  const auto a = take(allocator, 30_MiB);
  const auto barrier = take(allocator, 5_MiB);  // 5 MiB are free behind it, and then all the rest
  allocator.free(a);
  // Both free blocks would do; the 30 MiB in front cannot grow, so they are the better fit.
  const auto c = take(allocator, 4_MiB);
  CHECK(allocator.address_of(c) < allocator.address_of(barrier));
}

TEST_CASE("a refused request unmaps the whole pages of free blocks anywhere", "[caching]") {
  CachingAllocator allocator(100_MiB, expandable());
  const auto a = take(allocator, 50_MiB);
  take(allocator, 10_MiB);  // pages 0, 1 and half of 2 | the other half of 2
  allocator.free(a);
  allocator.trace(Trace::kOn);
  take(allocator, 60_MiB, Stream::kCopyIn);
  CHECK(allocator.statistics().retries == 1);
  CHECK(allocator.statistics().reserved == 20_MiB + 60_MiB);  // half a page stayed mapped, free
  std::vector<std::string> actions;
  for (const MemoryTraceEvent& event : allocator.trace_events()) {
    actions.emplace_back(kMemoryActionNames[static_cast<std::size_t>(event.action)]);
  }
  CHECK(actions == std::vector<std::string>{"segment_unmap", "segment_map", "alloc"});
  CHECK(allocator.trace_events()[0].size == 40_MiB);
}

TEST_CASE("unmapped pages in front are mapped again before the segment grows", "[caching]") {
  CachingAllocator allocator(1_GiB, expandable());
  const auto a = take(allocator, 40_MiB);
  const auto b = take(allocator, 20_MiB);
  const std::uint64_t front = allocator.address_of(a);
  allocator.free(a);
  allocator.empty_cache();
  CHECK(allocator.statistics().reserved == 20_MiB);
  CHECK(allocator.address_of(take(allocator, 40_MiB)) == front);
  CHECK(allocator.statistics().reserved == 60_MiB);
  allocator.free(b);
}

TEST_CASE("pages are mapped all or none", "[caching]") {
  CachingAllocator allocator(59_MiB, expandable());
  CHECK_FALSE(allocator.allocate(41_MiB, kMain).has_value());  // three pages
  CHECK(allocator.statistics().reserved == 0_B);
  CHECK(allocator.last_failure()->free == 59_MiB);
  CHECK(allocator.allocate(40_MiB, kMain).has_value());
  CHECK(allocator.available() == 0_B);  // 19 MiB are not a page
}

TEST_CASE("each page that is mapped or unmapped takes time", "[caching]") {
  CachingSettings settings = expandable();
  settings.costs.page_map = 7_us;
  settings.costs.page_unmap = 2_us;
  CachingAllocator allocator(1_GiB, settings);
  const auto a = allocator.allocate(60_MiB, kMain);
  CHECK(a->driver_time == 21_us);
  allocator.free(a->handle);
  allocator.empty_cache();
  CHECK(allocator.statistics().driver_time == 27_us);
  CHECK(allocator.statistics().driver_allocations == 1);  // one range, as PyTorch counts
  CHECK(allocator.snapshot().empty());
}

TEST_CASE("expandable segments avoid the fragmentation that ordinary ones suffer", "[caching]") {
  // Requests that grow a little each time: no cached segment ever fits the next one.
  const auto reserved_after = [](const CachingSettings& settings) {
    CachingAllocator allocator(10_GiB, settings);
    for (std::int64_t mebibytes = 20; mebibytes <= 60; mebibytes += 2) {
      allocator.free(take(allocator, Bytes(mebibytes * kMiB)));
    }
    return allocator.statistics().reserved;
  };
  CHECK(reserved_after({}) == Bytes((20 + 60) * 21 / 2 * kMiB));  // every size stays cached
  CHECK(reserved_after(expandable()) == 60_MiB);
}

}  // namespace
}  // namespace tidemark::sim
