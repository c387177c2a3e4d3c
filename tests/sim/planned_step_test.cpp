// Plans played by the executor: what the structure of a plan is for.

#include <random>

#include "graph/critical_path.hpp"
#include "graph/plan.hpp"
#include "sim/account.hpp"
#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plans.hpp"

namespace tidemark::sim {
namespace {

using test::Chain;
using test::on_host;
using test::on_ssd;

constexpr std::int64_t kGiga = 1'000'000'000;

const TierAccount& tier(const Account& account, Tier which) {
  return account.tiers[static_cast<std::size_t>(which)];
}

Bytes moved(const Result& result, LinkKind link) {
  return result.moved[static_cast<std::size_t>(link)];
}

TEST_CASE("a bucket's way over the host takes its copies and its update, one after the other") {
  // 10^9 parameters. Kernels 300 ps; out 10 us + 2 GB at 10 GB/s; update 28 GB at 100 GB/s; back
  // 10 us + 2 GB at 20 GB/s: 0.2 + 0.28 + 0.1 s.
  Chain chain(1, kGiga);
  const Program program = plan(chain.graph, {}, on_host(4_GB), test::round_machine());
  const Result result = simulate(program);
  CHECK(result.end == 300_ps + 20_us + 580'000_us);
  CHECK(result.end == critical_path(program).length);
}

TEST_CASE("the SSD's way is as long as its reads and writes, and two drives halve them") {
  // Read 100 us + 12 GB at 4 GB/s = 3 s, beside which the gradients arrive; update 0.28 s; write
  // 100 us + 12 GB at 2 GB/s = 6 s, beside which the parameters go back.
  Machine machine = test::round_machine();
  Chain one(1, kGiga);
  CHECK(simulate(plan(one.graph, {}, on_ssd(4_GB, 3), machine)).end == 200_us + 9'280'000_us);
  machine.ssd.drives = 2;
  Chain two(1, kGiga);
  CHECK(simulate(plan(two.graph, {}, on_ssd(4_GB, 3), machine)).end == 200_us + 4'780'000_us);
}

TEST_CASE("buckets overlap: the copies of one run beside the update of another") {
  // Two buckets. Out 0.2, 0.2; update 0.28 each, from 0.2 on: the second begins at 0.48, ends at
  // 0.76; its parameters are back at 0.86 s, not after twice 0.58. Latencies: the first copy out
  // and the last copy in; kernels up to the first gradient: 2 x 100 + 200 ps. DRAM of 1 TB/s
  // slows nobody; the CPU's arithmetic holds the update to 100 GB/s.
  Chain chain(2, kGiga);
  Machine machine = test::round_machine();
  machine.host.bandwidth = 1000_GBps;
  machine.host.cpu_optimizer = FlopRate(15 * kGiga * 100 / 28);
  const Program program = plan(chain.graph, {}, on_host(2_GB), machine);
  const Result result = simulate(program);
  CHECK(result.end >= critical_path(program).length);
  CHECK(seconds(result.end) == Approx(0.86 + 20e-6).epsilon(1e-9));
}

TEST_CASE("gradients that left are gone from HBM at the end of the step, and others are not") {
  Chain chain(4, kGiga);  // weights 8 GB, gradients 8 GB
  const Program stays = plan(chain.graph, {}, {}, test::round_machine());
  CHECK(tier(account(stays, simulate(stays)), Tier::kHbm).end.total == 16_GB);
  Chain leaving(4, kGiga);
  const Program leaves = plan(leaving.graph, {}, on_host(2_GB), test::round_machine());
  CHECK(tier(account(leaves, simulate(leaves)), Tier::kHbm).end.total == 8_GB);
}

TEST_CASE("gradients leave beside backward, so that fewer are alive at once than when they wait") {
  // Each backward op takes 0.5 s and its gradient of 2 GB 0.2 s to leave: one at a time is there.
  const auto peak = [](Offload::GradientsLeave when) {
    Chain chain(4, kGiga);
    for (const OpId op : chain.ready) {
      chain.graph.ops[index(op)].bytes_read = 500_GB;
    }
    Offload offload = on_host(2_GB);
    offload.gradients_leave = when;
    const Program program = plan(chain.graph, {}, offload, test::round_machine());
    return tier(account(program, simulate(program)), Tier::kHbm).peak.level.total;
  };
  CHECK(peak(Offload::GradientsLeave::kDuringBackward) ==
        8_GB + 2 * 2_GB);  // leaving, and being made
  CHECK(peak(Offload::GradientsLeave::kAfterBackward) == 8_GB + 4 * 2_GB);
}

TEST_CASE("every plan keeps the laws of traffic, memory and the critical path") {
  std::mt19937 random(5);
  const auto below = [&](std::int64_t n) { return std::int64_t(random() % std::uint64_t(n)); };
  for (int round = 0; round < 300; ++round) {
    const std::int64_t count = 1 + below(9);
    const std::int64_t elements = 1 + below(1'000'000);
    Chain chain(static_cast<std::size_t>(count), elements);
    for (Op& op : chain.graph.ops) op.bytes_read = Bytes(below(100'000'000));
    Offload offload;
    offload.optimizer = static_cast<Offload::States>(below(3));
    offload.gradients_leave = static_cast<Offload::GradientsLeave>(below(2));
    offload.bucket = Bytes(1 + below(4 * elements * 2));
    offload.buffers = 1 + below(4);
    Machine machine = test::round_machine();
    machine.pcie.both = Bandwidth(kGiga * (11 + below(25)));
    machine.host.bandwidth = Bandwidth(kGiga * (5 + below(100)));
    const Program program = plan(chain.graph, {}, offload, machine);
    const Result result = simulate(program);
    REQUIRE_FALSE(result.out_of_memory);
    REQUIRE(result.end >= critical_path(program).length);

    const bool away = offload.optimizer != Offload::States::kGpu;
    const bool ssd = offload.optimizer == Offload::States::kSsd;
    const std::int64_t parameters = count * elements;
    REQUIRE(moved(result, LinkKind::kPcieD2h) == Bytes(away ? 2 * parameters : 0));
    REQUIRE(moved(result, LinkKind::kPcieH2d) == Bytes(away ? 2 * parameters : 0));
    REQUIRE(moved(result, LinkKind::kNvmeRead) == Bytes(ssd ? 12 * parameters : 0));
    REQUIRE(moved(result, LinkKind::kNvmeWrite) == Bytes(ssd ? 12 * parameters : 0));
    REQUIRE(moved(result, LinkKind::kDram) ==
            Bytes((away ? 32 * parameters : 0) + (ssd ? 24 * parameters : 0)));

    const Account sums = account(program, result);
    for (const Tier which : {Tier::kHost, Tier::kSsd}) {
      REQUIRE(tier(sums, which).end.total == tier(sums, which).start.total);
    }
    REQUIRE(tier(sums, Tier::kHbm).start.total == Bytes(2 * parameters));
    REQUIRE(tier(sums, Tier::kHbm).end.total == Bytes((away ? 2 : 4) * parameters));
  }
}

}  // namespace
}  // namespace tidemark::sim
