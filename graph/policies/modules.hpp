#pragma once
// The parts of a block by the names that users write.

#include <array>
#include <string_view>

#include "graph/op.hpp"

namespace tidemark {

struct ModuleName {
  std::string_view name;
  Module module;
};

inline constexpr std::array<ModuleName, 8> kModuleNames = {{
    {"norm", Module::kNorm},
    {"qkv", Module::kQkv},
    {"rotary", Module::kRotary},
    {"attention_core", Module::kAttentionCore},
    {"attention_output", Module::kAttentionOutput},
    {"mlp_in", Module::kMlpIn},
    {"mlp_activation", Module::kMlpActivation},
    {"mlp_out", Module::kMlpOut},
}};

}  // namespace tidemark
