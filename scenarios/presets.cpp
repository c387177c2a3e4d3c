#include "scenarios/presets.hpp"

#include <algorithm>
#include <array>

namespace tidemark::scenarios {
namespace {

// Gradients leave bucket by bucket while backward runs; the CPU updates fp32 masters; parameters
// come back while other buckets are updated. Further passes fetch what is there and add on the GPU
// (DeepSpeed, runtime/zero/stage_1_and_2.py, async_accumulate_grad_in_cpu_via_gpu).
constexpr auto kZeroOffload = std::to_array<PresetSetting>({
    {"optimizer", "host"},
    {"update_on", "cpu"},
    {"overlap", "true"},
    {"gradients", "host"},
    {"accumulate_on", "gpu"},
    {"gradients_leave", "during_backward"},
});

// States on NVMe, read and written once a step; parameters there too, fetched for each block's
// forward and again for its backward, which its recompute begins; gradients summed and checkpoints
// of every block kept in host memory (sections 5.1 and 6 of the paper).
constexpr auto kZeroInfinity = std::to_array<PresetSetting>({
    {"optimizer", "ssd"},
    {"update_on", "cpu"},
    {"overlap", "true"},
    {"gradients", "host"},
    {"accumulate_on", "cpu"},
    {"gradients_leave", "during_backward"},
    {"parameters.to", "ssd"},
    {"parameters.prefetch", "1"},
    {"activations.to", "host"},
    {"activations.which", "block_inputs"},
    {"activations.larger_than", "0 B"},
    {"activations.keep_last", "0"},
});

// One layer at a time on the device; the rest, the inputs that layers stash for their recompute,
// and the optimizer are the host's (algorithm 1 of the paper).
constexpr auto kLayerToLayer = std::to_array<PresetSetting>({
    {"optimizer", "host"},
    {"update_on", "cpu"},
    {"gradients", "host"},
    {"accumulate_on", "cpu"},
    {"parameters.to", "host"},
    {"parameters.prefetch", "0"},
    {"activations.to", "host"},
    {"activations.which", "block_inputs"},
    {"activations.larger_than", "0 B"},
    {"activations.keep_last", "0"},
});

// Every saved tensor, when it is saved and when it is read, and the GPU waits
// (torch/autograd/graph.py, save_on_cpu without pinned memory: a plain copy each way).
constexpr auto kActivationOffload = std::to_array<PresetSetting>({
    {"activations.to", "host"},
    {"activations.which", "saved"},
    {"activations.larger_than", "0 B"},
    {"activations.keep_last", "0"},
    {"activations.synchronous", "true"},
});

// Saved tensors to the SSD beside the kernels; those of the last block stay, as does what could not
// be back in time (section III of the paper: adaptive offloading).
constexpr auto kSsdActivations = std::to_array<PresetSetting>({
    {"activations.to", "ssd"},
    {"activations.which", "saved"},
    {"activations.keep_last", "1"},
    {"activations.prefetch", "1"},
    {"activations.when", "fits_in_window"},
});

constexpr auto kPresets = std::to_array<Preset>({
    {"zero-offload",
     "master weights, moments and gradients on the host, and the CPU updates;\n"
     "2 bytes a parameter leave as gradients, 2 come back as parameters",
     "Ren et al. 2021, ZeRO-Offload, arXiv:2101.06840", kZeroOffload},
    {"zero-infinity",
     "states and parameters on NVMe, gradients and checkpoints on the host; blocks are\n"
     "fetched for forward and for backward, states read and written once a step",
     "Rajbhandari et al. 2021, ZeRO-Infinity, arXiv:2104.07857", kZeroInfinity, "full"},
    {"l2l",
     "layer to layer: the parameters of one block at a time are on the GPU; states,\n"
     "gradients and the blocks' inputs are on the host, and the CPU updates",
     "Pudipeddi et al. 2020, Training Large Neural Networks with Constant Memory, arXiv:2002.05645",
     kLayerToLayer, "full"},
    {"activation-offload",
     "every tensor that forward saves goes to the host and comes back for backward;\n"
     "the GPU waits for each copy, as with PyTorch's hook",
     "PyTorch, torch.autograd.graph.save_on_cpu", kActivationOffload},
    {"ssd-activations",
     "tensors that forward saves go to the SSD beside the kernels and come back ahead\n"
     "of backward; those whose way would be too long stay",
     "Wu et al. 2024, SSDTrain, arXiv:2408.10013", kSsdActivations},
});

}  // namespace

std::span<const Preset> presets() { return kPresets; }

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(kPresets, name, &Preset::name);
  return found == kPresets.end() ? nullptr : &*found;
}

}  // namespace tidemark::scenarios
