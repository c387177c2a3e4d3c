#include <algorithm>
#include <array>

#include "graph/policies/modules.hpp"
#include "graph/policies/policy.hpp"

namespace tidemark {

SegmentsFn keep_all, recompute_every_block, recompute_every_n, recompute_first_blocks,
    recompute_sequential, recompute_sqrt;
DropsFn recompute_attention_core, recompute_modules, recompute_other_ops;
PlannerFn plan_layered, plan_revolve;

namespace {

using Names = std::string_view;

constexpr auto kEveryNOptions = std::to_array<OptionSpec>({
    {.name = "n",
     .kind = OptionKind::kInteger,
     .preset = "2",
     .most = 1'000'000,
     .text = "blocks in a segment: the input of every n-th block is kept"},
});

constexpr auto kBlockOptions = std::to_array<OptionSpec>({
    {.name = "n",
     .kind = OptionKind::kInteger,
     .preset = "1",
     .most = 1'000'000,
     .text = "how many blocks, from the first"},
});

constexpr auto kSequentialOptions = std::to_array<OptionSpec>({
    {.name = "segments",
     .kind = OptionKind::kInteger,
     .preset = "2",
     .most = 1'000'000,
     .text = "how many; the last one keeps everything"},
});

constexpr auto kModuleChoices = [] {
  std::array<Names, kModuleNames.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kModuleNames[i].name;
  return names;
}();

constexpr auto kModulesOptions = std::to_array<OptionSpec>({
    {.name = "modules",
     .kind = OptionKind::kNames,
     .preset = "norm, mlp_activation",
     .choices = kModuleChoices,
     .text = "parts of a block"},
    {.name = "keep_outputs",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "what other parts read stays"},
});

constexpr auto kKeepChoices =
    std::to_array<Names>({"matmul", "batched_matmul", "attention", "softmax", "dropout"});

constexpr auto kOpsOptions = std::to_array<OptionSpec>({
    {.name = "keep",
     .kind = OptionKind::kNames,
     .preset = "matmul, attention",
     .choices = kKeepChoices,
     .text = "kinds of op whose results stay; a block's input always does"},
    {.name = "every_second",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "of the products that stay, every second is recomputed (torchtitan: selective)"},
});

constexpr std::string_view kBudgetText =
    "HBM that the step may use at its peak; whatever fits the GPU unless stated";

constexpr auto kBudgetOptions = std::to_array<OptionSpec>({
    {.name = "budget", .kind = OptionKind::kBytes, .text = kBudgetText},
});

constexpr auto kLayeredOptions = std::to_array<OptionSpec>({
    {.name = "budget", .kind = OptionKind::kBytes, .text = kBudgetText},
    {.name = "greedy",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "along the convex hull of each block's front: faster to plan, a little worse"},
});

constexpr auto kPolicies = std::to_array<Policy>({
    {"none", "keep everything that backward reads", {}, keep_all},
    {"full", "keep each block's input, replay the block in backward", {}, recompute_every_block},
    {"every-n", "keep every n-th block's input, replay n blocks at a time (Megatron: uniform)",
     kEveryNOptions, recompute_every_n},
    {"block", "replay the first n blocks, keep all of the others (Megatron: block)", kBlockOptions,
     recompute_first_blocks},
    {"sequential", "equal segments, the last keeps everything (checkpoint_sequential)",
     kSequentialOptions, recompute_sequential},
    {"sqrt", "segments of sqrt(layers) blocks (Chen et al. 2016)", {}, recompute_sqrt},
    {"selective",
     "recompute the attention core: scores, softmax, dropout, context (Megatron)",
     {},
     nullptr,
     recompute_attention_core},
    {"modules", "recompute named parts of every block", kModulesOptions, nullptr,
     recompute_modules},
    {"ops", "keep what the named kinds of op make, recompute the rest (PyTorch SAC, JAX)",
     kOpsOptions, nullptr, recompute_other_ops},
    {"layered", "the best choice of what each block keeps, for a budget", kLayeredOptions, nullptr,
     nullptr, plan_layered},
    {"revolve", "whole blocks again and again, from as many checkpoints as fit a budget",
     kBudgetOptions, nullptr, nullptr, plan_revolve},
});

}  // namespace

std::span<const Policy> policies() { return kPolicies; }

const Policy* find_policy(std::string_view name) {
  const auto found = std::ranges::find(kPolicies, name, &Policy::name);
  return found == kPolicies.end() ? nullptr : &*found;
}

}  // namespace tidemark
