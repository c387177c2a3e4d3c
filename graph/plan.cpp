#include "graph/plan.hpp"

#include <string>
#include <utility>
#include <vector>

#include "graph/issue_order.hpp"
#include "graph/machine_paths.hpp"
#include "graph/offload/activations.hpp"
#include "graph/offload/cpu_update.hpp"
#include "graph/offload/mover.hpp"
#include "graph/offload/parameters.hpp"
#include "graph/offload/stays.hpp"
#include "graph/offload/strategy.hpp"
#include "graph/op_time.hpp"
#include "graph/pinned_pool.hpp"
#include "graph/program_builder.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

// When ops start if each waits for the one before it alone.
Starts starts_of(const StepGraph& graph, const Gpu& gpu) {
  Starts starts{SimTime(0)};
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    starts.push_back(starts.back() + op_time(gpu, graph.op(OpId{i})));
  }
  return starts;
}

void add_kernels(ProgramBuilder& builder, const StepGraph& graph, const Host& host,
                 const Starts& starts, const Stays& stays) {
  std::vector<OpId> last_use(graph.tensors.size(), kNoOp);
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    const OpId id{i};
    const Op& op = graph.op(id);
    const InstanceId instance = builder.add_instance({.stream = Stream::kCompute,
                                                      .phase = op.phase,
                                                      .op = id,
                                                      .layer = op.layer,
                                                      .fixed = starts[i + 1] - starts[i],
                                                      .bytes = {},
                                                      .issue = issue_time(host, op)});
    const auto use = [&](TensorId tensor) {
      last_use[index(tensor)] = id;
      const BufferId buffer = stays.buffer(tensor, id);
      ensure(buffer != kNoBuffer, "an op finds what it uses in HBM");
      builder.use(instance, buffer);
    };
    for (const TensorId tensor : graph.inputs_of(id)) use(tensor);
    for (const TensorId tensor : graph.held_by(id)) {
      // What is not there cannot be kept from coming free.
      if (stays.buffer(tensor, id) != kNoBuffer) use(tensor);
    }
    for (const TensorId tensor : graph.outputs_of(id)) use(tensor);
    for (const TensorId tensor : graph.updated_by(id)) use(tensor);
  }
  for (std::uint32_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    ensure(tensor.persistent() || stays.divided(TensorId{i}) || tensor.last_use == last_use[i],
           "a tensor's last use is the last op that lists it");
  }
}

void add_runtime(ProgramBuilder& builder, StepGraph& graph, const Runtime& runtime) {
  const auto add = [&](Bytes bytes, Category category, std::string name) {
    if (bytes.count == 0) return;
    graph.names.push_back(std::move(name));
    builder.add_buffer({.bytes = bytes,
                        .tier = Tier::kHbm,
                        .category = category,
                        .initial = true,
                        .persistent = true,
                        .name = NameId{static_cast<std::uint32_t>(graph.names.size() - 1)}});
  };
  add(runtime.context, Category::kRuntime, "CUDA context and kernels");
  add(runtime.workspace, Category::kWorkspace, "library workspaces");
}

}  // namespace

Program plan(StepGraph& graph, const TrainingConfig& training, const Offload& offload,
             const Machine& machine) {
  ProgramBuilder builder(
      {machine.gpu.capacity, machine.host.capacity, machine.ssd.capacity * machine.ssd.drives});
  builder.reserve(
      graph.op_count(), graph.tensors.size(),
      graph.inputs.size() + graph.held.size() + graph.outputs.size() + graph.updated.size());
  const MachinePaths paths = add_links(builder, machine, offload.transport);
  Stays stays(graph);
  Departures departures = departures_of(graph, offload);
  departures.divide(graph, stays);
  const Starts starts = starts_of(graph, machine.gpu);
  const std::vector<SavedTensor> activations =
      choose_activations(graph, offload.activations, builder, paths, starts, stays);
  const ParameterPlan parameters = plan_parameters(graph, offload.parameters, stays);
  stays.add_buffers(builder, graph);
  add_kernels(builder, graph, machine.host, starts, stays);
  add_runtime(builder, graph, machine.runtime);
  Mover mover(builder, graph, machine, paths);
  const std::vector<InstanceId> parameter_reads = fetch_parameters(
      mover, offload.parameters, parameters, stays, keeps_parameters(training, offload));
  offload_activations(mover, offload.activations, activations, stays);
  move_all(mover, departures, stays, training, offload, parameter_reads);
  Program program = std::move(builder).finish();
  hold_issue(program, mover.blocking());
  if (offload.transport.pinned_pool == Transport::PinnedPool::kPowerOfTwo) {
    round_pinned_buffers(program, mover.name("rounding of page-locked blocks"));
  }
  return program;
}

}  // namespace tidemark
