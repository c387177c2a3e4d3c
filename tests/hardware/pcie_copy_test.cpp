#include "hardware/pcie_copy.hpp"

#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

Pcie link() {
  Pcie pcie{};
  pcie.h2d = 24_GBps;
  pcie.d2h = 20_GBps;
  pcie.both = 33_GBps;
  pcie.latency = 8_us;
  return pcie;
}

TEST_CASE("a GPU alone has the link's own rates") {
  const PcieRates rates = pcie_rates(link());
  CHECK(rates.h2d == 24_GBps);
  CHECK(rates.d2h == 20_GBps);
  CHECK(rates.both == 33_GBps);
}

TEST_CASE("GPUs behind one switch divide its uplink while all copy") {
  Pcie pcie = link();
  pcie.gpus_on_switch = 4;  // an uplink like the link: 6 + 5 of 33 / 4
  PcieRates rates = pcie_rates(pcie);
  CHECK(rates.h2d == 6_GBps);
  CHECK(rates.d2h == 5_GBps);
  CHECK(rates.both == Bandwidth(8'250'000'000));
  pcie.uplink = 88_GBps;  // 22 for each: less than 24 in, more than 20 out
  rates = pcie_rates(pcie);
  CHECK(rates.h2d == 22_GBps);
  CHECK(rates.d2h == 20_GBps);
  CHECK(rates.both == Bandwidth(31'500'000'000));  // 33 x 42 / 44
  pcie.uplink = 400_GBps;                          // never more than the link
  CHECK(pcie_rates(pcie).h2d == 24_GBps);
  CHECK(pcie_rates(pcie).both == 33_GBps);
}

TEST_CASE("four GPUs of a DGX-2 behind one uplink have a quarter of it each") {
  // ZeRO-Infinity, SC21, figure 2b (recalled): 3.0 GB/s a GPU from the CPU with all 16 in parallel,
  // of about 12 GB/s for one alone.
  Pcie pcie = link();
  pcie.h2d = 12_GBps;
  pcie.gpus_on_switch = 4;
  CHECK(pcie_rates(pcie).h2d == 3_GBps);
}

TEST_CASE("memory of the other socket has the rates stated for it") {
  Pcie pcie = link();
  pcie.remote_h2d = 8_GBps;
  pcie.remote_d2h = 3_GBps;
  CHECK(pcie_rates(pcie).h2d == 24_GBps);
  pcie.numa = Numa::kRemote;
  const PcieRates rates = pcie_rates(pcie);
  CHECK(rates.h2d == 8_GBps);
  CHECK(rates.d2h == 3_GBps);
  CHECK(rates.both == Bandwidth(8'250'000'000));  // 33 x 11 / 44
  pcie.gpus_on_switch = 4;                        // 6 + 5: slower than remote memory into the GPU
  CHECK(pcie_rates(pcie).h2d == 6_GBps);
  CHECK(pcie_rates(pcie).d2h == 3_GBps);
}

TEST_CASE("a copy of the half size takes twice its bytes over the rate, after the latency") {
  Pcie pcie = link();
  pcie.half_size = Bytes(1'200'000);  // 50 us at 24 GB/s
  const SimTime overhead = copy_overhead(pcie, pcie.h2d);
  CHECK(overhead == 8_us + 50_us);
  CHECK(overhead - pcie.latency == time_at_rate(1'200'000, pcie.h2d.count));
  CHECK(copy_overhead(link(), 24_GBps) == 8_us);
}

TEST_CASE("copies take longer when they are larger, and never when the link is faster") {
  Pcie slow = link(), fast = link();
  slow.half_size = fast.half_size = 256_KiB;
  fast.h2d = 25_GBps;
  const auto time = [](const Pcie& pcie, std::int64_t bytes) {
    return copy_overhead(pcie, pcie.h2d) + time_at_rate(bytes, pcie.h2d.count);
  };
  SimTime before{};
  for (std::int64_t bytes = 1; bytes < std::int64_t{1} << 40; bytes *= 3) {
    CHECK(time(slow, bytes) > before);
    CHECK(time(fast, bytes) < time(slow, bytes));
    before = time(slow, bytes);
  }
}

TEST_CASE("directions that are alike compete as equals, others by their part of the total") {
  Pcie pcie = link();
  PcieShares shares = pcie_shares(pcie);
  CHECK(shares.h2d == 1);
  CHECK(shares.d2h == 1);
  CHECK(shares.other == 1);
  pcie.h2d_share = 11.0 / 35;  // of 128 parts 40.2 and 87.8
  shares = pcie_shares(pcie);
  CHECK(shares.h2d == 40);
  CHECK(shares.d2h == 88);
  CHECK(shares.other == 64);
  pcie.h2d_share = 0.001;  // nobody starves
  CHECK(pcie_shares(pcie).h2d == 1);
  CHECK(pcie_shares(pcie).d2h == 127);
}

TEST_CASE("the first piece of a pageable copy is copied before the GPU starts") {
  Host host{};
  host.copy = 2_GBps;
  CHECK(first_piece(host) == time_at_rate(kPageablePiece.count, 2'000'000'000));
  host.copy = {};
  CHECK(first_piece(host) == SimTime(0));
}

}  // namespace
}  // namespace tidemark
