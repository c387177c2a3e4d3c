#include "tools/wording.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::tools {
std::string place(std::string_view phase, std::int16_t layer, std::string_view op) {
  std::string text(phase);
  if (layer >= 0) text += fmt::format("{}layer {}", text.empty() ? "" : " of ", layer);
  if (!op.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", op);
  return text;
}

std::string_view spoken(Tier tier) {
  switch (tier) {
    case Tier::kHbm:
      return "HBM";
    case Tier::kHost:
      return "host memory";
    case Tier::kSsd:
      return "the SSD";
  }
  return "";
}

std::string_view spoken(sim::StallCause cause) {
  switch (cause) {
    case sim::StallCause::kPcieH2d:
      return "copies to the GPU (PCIe)";
    case sim::StallCause::kPcieD2h:
      return "copies to the host (PCIe)";
    case sim::StallCause::kNvmeRead:
      return "reads from the SSD";
    case sim::StallCause::kNvmeWrite:
      return "writes to the SSD";
    case sim::StallCause::kCpuOptimizer:
      return "the optimizer step on the CPU";
    case sim::StallCause::kAllocation:
      return "memory to come free";
    case sim::StallCause::kAllocatorCall:
      return "calls of the allocator to the driver";
    case sim::StallCause::kCommunication:
      return "other GPUs";
    case sim::StallCause::kPipelineBubble:
      return "its turn in the pipeline";
    case sim::StallCause::kLaunch:
      return "kernel launches";
  }
  return "";
}

std::string_view spoken(Module module) {
  switch (module) {
    case Module::kNone:
      return "-";
    case Module::kEmbedding:
      return "embedding";
    case Module::kNorm:
      return "norm";
    case Module::kQkv:
      return "qkv";
    case Module::kRotary:
      return "rotary";
    case Module::kAttentionCore:
      return "attention";
    case Module::kAttentionOutput:
      return "projection";
    case Module::kMlpIn:
      return "MLP in";
    case Module::kMlpActivation:
      return "activation";
    case Module::kMlpOut:
      return "MLP out";
    case Module::kHead:
      return "head";
    case Module::kLoss:
      return "loss";
    case Module::kOptimizer:
      return "optimizer";
  }
  return "";
}

std::string spoken(Category category) {
  if (category == Category::kLogitsLoss) return "logits and loss";
  std::string text(name_of(category));
  std::ranges::replace(text, '_', ' ');
  return text;
}

}  // namespace tidemark::tools
