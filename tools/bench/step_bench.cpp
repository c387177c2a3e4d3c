// How long a whole step takes by the number of its ops: lowered, planned, simulated, and all three.
// A LLaMA-2 7B block repeated; 223 ops a block with AdamW one tensor at a time.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "graph/lower.hpp"
#include "graph/plan.hpp"
#include "sim/executor.hpp"

namespace tidemark {
namespace {

LoweringInput blocks(std::int64_t layers) {
  LoweringInput input;
  input.model.architecture = Architecture::kLlama;
  input.model.layers = layers;
  input.model.hidden = 4096;
  input.model.heads = input.model.kv_heads = 32;
  input.model.head_dim = 128;
  input.model.ffn = 11008;
  input.model.vocab = 32000;
  input.model.max_positions = 4096;
  input.training.sequence = 2048;
  return input;
}

Machine machine() {
  Machine m{};
  m.gpu.capacity = Bytes(std::int64_t{1} << 60);
  m.gpu.bandwidth = 2000_GBps;
  m.gpu.matmul_16bit = 312_TFLOPs;
  m.gpu.matmul_32bit = m.gpu.vector_32bit = 19_TFLOPs;
  m.gpu.matmul_efficiency = m.gpu.stream_efficiency = 0.8;
  m.gpu.launch_latency = 5_us;
  m.host.capacity = m.ssd.capacity = m.gpu.capacity;
  m.host.bandwidth = 200_GBps;
  m.pcie.h2d = m.pcie.d2h = 25_GBps;
  m.pcie.both = 50_GBps;
  return m;
}

void count_ops(benchmark::State& state, std::size_t ops) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double count = static_cast<double>(ops);
  state.counters["ops"] = count;
  state.counters["ops/s"] = benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["most_resident_B_per_op"] = static_cast<double>(usage.ru_maxrss) * 1024 / count;
}

void lowering(benchmark::State& state) {
  const LoweringInput input = blocks(state.range(0));
  std::size_t ops = 0;
  for (auto _ : state) {
    const StepGraph graph = lower(input);
    ops = graph.op_count();
    benchmark::DoNotOptimize(graph.tensors.data());
  }
  count_ops(state, ops);
}
BENCHMARK(lowering)->Arg(45)->Arg(450)->Arg(4500)->Unit(benchmark::kMillisecond);

void whole_step(benchmark::State& state) {
  const LoweringInput input = blocks(state.range(0));
  std::size_t ops = 0;
  for (auto _ : state) {
    StepGraph graph = lower(input);
    ops = graph.op_count();
    const Program program = plan(graph, input.training, {}, machine());
    const sim::Result result = sim::simulate(program);
    benchmark::DoNotOptimize(result.end);
  }
  count_ops(state, ops);
}
BENCHMARK(whole_step)->Arg(45)->Arg(450)->Arg(4500)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tidemark
