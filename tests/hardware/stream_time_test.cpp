#include "hardware/stream_time.hpp"

#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

// 2000 GB/s, half of it achieved: 1 byte a picosecond; 1 us of ramp.
Gpu gpu() {
  Gpu gpu{};
  gpu.bandwidth = 2000_GBps;
  gpu.stream_efficiency = 0.5;
  gpu.stream_ramp = 1_us;
  return gpu;
}

TEST_CASE("small streams run at half the bandwidth, up to what the ramp would have moved") {
  CHECK(stream_time(gpu(), Bytes(0)) == 0_ps);
  CHECK(stream_time(gpu(), Bytes(1)) == 2_ps);
  CHECK(stream_time(gpu(), Bytes(999'999)) == SimTime(1'999'998));
  CHECK(stream_time(gpu(), Bytes(1'000'000)) == SimTime(2'000'000));
  CHECK(stream_time(gpu(), Bytes(1'000'001)) == SimTime(2'000'001));
}

TEST_CASE("large streams pay the ramp once") {
  CHECK(stream_time(gpu(), Bytes(1'000'000'000)) == 1000_us + 1_us);
}

TEST_CASE("strided streams have a share of the bandwidth of their own") {
  Gpu strided = gpu();
  strided.strided_efficiency = 0.25;
  strided.stream_ramp = 0_us;
  CHECK(stream_time(strided, Bytes(1000), true) == 2000_ps);
  CHECK(stream_time(strided, Bytes(1000), false) == 1000_ps);
}

TEST_CASE("without bandwidth there is no stream") {
  Gpu broken = gpu();
  broken.bandwidth = Bandwidth(0);
  CHECK_THROWS_AS(stream_time(broken, Bytes(1)), InternalError);
}

}  // namespace
}  // namespace tidemark
