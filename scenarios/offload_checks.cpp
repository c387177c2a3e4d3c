#include "scenarios/offload_checks.hpp"

#include <array>
#include <string>
#include <string_view>

#include "graph/policies/policy.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

bool no_states(const RunSpec& run) {
  return run.training.optimizer == Optimizer::kSgd &&
         run.training.precision != Precision::kBf16Mixed;
}

bool moves_parameters(const RunSpec& run) {
  return run.offload.parameters.to != ParameterOffload::To::kGpu;
}

bool policy_moves_to_ssd(const RunSpec& run) {
  const Policy* policy = find_policy(run.checkpoint_policy);
  return policy != nullptr && policy->moves == Policy::Moves::kBySearch;
}

bool moves_anything(const RunSpec& run) {
  return run.offload.moves_states() || run.offload.moves_gradients() || moves_parameters(run) ||
         run.offload.activations.to != ActivationOffload::To::kGpu || policy_moves_activations(run);
}

struct Row {
  std::string_view key;  // of the section offload: what is refused
  bool (*wrong)(const RunSpec&);
  std::string_view message;
  std::string_view advice;
};

constexpr auto kRows = std::to_array<Row>({
    {"update_on", [](const RunSpec& r) { return r.offload.streams_states() && no_states(r); },
     "update_on: sgd keeps no states that could stream through the GPU",
     "leave the states on the GPU, or let the CPU update"},
    {"update_on",
     [](const RunSpec& r) {
       return r.offload.streams_states() && r.model.architecture == Architecture::kCs336 &&
              r.training.optimizer == Optimizer::kAdamW;
     },
     "update_on: the AdamW of cs336 makes its states anew in every step, so none stream",
     "update_on: cpu"},
    {"update_on",
     [](const RunSpec& r) {
       return !r.offload.moves_states() && r.offload.update_on == Offload::Processor::kGpu;
     },
     "update_on: the states are on the GPU anyway", "optimizer: host or ssd"},
    {"fraction",
     [](const RunSpec& r) { return !r.offload.moves_states() && r.offload.fraction != 1; },
     "fraction: no states leave the GPU", "optimizer: host or ssd"},
    {"overlap", [](const RunSpec& r) { return !r.offload.moves_states() && !r.offload.overlap; },
     "overlap: no states leave the GPU", "optimizer: host or ssd"},
    {"delayed_update",
     [](const RunSpec& r) { return r.offload.delayed_update && !r.offload.updates_on_cpu(); },
     "delayed_update: there is no update on the CPU to delay",
     "optimizer: host or ssd, and update_on: cpu"},
    {"delayed_update",
     [](const RunSpec& r) { return r.offload.delayed_update && r.offload.fraction != 1; },
     "delayed_update: parameters that the GPU updates would be a step ahead of the others",
     "fraction: 1"},
    {"accumulate_on",
     [](const RunSpec& r) {
       return !r.offload.moves_gradients() && r.offload.accumulate_on == Offload::Processor::kGpu;
     },
     "accumulate_on: the gradients are on the GPU anyway", "gradients: host or ssd"},
    {"gradients",
     [](const RunSpec& r) {
       return r.offload.moves_gradients() && r.kernels.zero_grad == Kernels::ZeroGrad::kKeep;
     },
     "gradients: what is kept on the GPU between steps (zero_grad: keep) does not leave it",
     "zero_grad: set_to_none"},
    {"cpu_kernel",
     [](const RunSpec& r) {
       return r.offload.cpu_kernel == CpuKernel::kNaive && !r.offload.updates_on_cpu();
     },
     "cpu_kernel: the CPU updates nothing", "optimizer: host or ssd, and update_on: cpu"},
    {"upcast", [](const RunSpec& r) { return r.offload.upcast && !r.offload.updates_on_cpu(); },
     "upcast: the CPU updates nothing", "optimizer: host or ssd, and update_on: cpu"},
    {"upcast",
     [](const RunSpec& r) {
       return r.offload.upcast && r.training.precision != Precision::kBf16Mixed;
     },
     "upcast: the gradients have the update's precision", "precision: bf16-mixed"},
    {"clip",
     [](const RunSpec& r) {
       return r.offload.clip && (!r.offload.updates_on_cpu() || r.offload.fraction != 1);
     },
     "clip: only gradients that the CPU updates from are read for their norm",
     "optimizer: host or ssd, all of it"},
    {"ssd_path",
     [](const RunSpec& r) {
       return r.offload.transport.ssd_path == Transport::SsdPath::kDirect &&
              r.offload.activations.to != ActivationOffload::To::kSsd && !policy_moves_to_ssd(r) &&
              r.offload.parameters.to != ParameterOffload::To::kSsd;
     },
     "ssd_path: neither activations nor parameters are on the SSD",
     "activations: ssd, or parameters: ssd"},
    {"pinned_pool",
     [](const RunSpec& r) {
       return r.offload.transport.pinned_pool == Transport::PinnedPool::kPowerOfTwo &&
              r.offload.transport.memory == Transport::HostMemory::kPageable;
     },
     "pinned_pool: the memory is pageable, and not rounded", "pinned_pool: exact"},
    {"memory",
     [](const RunSpec& r) {
       return r.offload.transport.memory == Transport::HostMemory::kPageable && !moves_anything(r);
     },
     "memory: nothing is copied from or to the host", "optimizer: host, or another part"},
    {"pinned_pool",
     [](const RunSpec& r) {
       return r.offload.transport.pinned_pool == Transport::PinnedPool::kPowerOfTwo &&
              !moves_anything(r);
     },
     "pinned_pool: nothing lies in host memory", "optimizer: host, or another part"},
    {"gradients_leave",
     [](const RunSpec& r) {
       return r.offload.gradients_leave == Offload::GradientsLeave::kAfterBackward &&
              !r.offload.moves_states() && !r.offload.moves_gradients();
     },
     "gradients_leave: no gradients leave the GPU", "optimizer: host or ssd"},
    {"activations",
     [](const RunSpec& r) {
       return policy_moves_activations(r) &&
              r.offload.activations.to != ActivationOffload::To::kGpu;
     },
     "activations: the checkpoint policy chooses which of them move",
     "leave it out, or another policy: optimal"},
    {"parameters",
     [](const RunSpec& r) {
       return moves_parameters(r) && (!r.offload.updates_on_cpu() || r.offload.fraction != 1);
     },
     "parameters: what the GPU updates has to be there", "optimizer: host or ssd, all of it"},
    {"parameters", [](const RunSpec& r) { return moves_parameters(r) && r.offload.delayed_update; },
     "parameters: a delayed update would write them while they are fetched",
     "delayed_update: false"},
});

}  // namespace

bool policy_moves_activations(const RunSpec& run) {
  const Policy* policy = find_policy(run.checkpoint_policy);
  return policy != nullptr && moves_activations(*policy, run.checkpoint_options);
}

void check_offload(const RunSpec& run, const Value& tree, Diagnostics& diagnostics) {
  for (const Row& row : kRows) {
    if (!row.wrong(run)) continue;
    const Value* written = find_at(tree, "offload." + std::string(row.key));
    if (written == nullptr) written = tree.find("offload");
    diagnostics.error(written != nullptr ? written->mark : tree.mark, std::string(row.message),
                      std::string(row.advice));
    return;
  }
}

}  // namespace tidemark::scenarios
