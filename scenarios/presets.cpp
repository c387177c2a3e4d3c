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

constexpr auto kPresets = std::to_array<Preset>({
    {"zero-offload",
     "master weights, moments and gradients on the host, and the CPU updates;\n"
     "2 bytes a parameter leave as gradients, 2 come back as parameters",
     "Ren et al. 2021, ZeRO-Offload, arXiv:2101.06840", kZeroOffload},
});

}  // namespace

std::span<const Preset> presets() { return kPresets; }

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(kPresets, name, &Preset::name);
  return found == kPresets.end() ? nullptr : &*found;
}

}  // namespace tidemark::scenarios
