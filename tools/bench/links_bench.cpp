// K transfers always in flight: each completion starts the next one.

#include <benchmark/benchmark.h>

#include "sim/links.hpp"
#include "tools/bench/random_sizes.hpp"

namespace tidemark::sim {
namespace {

using namespace tidemark::literals;

void keep_in_flight(benchmark::State& state, const std::vector<Link>& links,
                    const std::vector<Path>& paths) {
  const std::vector<std::int64_t> sizes = bench::exponential(1 << 16, 64e6);
  LinkNetwork network(links, paths);
  std::uint32_t started = 0;
  const auto start = [&](SimTime now) {
    const auto path = static_cast<std::uint32_t>(started * 2654435761u % paths.size());
    network.start(now, PathId{path}, Bytes(sizes[started & 0xffff]), started);
    ++started;
  };
  for (std::int64_t k = 0; k < state.range(0); ++k) start(SimTime(0));
  std::vector<std::uint32_t> done;
  std::int64_t completions = 0;
  for (auto _ : state) {
    const SimTime now = *network.next_completion();
    done.clear();
    network.finish(now, done);
    for (std::size_t i = 0; i < done.size(); ++i) start(now);
    completions += static_cast<std::int64_t>(done.size());
  }
  state.SetItemsProcessed(completions);
}

Path over(LinkKind first, LinkKind second) {
  Path path;
  path.weight[static_cast<std::size_t>(first)] = 1;
  path.weight[static_cast<std::size_t>(second)] = 1;
  return path;
}

void one_link(benchmark::State& state) {
  keep_in_flight(state, {{LinkKind::kPcieH2d, 26_GBps}},
                 {over(LinkKind::kPcieH2d, LinkKind::kPcieH2d)});
}

// PCIe both ways, DRAM and an SSD: all six ways between HBM, host and SSD.
void five_links(benchmark::State& state) {
  keep_in_flight(
      state,
      {{LinkKind::kPcieH2d, 26_GBps},
       {LinkKind::kPcieD2h, 26_GBps},
       {LinkKind::kDram, 40_GBps},
       {LinkKind::kNvmeRead, 7_GBps},
       {LinkKind::kNvmeWrite, 5_GBps}},
      {over(LinkKind::kPcieH2d, LinkKind::kDram), over(LinkKind::kPcieD2h, LinkKind::kDram),
       over(LinkKind::kDram, LinkKind::kNvmeWrite), over(LinkKind::kDram, LinkKind::kNvmeRead),
       over(LinkKind::kPcieD2h, LinkKind::kNvmeWrite),
       over(LinkKind::kPcieH2d, LinkKind::kNvmeRead)});
}

BENCHMARK(one_link)->Arg(4)->Arg(100)->Arg(1'000);
BENCHMARK(five_links)->Arg(4)->Arg(100)->Arg(1'000);

}  // namespace
}  // namespace tidemark::sim
