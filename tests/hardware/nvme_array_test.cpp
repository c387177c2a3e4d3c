#include "hardware/nvme_array.hpp"

#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

Ssd drive() {
  Ssd ssd{};
  ssd.read = 7_GBps;
  ssd.write = 5_GBps;
  ssd.latency = 80_us;
  ssd.cache = WriteCache::kFull;
  return ssd;
}

TEST_CASE("striped drives multiply their bandwidth") {
  Ssd ssd = drive();
  ssd.drives = 3;
  CHECK(nvme_rates(ssd).read == 21_GBps);
  CHECK(nvme_rates(ssd).write == 15_GBps);
  CHECK(nvme_rates(ssd).both == 36_GBps);
}

TEST_CASE("writes run at the sustained speed once the cache is full, and reads do not change") {
  Ssd ssd = drive();
  ssd.drives = 2;
  ssd.sustained = 2_GBps;
  CHECK(nvme_rates(ssd).write == 4_GBps);
  CHECK(nvme_rates(ssd).read == 14_GBps);
  CHECK(nvme_rates(ssd).both == 18_GBps);
  ssd.cache = WriteCache::kEmpty;
  CHECK(nvme_rates(ssd).write == 10_GBps);
  ssd.cache = WriteCache::kFull;
  ssd.sustained = 6_GBps;  // never faster than the rating
  CHECK(nvme_rates(ssd).write == 10_GBps);
}

TEST_CASE("reads and writes at once carry no more than the total, nor than their sum") {
  Ssd ssd = drive();
  ssd.both = 9_GBps;
  CHECK(nvme_rates(ssd).both == 9_GBps);
  ssd.both = 20_GBps;
  CHECK(nvme_rates(ssd).both == 12_GBps);
}

TEST_CASE("requests in flight carry their bytes once a latency, up to the rating") {
  Ssd ssd = drive();
  CHECK(request_cap(ssd, 7_GBps) == 0_GBps);  // no size stated: no bound
  ssd.request = Bytes(4000);
  ssd.in_flight = 32;  // 128,000 B in 80 us are 1.6 GB/s
  CHECK(request_cap(ssd, 7_GBps) == Bandwidth(1'600'000'000));
  ssd.in_flight = 64;
  CHECK(request_cap(ssd, 7_GBps) == Bandwidth(3'200'000'000));
  ssd.in_flight = 139;  // 6.95 GB/s
  CHECK(request_cap(ssd, 7_GBps) == Bandwidth(6'950'000'000));
  ssd.in_flight = 140;  // 7 GB/s: the drive is the limit
  CHECK(request_cap(ssd, 7_GBps) == 0_GBps);
}

TEST_CASE("drives last as many steps as their rating holds, and more drives last longer") {
  Ssd ssd = drive();
  ssd.endurance = Bytes(1'200'000'000'000'000);  // 1200 TB
  // 84 GB a step: 14,285.7 steps of 10 s are 1.653 days.
  const SimTime step(10'000'000'000'000);
  CHECK(days_to_rated_writes(ssd, 84_GB, step) == Approx(1.2e15 / 84e9 * 10 / 86400));
  ssd.drives = 4;
  CHECK(days_to_rated_writes(ssd, 84_GB, step) == Approx(4 * 1.2e15 / 84e9 * 10 / 86400));
  CHECK(days_to_rated_writes(ssd, 0_B, step) == 0);
  ssd.endurance = {};
  CHECK(days_to_rated_writes(ssd, 84_GB, step) == 0);
}

// DeepSpeed blogs/deepnvme/06-2025, Azure ND-H200-v5, Gen5 drives, HBM <-> NVMe: 27 and 11 GB/s
// over four drives, 48 and 26 over eight. A drive's figures come from the four; the eight test
// them. A stripe of eight reads 11 % less and writes 18 % more than twice the four: real arrays are
// not quite linear, and the model is.
TEST_CASE("eight drives read and write about twice what four did") {
  Ssd ssd = drive();
  ssd.read = Bandwidth(27'000'000'000 / 4);
  ssd.write = Bandwidth(11'000'000'000 / 4);
  ssd.drives = 8;
  CHECK(static_cast<double>(nvme_rates(ssd).read.count) == Approx(48e9).epsilon(0.13));
  CHECK(static_cast<double>(nvme_rates(ssd).write.count) == Approx(26e9).epsilon(0.16));
}

}  // namespace
}  // namespace tidemark
