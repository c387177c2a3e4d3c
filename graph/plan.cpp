#include "graph/plan.hpp"

#include <string>
#include <utility>
#include <vector>

#include "graph/machine_paths.hpp"
#include "graph/op_time.hpp"
#include "graph/optimizer_offload.hpp"
#include "graph/program_builder.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

// When each gradient that is made in this step leaves the GPU, and kNoOp for all other tensors.
// Gradients that are there before the step (accumulated into, never set to none) keep their place.
std::vector<OpId> leaving_gradients(const StepGraph& graph, const Offload& offload) {
  std::vector<OpId> leaves(graph.tensors.size(), kNoOp);
  if (offload.optimizer == Offload::States::kGpu) return leaves;
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.gradient == kNoTensor || graph.tensor(parameter.gradient).initial()) continue;
    leaves[index(parameter.gradient)] = parameter.gradient_ready;
  }
  return leaves;
}

void add_tensors(ProgramBuilder& builder, const StepGraph& graph, const std::vector<OpId>& leaves) {
  for (std::uint32_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    builder.add_buffer({.bytes = tensor.bytes,
                        .tier = Tier::kHbm,
                        .category = tensor.category,
                        .initial = tensor.initial(),
                        .persistent = tensor.persistent() && leaves[i] == kNoOp,
                        .tensor = TensorId{i}});
  }
}

void add_kernels(ProgramBuilder& builder, const StepGraph& graph, const Machine& machine,
                 const std::vector<OpId>& leaves) {
  std::vector<OpId> last_use(graph.tensors.size(), kNoOp);
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    const OpId id{i};
    const Op& op = graph.op(id);
    const InstanceId instance = builder.add_instance({.stream = Stream::kCompute,
                                                      .phase = op.phase,
                                                      .op = id,
                                                      .layer = op.layer,
                                                      .fixed = op_time(machine.gpu, op),
                                                      .bytes = {},
                                                      .issue = issue_time(machine.host, op)});
    const auto use = [&](TensorId tensor) {
      last_use[index(tensor)] = id;
      builder.use(instance, BufferId{index(tensor)});
    };
    for (const TensorId tensor : graph.inputs_of(id)) use(tensor);
    for (const TensorId tensor : graph.held_by(id)) {
      // Nobody but its copy holds a gradient that leaves.
      const OpId left = leaves[index(tensor)];
      if (left == kNoOp || i <= index(left)) use(tensor);
    }
    for (const TensorId tensor : graph.outputs_of(id)) use(tensor);
    for (const TensorId tensor : graph.updated_by(id)) use(tensor);
  }
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    ensure(tensor.persistent() || leaves[i] != kNoOp || tensor.last_use == last_use[i],
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
  const MachinePaths paths = add_links(builder, machine);
  const std::vector<OpId> leaves = leaving_gradients(graph, offload);
  add_tensors(builder, graph, leaves);
  add_kernels(builder, graph, machine, leaves);
  add_runtime(builder, graph, machine.runtime);
  if (offload.optimizer != Offload::States::kGpu) {
    offload_optimizer(builder, graph, training, offload, machine, paths);
  }
  return std::move(builder).finish();
}

}  // namespace tidemark
