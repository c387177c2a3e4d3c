#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tidemark {

// What the bytes of a tensor are for. Names as they stand in the result JSON.
enum class Category : std::uint8_t {
  kParameters,
  kGradients,
  kMasterWeights,
  kOptimizerState,
  kActivations,  // alive when forward ends: saved for backward
  kRecomputed,   // alive when the recompute of its segment ends
  kTemporaries,
  kLogitsLoss,
  kInputs,
  kConstants,  // masks, rotary tables
  kWorkspace,
  kCommunication,
  kStaging,   // pinned and bounce buffers
  kRuntime,   // CUDA context, library handles
  kRounding,  // of page-locked blocks, beyond what was asked for
};

inline constexpr std::array<std::string_view, 15> kCategoryNames = {
    "parameters", "gradients",     "master_weights", "optimizer_state", "activations",
    "recomputed", "temporaries",   "logits_loss",    "inputs",          "constants",
    "workspace",  "communication", "staging",        "runtime",         "rounding"};
inline constexpr int kCategoryCount = static_cast<int>(kCategoryNames.size());

constexpr std::string_view name_of(Category category) {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

enum class Phase : std::uint8_t {
  kForward,
  kRecompute,
  kBackward,
  kOptimizer,
  kTransfer,
  kCommunication,
  kZeroGrad,  // after the optimizer: gradients are dropped or zeroed, the loss is let go
};

inline constexpr std::array<std::string_view, 7> kPhaseNames = {
    "forward", "recompute", "backward", "optimizer", "transfer", "communication", "zero_grad"};

constexpr std::string_view name_of(Phase phase) {
  return kPhaseNames[static_cast<std::size_t>(phase)];
}

}  // namespace tidemark
