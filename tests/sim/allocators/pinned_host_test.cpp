#include "sim/allocators/pinned_host.hpp"

#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::sim {
namespace {

TEST_CASE("pinned memory is rounded up to a power of two", "[pinned]") {
  const auto reserved = [](Bytes bytes) {
    PinnedHostAllocator allocator(1000_GiB);
    REQUIRE(allocator.allocate(bytes, Stream::kCopyOut).has_value());
    return allocator.statistics().reserved;
  };
  CHECK(reserved(0_B) == 0_B);
  CHECK(reserved(1_B) == 1_B);
  CHECK(reserved(5_B) == 8_B);
  CHECK(reserved(4_KiB) == 4_KiB);
  CHECK(reserved(4_KiB + 1_B) == 8_KiB);
  CHECK(reserved(17_GiB) == 32_GiB);
}

TEST_CASE("a pinned block serves its own class only", "[pinned]") {
  PinnedHostAllocator allocator(1_GiB);
  const auto a = allocator.allocate(100_MiB, Stream::kCopyOut);
  CHECK(a->driver_time > SimTime{});
  allocator.free(a->handle);
  CHECK(allocator.allocate(64_MiB, Stream::kCopyOut)->driver_time > SimTime{});
  CHECK(allocator.statistics().reserved == 192_MiB);
  const auto again = allocator.allocate(65_MiB, Stream::kCopyIn);  // of 128 MiB, any stream
  CHECK(again->driver_time == SimTime{});
  CHECK(again->handle == a->handle);
  CHECK(allocator.statistics().driver_allocations == 2);
}

TEST_CASE("page-locking takes time in proportion to the rounded size", "[pinned]") {
  PinnedHostAllocator allocator(1_GiB, {.page_lock = 1_GBps});
  CHECK(allocator.allocate(Bytes(1'000'000), Stream::kCopyIn)->driver_time ==
        SimTime(std::int64_t{1'048'576} * 1000));  // 2^20 B at 1 B/ns
}

TEST_CASE("a pinned block waits for the copies that use it", "[pinned]") {
  PinnedHostAllocator allocator(1_GiB);
  const auto a = allocator.allocate(1_MiB, Stream::kCopyOut);
  allocator.record_stream(a->handle, Stream::kCopyOut);  // its own stream counts too
  allocator.free(a->handle);
  CHECK(allocator.statistics().allocated == 0_B);
  CHECK(allocator.statistics().active == 1_MiB);
  CHECK(allocator.allocate(1_MiB, Stream::kCopyOut)->handle != a->handle);
  allocator.complete_events(Stream::kCopyOut, 1);
  CHECK(allocator.allocate(1_MiB, Stream::kCopyOut)->handle == a->handle);
}

TEST_CASE("pinned memory goes back only when the cache is emptied", "[pinned]") {
  PinnedHostAllocator allocator(3_MiB);
  allocator.free(allocator.allocate(2_MiB, Stream::kCopyOut)->handle);
  CHECK(allocator.available() == 2_MiB);
  const auto b = allocator.allocate(1_MiB, Stream::kCopyOut);
  CHECK_FALSE(allocator.allocate(512_KiB, Stream::kCopyOut).has_value());  // 2 MiB lie idle
  CHECK(allocator.last_failure()->tried == 512_KiB);
  CHECK(allocator.last_failure()->reserved_unallocated == 2_MiB);
  allocator.empty_cache();
  CHECK(allocator.statistics().reserved == 1_MiB);
  CHECK(allocator.allocate(512_KiB, Stream::kCopyOut).has_value());
  allocator.free(b->handle);
  CHECK_THROWS_AS(allocator.free(b->handle), InternalError);
}

}  // namespace
}  // namespace tidemark::sim
