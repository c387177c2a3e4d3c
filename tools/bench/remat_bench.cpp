// Speed of the planners of checkpoint placement on steps of many equal or different blocks.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "graph/remat/dtr.hpp"
#include "graph/remat/layered.hpp"
#include "graph/remat/optimal.hpp"
#include "graph/remat/plan.hpp"
#include "graph/remat/referee.hpp"
#include "tools/bench/heap_peak.hpp"

namespace tidemark::remat {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Blocks of 19 forward ops: two branches of a norm, three products, a core and a product, each op
// reading the one before, with two sums with the block's input and middle; sizes as in a layer of
// hidden size 4096. Where `different`, no two blocks have the same sizes and times.
class Blocks {
 public:
  Blocks(std::uint32_t count, bool different) {
    TensorIndex x = tensor(16);
    problem_.add_op({.recomputable = false}, {}, std::vector{x});
    std::vector<std::vector<TensorIndex>> made;
    for (std::uint32_t block = 0; block < count; ++block) {
      made.push_back({x});
      const std::int64_t extra = different ? block : 0;
      for (std::uint32_t i = 0; i < 19; ++i) {
        std::vector<TensorIndex> in = {made.back().back()};
        if (i == 9 || i == 18) in.push_back(made.back()[i == 9 ? 0 : 10]);
        // A few KiB more, so that bytes have no large common unit.
        made.back().push_back(tensor((i % 3 == 1 ? 48 : 16) + extra, 1 + i));
        problem_.add_op({.cost = 300'000 * (1 + i % 4) + extra, .block = block}, in,
                        std::vector{made.back().back()});
      }
      x = made.back().back();
    }
    TensorIndex gradient = tensor(16);
    problem_.add_op({.backward = true}, std::vector{x}, std::vector{gradient});
    for (std::uint32_t block = count; block-- > 0;) {
      for (std::uint32_t i = 19; i-- > 0;) {
        const TensorIndex next = tensor(16);
        problem_.add_op({.cost = 600'000 * (1 + i % 4), .backward = true, .block = block},
                        std::vector{made[block][i], gradient}, std::vector{next});
        gradient = next;
      }
    }
  }

  const Problem& problem() const { return problem_; }

 private:
  TensorIndex tensor(std::int64_t mebibytes, std::int64_t kibibytes = 0) {
    return problem_.add_tensor(mebibytes * kMiB + kibibytes * 1024);
  }

  Problem problem_;
};

// A share of what keeping everything takes.
std::int64_t budget_of(const Problem& problem, double share) {
  const std::int64_t peak = referee(problem, keep_everything(problem)).peak;
  return static_cast<std::int64_t>(share * static_cast<double>(peak));
}

// The time of `plan`, and its heap at most.
template <class Plan>
void measure(benchmark::State& state, const Plan& plan) {
  for (auto _ : state) benchmark::DoNotOptimize(plan());
  state.counters["MB"] = bench::heap_peak([&] { benchmark::DoNotOptimize(plan()); }) / 1e6;
}

void fronts_and_models(benchmark::State& state) {
  const Blocks blocks(32, false);
  const Chain chain = chain_of_blocks(blocks.problem()).value();
  measure(state, [&] { return model_of(blocks.problem(), chain); });
}
BENCHMARK(fronts_and_models)->Unit(benchmark::kMillisecond);

void layered_levels(benchmark::State& state) {
  const Blocks blocks(32, false);
  const ChainModel model = model_of(blocks.problem(), chain_of_blocks(blocks.problem()).value());
  const std::int64_t budget = budget_of(blocks.problem(), 0.4);
  const auto levels = static_cast<std::size_t>(state.range(0));
  measure(state, [&] { return layered(model, budget, levels); });
  state.counters["options"] = static_cast<double>(model.of(1).options.size());
}
BENCHMARK(layered_levels)->Arg(4096)->Unit(benchmark::kMillisecond);

void layered_on_the_hull(benchmark::State& state) {
  const Blocks blocks(32, false);
  const ChainModel model = model_of(blocks.problem(), chain_of_blocks(blocks.problem()).value());
  const std::int64_t budget = budget_of(blocks.problem(), 0.4);
  measure(state, [&] { return layered_greedy(model, budget); });
}
BENCHMARK(layered_on_the_hull)->Unit(benchmark::kMicrosecond);

void rotor_stages(benchmark::State& state, bool different) {
  const Blocks blocks(static_cast<std::uint32_t>(state.range(0)), different);
  const Problem& problem = blocks.problem();
  const RotorInput input = rotor_input(problem, chain_of_blocks(problem).value());
  const std::int64_t budget = budget_of(problem, 0.3);
  measure(state, [&] { return rotor(problem, input, budget, 500); });
}
BENCHMARK_CAPTURE(rotor_stages, equal, false)->Arg(32)->Arg(96)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rotor_stages, different, true)->Arg(96)->Unit(benchmark::kMillisecond);

void bound(benchmark::State& state) {
  const Blocks blocks(32, false);
  const CutBound cut(blocks.problem(), chain_of_blocks(blocks.problem()).value());
  const std::int64_t budget = budget_of(blocks.problem(), 0.4);
  measure(state, [&] { return cut(budget); });
}
BENCHMARK(bound)->Unit(benchmark::kMillisecond);

void optimal(benchmark::State& state) {
  const Blocks blocks(32, false);
  const OptimalPlanner planner(blocks.problem(), chain_of_blocks(blocks.problem()).value());
  const std::int64_t budget = budget_of(blocks.problem(), 0.4);
  measure(state, [&] { return planner.plan(budget); });
}
BENCHMARK(optimal)->Unit(benchmark::kMillisecond);

// 369 blocks: 14 024 ops.
void evictions(benchmark::State& state, DtrScore score) {
  const Blocks blocks(369, false);
  const std::int64_t budget = budget_of(blocks.problem(), 0.5);
  std::size_t evicted = 0;
  measure(state, [&] { return evicted = dtr(blocks.problem(), budget, score).evictions.size(); });
  state.counters["evictions"] = static_cast<double>(evicted);
}
BENCHMARK_CAPTURE(evictions, h_DTR, DtrScore::kDtr)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(evictions, h_DTR_eq, DtrScore::kDtrEq)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(evictions, local, DtrScore::kLocal)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(evictions, LRU, DtrScore::kLru)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tidemark::remat
