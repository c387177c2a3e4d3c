#include <algorithm>
#include <array>

#include "graph/policies/policy.hpp"

namespace tidemark {

PolicyFn keep_all, recompute_every_block, recompute_every_n;

namespace {

constexpr auto kEveryNOptions = std::to_array<OptionSpec>({
    {.name = "n",
     .kind = OptionKind::kInteger,
     .preset = "2",
     .most = 1'000'000,
     .text = "blocks in a segment: the input of every n-th block is kept"},
});

constexpr auto kPolicies = std::to_array<Policy>({
    {"none", "keep everything that backward reads", {}, keep_all},
    {"full", "keep each block's input, replay the block in backward", {}, recompute_every_block},
    {"every-n", "keep every n-th block's input, replay n blocks at a time", kEveryNOptions,
     recompute_every_n},
});

}  // namespace

std::span<const Policy> policies() { return kPolicies; }

const Policy* find_policy(std::string_view name) {
  const auto found = std::ranges::find(kPolicies, name, &Policy::name);
  return found == kPolicies.end() ? nullptr : &*found;
}

}  // namespace tidemark
