// The hold model: take the earliest event, push one later; the number of pending events stays.

#include <benchmark/benchmark.h>

#include "sim/event_queue.hpp"
#include "tools/bench/random_sizes.hpp"

namespace tidemark::sim {
namespace {

void hold(benchmark::State& state) {
  const std::vector<std::int64_t> delays = bench::exponential(1 << 16, 1e6);
  EventQueue queue;
  std::size_t next = 0;
  const auto delay = [&] { return SimTime(delays[next++ & 0xffff]); };
  const auto pending = static_cast<std::uint32_t>(state.range(0));
  for (std::uint32_t i = 0; i < pending; ++i) queue.push(delay(), i);
  for (auto _ : state) {
    const Event event = queue.pop();
    queue.push(event.time + delay(), event.what());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(hold)->Arg(16)->Arg(1'000)->Arg(100'000);

}  // namespace
}  // namespace tidemark::sim
