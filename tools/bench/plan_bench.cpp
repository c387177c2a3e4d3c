// How long the way from a lowered step to a checked program takes, by the number of ops; and the
// graph algorithms over both.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/critical_path.hpp"
#include "graph/lifetime.hpp"
#include "graph/plan.hpp"

namespace tidemark {
namespace {

// A chain of n / 2 ops forward, each reading a weight and saving its input, and as many backward,
// each reading what was saved and making two gradients: about 2 tensors and 3.5 uses an op. One
// parameter in ten ops.
StepGraph chain(std::int64_t n) {
  StepGraph graph;
  const auto add = [&](Bytes bytes, OpId producer) {
    Tensor tensor;
    tensor.bytes = bytes;
    tensor.producer = producer;
    graph.tensors.push_back(tensor);
    return TensorId{static_cast<std::uint32_t>(graph.tensors.size() - 1)};
  };
  const auto begin = [&](Phase phase) {
    Op op;
    op.phase = phase;
    op.work = WorkClass::kMatmul;
    op.dtype = DType::kBf16;
    op.flops = Flops(1'000'000'000);
    op.bytes_read = 1_MiB;
    op.first_input = static_cast<std::uint32_t>(graph.inputs.size());
    op.first_held = static_cast<std::uint32_t>(graph.held.size());
    op.first_output = static_cast<std::uint32_t>(graph.outputs.size());
    op.first_updated = static_cast<std::uint32_t>(graph.updated.size());
    graph.ops.push_back(op);
    return OpId{static_cast<std::uint32_t>(graph.ops.size() - 1)};
  };
  const auto read = [&](TensorId tensor, OpId op) {
    graph.inputs.push_back(tensor);
    Tensor& known = graph.tensors[index(tensor)];
    if (known.last_use != kNoOp || !known.initial()) known.last_use = op;
  };
  const auto make = [&](OpId op) {
    const TensorId tensor = add(1_MiB, op);
    graph.tensors[index(tensor)].last_use = op;
    graph.outputs.push_back(tensor);
    return tensor;
  };

  const std::int64_t half = n / 2;
  for (std::int64_t p = 0; p <= half / 5; ++p) {
    graph.parameters.push_back({.weight = add(1_MiB, kNoOp), .elements = 1 << 19});
  }
  const auto parameter = [&](std::int64_t op) -> Parameter& {
    return graph.parameters[static_cast<std::size_t>(op / 5)];
  };
  std::vector<TensorId> saved;
  TensorId value = make(begin(Phase::kForward));
  for (std::int64_t i = 1; i < half; ++i) {
    const OpId op = begin(Phase::kForward);
    read(value, op);
    read(parameter(i).weight, op);
    saved.push_back(value);
    value = make(op);
  }
  TensorId gradient = make(begin(Phase::kBackward));
  for (std::int64_t i = half - 1; i > 0; --i) {
    const OpId op = begin(Phase::kBackward);
    read(gradient, op);
    read(saved[static_cast<std::size_t>(i - 1)], op);
    read(parameter(i).weight, op);
    gradient = make(op);
    if (i % 5 == 0) {
      const TensorId weight_gradient = make(op);
      graph.tensors[index(weight_gradient)].last_use = kNoOp;
      parameter(i).gradient = weight_gradient;
      parameter(i).gradient_ready = op;
    }
  }
  begin(Phase::kForward);  // the sentinel
  return graph;
}

Machine machine() {
  Machine result{};
  result.gpu.capacity = 80_GB;
  result.gpu.bandwidth = 2000_GBps;
  result.gpu.matmul_16bit = 312_TFLOPs;
  result.gpu.matmul_32bit = 19_TFLOPs;
  result.gpu.vector_32bit = 19_TFLOPs;
  result.gpu.matmul_efficiency = 0.8;
  result.gpu.stream_efficiency = 0.8;
  result.gpu.launch_latency = 5_us;
  result.host.capacity = 1000_GB;
  result.host.bandwidth = 100_GBps;
  result.host.cpu_optimizer = 1_TFLOPs;
  result.ssd.capacity = 4000_GB;
  result.ssd.read = 7_GBps;
  result.ssd.write = 5_GBps;
  result.pcie.h2d = 25_GBps;
  result.pcie.d2h = 25_GBps;
  result.pcie.both = 50_GBps;
  return result;
}

void plan_step(benchmark::State& state, const Offload& offload) {
  const StepGraph step = chain(state.range(0));
  const Machine on = machine();
  for (auto _ : state) {
    state.PauseTiming();
    StepGraph graph = step;
    state.ResumeTiming();
    benchmark::DoNotOptimize(plan(graph, {}, offload, on).use.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void plan_on_gpu(benchmark::State& state) { plan_step(state, {}); }

void plan_with_states_on_ssd(benchmark::State& state) {
  Offload offload;
  offload.optimizer = Offload::States::kSsd;
  offload.bucket = 64_MiB;
  plan_step(state, offload);
}

void dependencies_of_step(benchmark::State& state) {
  const StepGraph graph = chain(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(boost::num_edges(dependency_graph(graph)));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void critical_path_of_program(benchmark::State& state) {
  StepGraph graph = chain(state.range(0));
  const Program program = plan(graph, {}, {}, machine());
  for (auto _ : state) benchmark::DoNotOptimize(critical_path(program).length);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void live_bytes_of_step(benchmark::State& state) {
  const StepGraph graph = chain(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(live_peak(graph).bytes);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(plan_on_gpu)
    ->RangeMultiplier(10)
    ->Range(10'000, 1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(plan_with_states_on_ssd)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(dependencies_of_step)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(critical_path_of_program)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(live_bytes_of_step)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tidemark
