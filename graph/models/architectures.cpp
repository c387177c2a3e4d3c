#include "graph/models/architectures.hpp"

#include <array>

#include "hardware/ensure.hpp"

namespace tidemark {

namespace {

constexpr auto kArchitectures = std::to_array<ArchitectureRow>({
    {Architecture::kGpt, "gpt", "Megatron-style GPT: [s, b, h], LayerNorm, biases, gelu", make_gpt},
    {Architecture::kGpt2, "gpt2", "Hugging Face style GPT-2: [b, s, h], conv1d, elementary gelu",
     make_gpt2},
    {Architecture::kLlama, "llama", "Hugging Face style LLaMA: RMSNorm, rotary, grouped KV, SwiGLU",
     make_llama},
    {Architecture::kCs336, "cs336",
     "RMSNorm, rotary pairs, einsum projections, hand-written softmax", make_cs336},
});

}  // namespace

std::span<const ArchitectureRow> architectures() { return kArchitectures; }

const ArchitectureRow& row_of(Architecture architecture) {
  for (const ArchitectureRow& row : kArchitectures) {
    if (row.architecture == architecture) return row;
  }
  throw InternalError("every architecture has a row");
}

}  // namespace tidemark
