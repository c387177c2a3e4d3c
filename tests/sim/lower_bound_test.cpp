// No step beats its lower bound, and better hardware or more buffers never raise the bound. The
// step itself may get slower: those cases are listed here, each with its reason.

#include "graph/lower_bound.hpp"

#include <algorithm>
#include <cstdint>

#include "graph/critical_path.hpp"
#include "sim/executor.hpp"
#include "tests/support/offloaded_step.hpp"
#include "tests/support/plans.hpp"
#include "tests/support/program_builder.hpp"
#include "tests/support/random_program.hpp"

namespace tidemark::sim {
namespace {

constexpr std::uint32_t kPrograms = 2000;

Program with_link(Program program, std::size_t link, std::int64_t times) {
  program.links[link].capacity = program.links[link].capacity * times;
  return program;
}

TEST_CASE(
    "the bound is the longest chain where links are idle, a link's work where they are full") {
  // Chain: kernels of 300 ps, 10 us + 2 GB at 10 GB/s out, 28 GB at 100 GB/s, 10 us + 2 GB at
  // 20 GB/s in.
  test::Chain chain(1, 1'000'000'000);
  CHECK(step_lower_bound(plan(chain.graph, {}, test::on_host(4_GB), test::round_machine())) ==
        300_ps + 20_us + 580'000_us);
  // Seven of them in buckets of one, over a DRAM of 20 GB/s: 7 x (2 + 28 + 2) GB pass it. A chain
  // waits for the updates, 28 GB at 20 GB/s each, one after the other: 9.8 s and two copies.
  test::Chain seven(7, 1'000'000'000);
  Machine machine = test::round_machine();
  machine.host.bandwidth = 20_GBps;
  const Program program = plan(seven.graph, {}, test::on_host(2_GB), machine);
  CHECK(step_lower_bound(program) == 11'200'000_us);
  CHECK(critical_path(program).length < 11'200'000_us);
}

TEST_CASE("no program is played faster than its bound") {
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    INFO("seed " << seed);
    const Program program = test::random_program(seed, {.limited = seed % 2 == 0});
    const Result result = simulate(program);
    if (result.out_of_memory) continue;
    REQUIRE(result.end >= step_lower_bound(program));
  }
}

// Whether two transfers of the run were under way on one link at the same time.
bool shares_a_link(const Program& program, const Result& result) {
  const auto moving = [&](std::uint32_t i) { return program.instances[i].bytes.count > 0; };
  for (std::uint32_t a = 0; a < program.instances.size(); ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      if (!moving(a) || !moving(b)) continue;
      const auto begin = [&](std::uint32_t i) {
        return result.records[i].start + program.instances[i].fixed;
      };
      if (std::max(begin(a), begin(b)) >=
          std::min(result.records[a].finish, result.records[b].finish)) {
        continue;
      }
      const Path& first = program.paths[index(program.instances[a].path)];
      const Path& second = program.paths[index(program.instances[b].path)];
      for (std::size_t link = 0; link < kLinkCount; ++link) {
        if (first.weight[link] > 0 && second.weight[link] > 0) return true;
      }
    }
  }
  return false;
}

TEST_CASE("more bandwidth never raises the bound; a slower step shares a link") {
  int slower = 0;
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    INFO("seed " << seed);
    const Program program = test::random_program(seed, {.limited = false});
    const Result before = simulate(program);
    REQUIRE_FALSE(before.out_of_memory);
    const SimTime bound = step_lower_bound(program);
    for (std::size_t link = 0; link < program.links.size(); ++link) {
      const Program faster = with_link(program, link, 2);
      REQUIRE(step_lower_bound(faster) <= bound);
      const Result after = simulate(faster);
      if (after.end <= before.end) continue;
      ++slower;
      REQUIRE(shares_a_link(faster, after));
    }
  }
  CHECK(slower > 0);                    // the case is real,
  CHECK(slower < int{kPrograms} / 50);  // and rare
}

TEST_CASE("where no transfer shares a link, more bandwidth never makes a step slower") {
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    INFO("seed " << seed);
    Program program = test::random_program(seed, {.limited = false});
    test::Random random(seed);
    // All links too wide to be felt: the caps of the paths alone hold transfers back.
    for (Link& link : program.links) link.capacity = Bandwidth(std::int64_t{1} << 58);
    for (Path& path : program.paths) path.cap = Bandwidth(random.between(1, 9) * 100'000'000'000);
    const SimTime before = simulate(program).end;
    Path& path = program.paths[static_cast<std::size_t>(
        random.between(0, static_cast<std::int64_t>(program.paths.size()) - 1))];
    path.cap = path.cap * 2;
    REQUIRE(simulate(program).end <= before);
  }
}

// The anomaly at its smallest. T and Y cross DRAM, X only PCIe; K runs after T.
//   PCIe 1 B/ps                        PCIe 2 B/ps
//   copy_out   X XXXX XXXX | Y YYYY YYYY     X X X | Y Y Y Y Y Y Y
//   nvme_read  T TTTT TTTT                   T T T   t t t t         half of DRAM from 5 ps on
//   compute                | K KKKK KKKK                     | K K K K
TEST_CASE("a faster link lets a transfer start early that takes another link from an urgent one") {
  constexpr std::int64_t kByteAPicosecond = 1'000'000'000'000;
  const auto end = [](std::int64_t pcie) {
    test::ProgramBuilder builder;
    builder.link(LinkKind::kPcieD2h, Bandwidth(pcie * kByteAPicosecond));
    builder.link(LinkKind::kDram, Bandwidth(kByteAPicosecond));
    const PathId over_pcie = builder.path({{LinkKind::kPcieD2h, 1}});
    const PathId over_dram = builder.path({{LinkKind::kDram, 1}});
    builder.move(Stream::kCopyOut, over_pcie, 10_B);
    builder.move(Stream::kCopyOut, over_dram, 10_B);
    const InstanceId urgent = builder.move(Stream::kNvmeRead, over_dram, 10_B);
    builder.add(Stream::kCompute, 10_ps, {urgent});
    return simulate(builder.build()).end;
  };
  CHECK(end(1) == 20_ps);  // X to 10, Y to 20; T to 10, K to 20
  CHECK(end(2) == 25_ps);  // X to 5; T has 5 B left, shares DRAM with Y, ends at 15; K to 25
}

TEST_CASE("better hardware and more buffers never raise the bound of a training step") {
  test::Random random(11);
  for (int round = 0; round < 40; ++round) {
    LoweringInput input = support::gpt(1 + random.between(0, 2), 32, 2, 8, 1);
    input.model.vocab = 100;
    input.training.precision = Precision::kBf16Mixed;
    input.training.micro_batches = random.between(1, 3);
    Offload offload;
    do {
      offload.optimizer = static_cast<Offload::States>(random.between(0, 2));
      offload.update_on = static_cast<Offload::Processor>(random.between(0, 1));
      offload.gradients = static_cast<Offload::States>(random.between(0, 2));
      offload.accumulate_on = static_cast<Offload::Processor>(random.between(0, 1));
      offload.delayed_update = random.one_in(3);
      offload.overlap = !random.one_in(3);
      offload.fraction = random.one_in(3) ? 0.5 : 1;
      offload.gradients_leave = static_cast<Offload::GradientsLeave>(random.between(0, 1));
      offload.bucket = Bytes(random.between(2'000, 40'000));
      offload.buffers = random.between(1, 4);
    } while (!test::makes_sense(offload, input.training));
    INFO("round " << round << ": " << test::words(offload));
    Machine machine = test::round_machine();
    machine.pcie.both = Bandwidth(random.between(15, 30) * 1'000'000'000);
    machine.host.bandwidth = Bandwidth(random.between(10, 100) * 1'000'000'000);
    const auto bound = [&](const Offload& o, const Machine& m) {
      return step_lower_bound(test::offloaded_step(input, o, m).program);
    };
    const SimTime before = bound(offload, machine);
    const auto check = [&](const char* what, auto change) {
      INFO(what);
      Offload o = offload;
      Machine m = machine;
      change(o, m);
      CHECK(bound(o, m) <= before);
    };
    check("PCIe", [](Offload&, Machine& m) {
      m.pcie.h2d = m.pcie.h2d * 2, m.pcie.d2h = m.pcie.d2h * 2, m.pcie.both = m.pcie.both * 2;
    });
    check("DRAM", [](Offload&, Machine& m) { m.host.bandwidth = m.host.bandwidth * 2; });
    check("CPU", [](Offload&, Machine& m) { m.host.cpu_optimizer = m.host.cpu_optimizer * 2; });
    check("drives", [](Offload&, Machine& m) { m.ssd.drives *= 2; });
    check("HBM", [](Offload&, Machine& m) { m.gpu.bandwidth = m.gpu.bandwidth * 2; });
    check("buffers", [](Offload& o, Machine&) { ++o.buffers; });
  }
}

}  // namespace
}  // namespace tidemark::sim
