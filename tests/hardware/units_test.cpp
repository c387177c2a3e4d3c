#include "hardware/units.hpp"

#include <cstdint>
#include <limits>

#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

TEST_CASE("quantities add, subtract, scale and compare") {
  Bytes bytes(5);
  bytes += Bytes(7);
  bytes -= Bytes(2);
  CHECK(bytes == Bytes(10));
  CHECK(Bytes(3) + Bytes(4) == Bytes(7));
  CHECK(Bytes(3) - Bytes(4) == Bytes(-1));
  CHECK(3 * Bytes(4) == Bytes(12));
  CHECK(Bytes(4) * 3 == Bytes(12));
  CHECK(Bytes(3) < Bytes(4));
  CHECK(1_GiB > 1_GB);
  CHECK(2_KiB == 2048_B);
}

TEST_CASE("a time at a rate is rounded up to a whole picosecond") {
  CHECK(time_at_rate(0, 26) == SimTime(0));
  CHECK(time_at_rate(26'000'000'000, 26'000'000'000) == SimTime(1'000'000'000'000));  // 1 s
  // 1 byte at 26 GB/s: 38.46 ps. 13 bytes: exactly 500 ps. 14 bytes: 538.46 ps.
  CHECK(time_at_rate(1, 26'000'000'000) == SimTime(39));
  CHECK(time_at_rate(13, 26'000'000'000) == SimTime(500));
  CHECK(time_at_rate(14, 26'000'000'000) == SimTime(539));
}

TEST_CASE("a time that no 64-bit integer holds becomes the longest one") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(time_at_rate(most, 1) == SimTime(most / 4));
  CHECK(time_at_rate(2'305'843, 1) == SimTime(2'305'843'000'000'000'000));  // just below most / 4
  CHECK(time_at_rate(2'305'844, 1) == SimTime(most / 4));
}

TEST_CASE("picoseconds convert to seconds") { CHECK(seconds(5_us) == Approx(5e-6)); }

}  // namespace
}  // namespace tidemark
