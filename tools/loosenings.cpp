// What a run with memory to spare could give back: each takes more HBM, host memory or SSD than the
// run as it is, and may save time.

#include <algorithm>
#include <string_view>

#include "graph/policies/policy.hpp"
#include "tools/changes.hpp"

namespace tidemark::tools {
namespace {

using scenarios::Override;
using scenarios::RunSpec;

Change loosening(std::string words, std::vector<Override> overrides) {
  return {std::move(words), std::move(overrides)};
}

void keep_everything(const RunSpec& run, std::vector<Change>& found) {
  if (run.checkpoint_policy == "none") return;
  found.push_back(loosening(std::string(find_policy("none")->summary), {{"checkpoint", "none"}}));
  found.back().instead = run.checkpoint_policy;
}

// Updates a step late, or clipped, are not the GPU's.
bool trains_its_own_way(const Offload& offload) { return offload.delayed_update || offload.clip; }

// What is left to be moved; options that then say nothing are refused by the loader
// (scenarios/offload_checks.cpp), so they go back to what they are by default.
void reset_idle_options(const Offload& left, std::vector<Override>& overrides) {
  const auto reset = [&](bool stated, std::string_view key, std::string_view value) {
    if (stated) overrides.push_back({"offload." + std::string(key), std::string(value)});
  };
  using To = ActivationOffload::To;
  const bool moves_parameters = left.parameters.to != ParameterOffload::To::kGpu;
  if (!left.moves_states()) {
    reset(left.update_on != Offload::Processor::kCpu, "update_on", "cpu");
    reset(left.fraction != 1, "fraction", "1");
    reset(!left.overlap, "overlap", "true");
    reset(left.cpu_kernel != CpuKernel::kFused, "cpu_kernel", "fused");
    reset(left.upcast, "upcast", "false");
    reset(
        left.gradients_leave != Offload::GradientsLeave::kDuringBackward && !left.moves_gradients(),
        "gradients_leave", "during_backward");
  }
  reset(left.accumulate_on != Offload::Processor::kCpu && !left.moves_gradients(), "accumulate_on",
        "cpu");
  reset(left.transport.ssd_path != Transport::SsdPath::kBounce && left.activations.to != To::kSsd &&
            left.parameters.to != ParameterOffload::To::kSsd,
        "ssd_path", "bounce");
  if (left.moves_states() || left.moves_gradients() || moves_parameters ||
      left.activations.to != To::kGpu) {
    return;
  }
  reset(left.transport.memory != Transport::HostMemory::kPinned, "memory", "pinned");
  reset(left.transport.pinned_pool != Transport::PinnedPool::kExact, "pinned_pool", "exact");
}

void bring_back(const RunSpec& run, std::vector<Change>& found) {
  const auto add = [&](std::string_view words, std::vector<Override> overrides,
                       const Offload& left) {
    reset_idle_options(left, overrides);
    found.push_back(loosening(std::string(words), std::move(overrides)));
  };
  const Offload& now = run.offload;
  if (now.parameters.to != ParameterOffload::To::kGpu) {
    Offload left = now;
    left.parameters.to = ParameterOffload::To::kGpu;
    add("keep the parameters on the GPU", {{"offload.parameters", "gpu"}}, left);
  }
  if (now.activations.to != ActivationOffload::To::kGpu) {
    Offload left = now;
    left.activations.to = ActivationOffload::To::kGpu;
    add("keep what blocks save for backward on the GPU", {{"offload.activations", "gpu"}}, left);
  }
  if (now.moves_gradients()) {
    Offload left = now;
    left.gradients = Offload::States::kGpu;
    add("keep the gradients on the GPU", {{"offload.gradients", "gpu"}}, left);
  }
  if (!now.moves_states() || trains_its_own_way(now)) return;
  Offload left = now;
  left.optimizer = Offload::States::kGpu;
  std::vector<Override> overrides = {{"offload.optimizer", "gpu"}};
  std::string words = "keep the optimizer states on the GPU and update there";
  // What the GPU updates has to be there.
  if (now.parameters.to != ParameterOffload::To::kGpu) {
    left.parameters.to = ParameterOffload::To::kGpu;
    overrides.push_back({"offload.parameters", "gpu"});
    words += ", the parameters too";
  }
  add(words, std::move(overrides), left);
}

void move_less(const RunSpec& run, std::vector<Change>& found) {
  if (!run.offload.moves_states()) return;
  for (int tenths = 9; tenths > 0; --tenths) {
    if (tenths / 10.0 >= run.offload.fraction) continue;
    found.push_back(loosening("keep some of the optimizer states on the GPU and update those there",
                              {{"offload.fraction", "0." + std::to_string(tenths)}}));
  }
}

// Ways to move the same bytes that hold nothing up for want of buffers or of page-locked memory.
void wait_less(const RunSpec& run, std::vector<Change>& found) {
  const Offload& now = run.offload;
  if (now.updates_on_cpu() && !trains_its_own_way(now)) {
    std::vector<Override> overrides = {{"offload.update_on", "gpu"}};
    if (now.cpu_kernel != CpuKernel::kFused) overrides.push_back({"offload.cpu_kernel", "fused"});
    if (now.upcast) overrides.push_back({"offload.upcast", "false"});
    found.push_back(
        loosening("let the states stream through the GPU for the update", std::move(overrides)));
  }
  if (!now.overlap) {
    found.push_back(loosening("copies of one bucket beside the update of another",
                              {{"offload.overlap", "true"}}));
  }
  if (now.transport.memory == Transport::HostMemory::kPageable) {
    found.push_back(
        loosening("copies from and to page-locked memory", {{"offload.memory", "pinned"}}));
  }
  if (now.activations.synchronous) {
    found.push_back(loosening("copies of activations beside the kernels",
                              {{"offload.activations.synchronous", "false"}}));
  }
}

// Doubled as long as passes are left to halve, and all in one: the step has the same tokens.
void larger_micro_batches(const RunSpec& run, std::vector<Change>& found) {
  std::vector<std::int64_t> passes;
  std::int64_t left = run.training.micro_batches;
  while (left % 2 == 0) passes.push_back(left /= 2);
  if (left > 1) passes.push_back(1);
  for (const std::int64_t fewer : passes) {
    const std::int64_t size = run.training.micro_batch * (run.training.micro_batches / fewer);
    found.push_back(loosening("larger micro-batches, fewer of them",
                              {{"training.micro_batch", std::to_string(size)},
                               {"training.micro_batches", std::to_string(fewer)}}));
  }
}

}  // namespace

std::vector<Change> loosenings_for(const RunSpec& run) {
  std::vector<Change> found;
  keep_everything(run, found);
  bring_back(run, found);
  move_less(run, found);
  wait_less(run, found);
  larger_micro_batches(run, found);
  std::erase_if(found, [&](const Change& each) { return !with_changes(run, std::span(&each, 1)); });
  return found;
}

}  // namespace tidemark::tools
