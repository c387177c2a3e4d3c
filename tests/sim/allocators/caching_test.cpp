// One small case for each rule of PyTorch's caching allocator, both sides of each edge. Limits on
// splitting and garbage collection: caching_limits_test.cpp.

#include "sim/allocators/caching.hpp"

#include <string_view>

#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::sim {
namespace {

constexpr Stream kMain = Stream::kCompute;

CachingSettings settings(std::string_view text) {
  const ParsedSettings parsed = parse_caching_settings(text);
  REQUIRE(parsed.errors.empty());
  return parsed.settings;
}

std::uint64_t take(CachingAllocator& allocator, Bytes bytes, Stream stream = kMain) {
  const auto allocation = allocator.allocate(bytes, stream);
  REQUIRE(allocation.has_value());
  return allocation->handle;
}

// Sizes of the blocks of a segment, negative where free.
std::vector<std::int64_t> layout(const CachingAllocator& allocator, std::size_t segment = 0) {
  std::vector<std::int64_t> sizes;
  const MemorySnapshot segments = allocator.snapshot();
  for (const SnapshotBlock& block : segments.at(segment).blocks) {
    sizes.push_back(block.state == SnapshotState::kInactive ? -block.size.count : block.size.count);
  }
  return sizes;
}

using Sizes = std::vector<std::int64_t>;
constexpr std::int64_t kMiB = 1 << 20;

TEST_CASE("nothing is taken for nothing", "[caching]") {
  CachingAllocator allocator(100_MiB, {});
  const auto nothing = allocator.allocate(0_B, kMain);
  REQUIRE(nothing.has_value());
  CHECK(nothing->handle == 0);
  allocator.free(0);
  CHECK(allocator.snapshot().empty());
  CHECK(allocator.statistics().driver_allocations == 0);
}

TEST_CASE("small and large requests never share a segment", "[caching]") {
  CachingAllocator allocator(100_MiB, {});
  take(allocator, 1_MiB);
  take(allocator, Bytes(kMiB + 1));
  const MemorySnapshot segments = allocator.snapshot();
  REQUIRE(segments.size() == 2);
  CHECK(segments[0].small);
  CHECK(segments[0].size == 2_MiB);
  CHECK_FALSE(segments[1].small);
  CHECK(segments[1].size == 20_MiB);
}

TEST_CASE("a small block is split down to its last 512 bytes", "[caching]") {
  CachingAllocator allocator(100_MiB, {});
  take(allocator, 1_MiB);
  take(allocator, Bytes(kMiB - 512));
  CHECK(layout(allocator) == Sizes{kMiB, kMiB - 512, -512});
  take(allocator, 1_B);  // fits the rest exactly
  CHECK(layout(allocator) == Sizes{kMiB, kMiB - 512, 512});
}

TEST_CASE("a large block is split if more than 1 MiB remains", "[caching]") {
  CachingAllocator split(100_MiB, {});  // 12 MiB segment, 1 MiB + 512 B remain
  take(split, Bytes(11 * kMiB - 512));
  CHECK(layout(split) == Sizes{11 * kMiB - 512, -(kMiB + 512)});
  CHECK(split.statistics().allocated == Bytes(11 * kMiB - 512));
  CachingAllocator whole(100_MiB, {});  // 1 MiB remains and is swallowed
  take(whole, 11_MiB);
  CHECK(layout(whole) == Sizes{12 * kMiB});
  CHECK(whole.statistics().allocated == 12_MiB);
  CHECK(whole.caching_statistics().requested == 11_MiB);
}

TEST_CASE("the smallest block that suffices is taken, the lowest address first", "[caching]") {
  CachingAllocator allocator(1_GiB, {});
  const auto a = take(allocator, 40_MiB);
  const auto b = take(allocator, 30_MiB);
  const auto c = take(allocator, 30_MiB);
  const std::uint64_t address_b = allocator.address_of(b), address_c = allocator.address_of(c);
  CHECK(address_b < address_c);
  allocator.free(a);
  allocator.free(c);
  allocator.free(b);
  CHECK(allocator.address_of(take(allocator, 30_MiB)) == address_b);
  CHECK(allocator.address_of(take(allocator, 30_MiB)) == address_c);
  CHECK(allocator.statistics().driver_allocations == 3);
}

TEST_CASE("a freed block merges with free neighbours on both sides", "[caching]") {
  CachingAllocator allocator(100_MiB, {});
  const auto a = take(allocator, 3_MiB);
  const auto b = take(allocator, 4_MiB);
  const auto c = take(allocator, 5_MiB);
  CHECK(layout(allocator) == Sizes{3 * kMiB, 4 * kMiB, 5 * kMiB, -8 * kMiB});
  allocator.free(a);
  CHECK(layout(allocator) == Sizes{-3 * kMiB, 4 * kMiB, 5 * kMiB, -8 * kMiB});
  CHECK(allocator.statistics().inactive_split == 11_MiB);
  allocator.free(c);  // with the rest above
  CHECK(layout(allocator) == Sizes{-3 * kMiB, 4 * kMiB, -13 * kMiB});
  allocator.free(b);  // with both
  CHECK(layout(allocator) == Sizes{-20 * kMiB});
  CHECK(allocator.statistics().inactive_split == 0_B);
  CHECK(allocator.statistics().inactive_split_peak == 17_MiB);  // after the first 3 MiB
  CHECK(allocator.statistics().reserved == 20_MiB);             // nothing went back
}

TEST_CASE("streams do not share blocks", "[caching]") {
  CachingAllocator allocator(100_MiB, {});
  allocator.free(take(allocator, 20_MiB));
  take(allocator, 20_MiB, Stream::kCopyIn);
  CHECK(allocator.statistics().reserved == 40_MiB);
  take(allocator, 20_MiB);
  CHECK(allocator.statistics().reserved == 40_MiB);
}

TEST_CASE("the cache is returned and the request tried again before it fails", "[caching]") {
  CachingAllocator allocator(40_MiB, {});
  allocator.free(take(allocator, 20_MiB, Stream::kCopyIn));
  allocator.free(take(allocator, 1_KiB));  // a small segment, whole and free
  const auto kept = take(allocator, 2_MiB, Stream::kCopyOut);
  // 22 MiB of 40 were cached and 20 were needed: all that was free as a whole went back.
  CHECK(allocator.statistics().reserved == 20_MiB);
  CHECK(allocator.statistics().driver_frees == 2);
  CHECK(allocator.statistics().retries == 1);
  take(allocator, 20_MiB);
  CHECK(allocator.statistics().retries == 1);
  CHECK_FALSE(allocator.allocate(1_B, kMain).has_value());
  allocator.free(kept);
  CHECK(allocator.allocate(1_B, kMain).has_value());
}

TEST_CASE("a segment in use is not returned, however little of it", "[caching]") {
  CachingAllocator allocator(40_MiB, {});
  take(allocator, 2_MiB);
  allocator.free(take(allocator, 18_MiB));
  CHECK_FALSE(allocator.allocate(21_MiB, kMain).has_value());
  CHECK(allocator.allocate(20_MiB, kMain).has_value());
}

TEST_CASE("a refusal tells what PyTorch's message tells", "[caching]") {
  CachingAllocator allocator(50_MiB, {}, 60_MiB);
  take(allocator, 3_MiB);
  CHECK_FALSE(allocator.last_failure().has_value());
  CHECK_FALSE(allocator.allocate(Bytes(30 * kMiB + 1), kMain).has_value());
  const auto failure = allocator.last_failure();
  REQUIRE(failure.has_value());
  CHECK(failure->requested == Bytes(30 * kMiB + 1));
  CHECK(failure->tried == 32_MiB);  // the segment, not the request
  CHECK(failure->capacity == 60_MiB);
  CHECK(failure->free == 30_MiB);
  CHECK(failure->allocated == 3_MiB);
  CHECK(failure->reserved_unallocated == 17_MiB);
  CHECK_FALSE(failure->allowed.has_value());
  CHECK(allocator.caching_statistics().out_of_memory == 1);
}

TEST_CASE("a block that another stream uses stays active until that stream is through",
          "[caching]") {
  CachingAllocator allocator(100_MiB, {});
  const auto a = take(allocator, 20_MiB);
  allocator.record_stream(a, kMain);  // its own stream: nothing to wait for
  allocator.record_stream(a, Stream::kCopyOut);
  allocator.free(a);
  CHECK(allocator.statistics().allocated == 0_B);
  CHECK(allocator.statistics().active == 20_MiB);
  const auto b = take(allocator, 20_MiB);  // not the pending block
  CHECK(allocator.statistics().reserved == 40_MiB);
  allocator.free(b);
  REQUIRE(allocator.events_recorded(Stream::kCopyOut) == 1);
  CHECK(allocator.events_recorded(kMain) == 0);
  allocator.complete_events(Stream::kCopyOut, 1);
  CHECK(allocator.statistics().active == 20_MiB);  // noticed by the next request
  take(allocator, 20_MiB);
  CHECK(allocator.statistics().active == 20_MiB);
  CHECK(allocator.statistics().reserved == 40_MiB);
}

TEST_CASE("a block waits for every stream that used it, in the order of each", "[caching]") {
  CachingAllocator allocator(1_GiB, {});
  const auto a = take(allocator, 20_MiB), b = take(allocator, 30_MiB);
  allocator.record_stream(a, Stream::kCopyIn);
  allocator.record_stream(a, Stream::kCopyOut);
  allocator.record_stream(b, Stream::kCopyOut);
  allocator.free(a);
  allocator.free(b);
  allocator.complete_events(Stream::kCopyIn, 1);
  take(allocator, 1_B);
  CHECK(allocator.statistics().active == 50_MiB + 512_B);
  allocator.complete_events(Stream::kCopyOut, 1);  // a's, the older one
  take(allocator, 1_B);
  CHECK(allocator.statistics().active == 30_MiB + 1_KiB);
}

TEST_CASE("before memory runs out all streams are waited for", "[caching]") {
  CachingAllocator allocator(30_MiB, {});
  const auto a = take(allocator, 20_MiB);
  allocator.record_stream(a, Stream::kCopyOut);
  allocator.free(a);
  take(allocator, 20_MiB);
  CHECK(allocator.caching_statistics().synchronizations == 1);
  CHECK(allocator.statistics().reserved == 20_MiB);
}

TEST_CASE("emptying the cache returns whole free segments only", "[caching]") {
  CachingAllocator allocator(1_GiB, {});
  take(allocator, 2_MiB);
  allocator.free(take(allocator, 30_MiB));
  allocator.free(take(allocator, 1_KiB));
  allocator.empty_cache();
  CHECK(allocator.statistics().reserved == 20_MiB);
  CHECK(allocator.statistics().driver_frees == 2);
  CHECK(allocator.statistics().retries == 0);
}

TEST_CASE("what is available can be had, and 2 MiB more cannot", "[caching]") {
  CachingAllocator allocator(101_MiB, {});
  take(allocator, 3_MiB);                   // 17 MiB are free in this segment
  allocator.free(take(allocator, 30_MiB));  // cached, whole
  CHECK(allocator.available() == 80_MiB);   // 81 MiB in all, in steps of 2 MiB
  CHECK_FALSE(allocator.allocate(82_MiB, kMain).has_value());
  CHECK(allocator.allocate(80_MiB, kMain).has_value());
  CHECK(allocator.available() == 17_MiB);
}

TEST_CASE("driver calls take time, cached blocks none", "[caching]") {
  CachingAllocator allocator(40_MiB, settings("segment_alloc_us:100,segment_free_us:30"));
  const auto first = allocator.allocate(20_MiB, kMain);
  CHECK(first->driver_time == 100_us);
  allocator.free(first->handle);
  CHECK(allocator.allocate(20_MiB, kMain)->driver_time == SimTime{});
  allocator.free(allocator.allocate(20_MiB, Stream::kCopyIn)->handle);
  // Refused once, one segment returned, tried again.
  CHECK(allocator.allocate(10_MiB, Stream::kCopyOut)->driver_time == 230_us);
  CHECK(allocator.statistics().driver_time == 430_us);
}

TEST_CASE("what was never handed out cannot be freed, nor anything twice", "[caching]") {
  CachingAllocator allocator(40_MiB, {});
  CHECK_THROWS_AS(allocator.free(1), InternalError);
  const auto a = take(allocator, 1_B);
  allocator.free(a);
  CHECK_THROWS_AS(allocator.free(a), InternalError);
}

TEST_CASE("a snapshot restores the allocator that made it", "[caching]") {
  CachingAllocator allocator(1_GiB, {});
  const auto a = take(allocator, 3_MiB);
  take(allocator, 5_MiB);
  take(allocator, 700_B);
  allocator.free(a);
  CachingAllocator again(1_GiB, {}, allocator.snapshot());
  CHECK(again.snapshot() == allocator.snapshot());
  CHECK(again.statistics().allocated == allocator.statistics().allocated);
  CHECK(again.statistics().reserved == 22_MiB);
  CHECK(again.statistics().inactive_split == allocator.statistics().inactive_split);
  CHECK(again.address_of(take(again, 2_MiB)) == allocator.address_of(take(allocator, 2_MiB)));
}

}  // namespace
}  // namespace tidemark::sim
