// Speed of the caching allocator's model, in allocations and frees together per second.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include "sim/allocators/caching.hpp"

namespace tidemark::sim {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// A training step as its allocator sees it, over `layers` blocks: weights that stay; forward saves
// tensors and drops temporaries; backward makes gradients, frees what was saved; the optimizer
// takes and frees temporaries of the size of each weight.
void training_step(benchmark::State& state, const char* settings) {
  const auto layers = static_cast<int>(state.range(0));
  CachingAllocator allocator(Bytes(std::int64_t{1} << 40),
                             parse_caching_settings(settings).settings);
  std::int64_t operations = 0;
  const auto take = [&](std::int64_t bytes) {
    ++operations;
    return allocator.allocate(Bytes(bytes), Stream::kCompute)->handle;
  };
  const auto drop = [&](std::uint64_t handle) {
    ++operations;
    allocator.free(handle);
  };
  const std::vector<std::int64_t> weights = {12 * kMiB, 4 * kMiB,  8192, 16 * kMiB,
                                             16 * kMiB, 16 * kMiB, 8192};
  const std::vector<std::int64_t> saved = {8 * kMiB,  4096,      24 * kMiB, 32 * kMiB,
                                           32 * kMiB, 16 * kMiB, 8 * kMiB,  32 * kMiB};
  for (int layer = 0; layer < layers; ++layer) {
    for (const std::int64_t bytes : weights) take(bytes);
  }
  std::vector<std::uint64_t> alive, gradients;
  const auto step = [&] {
    for (int layer = 0; layer < layers; ++layer) {
      for (const std::int64_t bytes : saved) {
        const auto temporary = take(bytes / 2 + 512);
        alive.push_back(take(bytes));
        drop(temporary);
      }
    }
    for (int layer = 0; layer < layers; ++layer) {
      for (std::size_t i = saved.size(); i-- > 0;) {
        const auto temporary = take(saved[i]);
        if (i < weights.size()) gradients.push_back(take(weights[i]));
        drop(alive.back());
        alive.pop_back();
        drop(temporary);
      }
    }
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const std::int64_t bytes = weights[weights.size() - 1 - i % weights.size()];
      const auto a = take(bytes), b = take(bytes);
      drop(a);
      drop(b);
    }
    for (const auto gradient : gradients) drop(gradient);
    gradients.clear();
  };
  step();  // fills the cache
  operations = 0;
  for (auto _ : state) step();
  state.SetItemsProcessed(operations);
}

// Random sizes with `state.range(0)` blocks alive: far more fragmented than any training step.
void random_requests(benchmark::State& state) {
  CachingAllocator allocator(Bytes(std::int64_t{1} << 50), {});
  std::mt19937 random(1);
  std::vector<std::int64_t> sizes(4096);
  for (auto& size : sizes) size = 1 + static_cast<std::int64_t>(random() % (30u << 20));
  std::vector<std::uint64_t> alive;
  std::size_t next = 0;
  const auto take = [&] {
    return allocator.allocate(Bytes(sizes[next++ % sizes.size()]), Stream::kCompute)->handle;
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) alive.push_back(take());
  for (auto _ : state) {
    std::uint64_t& slot = alive[random() % alive.size()];
    allocator.free(slot);
    slot = take();
  }
  state.SetItemsProcessed(2 * state.iterations());
}

BENCHMARK_CAPTURE(training_step, defaults, "")->Arg(12)->Arg(96);
BENCHMARK_CAPTURE(training_step, expandable, "expandable_segments:True")->Arg(12)->Arg(96);
BENCHMARK(random_requests)->Arg(100)->Arg(10000);

}  // namespace
}  // namespace tidemark::sim
