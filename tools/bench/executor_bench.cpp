// A whole run with full recording: records, memory events and stalls.
//
// Seven streams, two thirds of the instances on compute; three dependencies each on recent
// instances; one in eight is a transfer over the five-link network; each makes one buffer and uses
// two others of the last twenty.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "sim/executor.hpp"
#include "tools/bench/random_sizes.hpp"

namespace tidemark::sim {
namespace {

using namespace tidemark::literals;

std::vector<Path> six_paths() {
  const auto over = [](LinkKind first, LinkKind second) {
    Path path;
    path.weight[static_cast<std::size_t>(first)] = 1;
    path.weight[static_cast<std::size_t>(second)] = 1;
    return path;
  };
  return {over(LinkKind::kPcieH2d, LinkKind::kDram),
          over(LinkKind::kPcieD2h, LinkKind::kDram),
          over(LinkKind::kDram, LinkKind::kNvmeWrite),
          over(LinkKind::kDram, LinkKind::kNvmeRead),
          over(LinkKind::kPcieD2h, LinkKind::kNvmeWrite),
          over(LinkKind::kPcieH2d, LinkKind::kNvmeRead)};
}

Program synthetic_step(std::uint32_t count) {
  Program program;
  program.links = {{LinkKind::kPcieH2d, 26_GBps},
                   {LinkKind::kPcieD2h, 26_GBps},
                   {LinkKind::kDram, 40_GBps},
                   {LinkKind::kNvmeRead, 7_GBps},
                   {LinkKind::kNvmeWrite, 5_GBps}};
  program.paths = six_paths();
  program.capacity.fill(Bytes(std::int64_t{1} << 50));
  program.instances.reserve(count);
  program.buffers.reserve(count);
  program.dependency.reserve(3 * count);
  program.use.reserve(3 * count);
  program.first_dependency.assign(1, 0);
  program.first_use.assign(1, 0);
  std::uint64_t state = 7;
  const auto below = [&](std::uint64_t n) {
    return static_cast<std::uint32_t>(bench::next_random(state) % n);
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    Instance instance;
    const std::uint32_t kind = below(100);
    instance.fixed = SimTime(static_cast<std::int64_t>(1'000'000 + below(30'000'000)));
    if (kind < 12) {
      instance.path = PathId{below(6)};
      instance.bytes = Bytes(1'000'000 + below(8'000'000));
      instance.fixed = 10_us;
      instance.stream = static_cast<Stream>(1 + index(instance.path) % 6);
    } else if (kind < 33) {
      instance.stream = static_cast<Stream>(1 + below(6));
    }
    program.instances.push_back(instance);
    program.order[static_cast<std::size_t>(instance.stream)].push_back(InstanceId{i});
    program.buffers.push_back({Bytes(1 + below(1 << 20)), static_cast<Tier>(below(3)),
                               static_cast<Category>(below(kCategoryCount))});
    for (std::uint32_t d = 0, back = 0; d < 3 && back < i; ++d) {
      back = std::min(i, back + 1 + below(8));
      program.dependency.push_back(InstanceId{i - back});
    }
    program.use.push_back(BufferId{i});
    for (std::uint32_t u = 0, back = 0; u < 2 && back < i; ++u) {
      back = std::min(i, back + 1 + below(10));
      program.use.push_back(BufferId{i - back});
    }
    program.first_dependency.push_back(static_cast<std::uint32_t>(program.dependency.size()));
    program.first_use.push_back(static_cast<std::uint32_t>(program.use.size()));
  }
  return program;
}

void run_step(benchmark::State& state) {
  const auto count = static_cast<std::uint32_t>(state.range(0));
  const Program program = synthetic_step(count);
  for (auto _ : state) {
    Result result = simulate(program);
    if (result.out_of_memory) state.SkipWithError("the step should fit");
    benchmark::DoNotOptimize(result);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);  // the whole process, program included; run one size at a time
  state.counters["resident_B_per_op"] = static_cast<double>(usage.ru_maxrss) * 1024 / count;
}
BENCHMARK(run_step)->Arg(20'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tidemark::sim
