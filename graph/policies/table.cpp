#include <algorithm>
#include <array>

#include "graph/policies/modules.hpp"
#include "graph/policies/policy.hpp"
#include "graph/remat/dtr.hpp"

namespace tidemark {

SegmentsFn keep_all, recompute_every_block, recompute_every_n, recompute_first_blocks,
    recompute_sequential, recompute_sqrt;
DropsFn recompute_attention_core, recompute_modules, recompute_other_ops, keep_dots,
    keep_dots_without_batch, keep_nothing;
CachedFn cache_ops;
PlannerFn plan_layered, plan_revolve, plan_rotor, plan_rotor_plus, plan_optimal, plan_min_cut,
    plan_knapsack, plan_ilp, plan_dtr, plan_greedy;
RuntimeFn run_dtr;

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

constexpr auto kReplayChoices = std::to_array<Names>({"block", "needed"});

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
    {.name = "replay",
     .kind = OptionKind::kChoice,
     .preset = "block",
     .choices = kReplayChoices,
     .text = "block: each block under a checkpoint that caches all that those ops make (PyTorch, "
             "eager); needed: what is read stays or runs again, tensor by tensor, as compilers do "
             "it (JAX, torch.compile)"},
});

constexpr std::string_view kBudgetText =
    "HBM that the step may use at its peak, as reserved where the allocator keeps a cache; "
    "whatever "
    "fits the GPU unless stated";

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

constexpr auto kDestinations = std::to_array<Names>({"any", "host", "ssd"});

constexpr auto kPlannersOfChains = std::to_array<Names>({"layered", "rotor+", "rotor"});

constexpr auto kHybridOptions = std::to_array<OptionSpec>({
    {.name = "budget", .kind = OptionKind::kBytes, .text = kBudgetText},
    {.name = "to",
     .kind = OptionKind::kChoice,
     .preset = "any",
     .choices = kDestinations,
     .text = "where activations may move; any: to the SSD what the host has no room for"},
});

constexpr auto kUniformOptions = std::to_array<OptionSpec>({
    {.name = "n",
     .kind = OptionKind::kInteger,
     .preset = "1",
     .most = 1'000'000,
     .text = "--recompute-num-layers: blocks in a segment"},
});

constexpr auto kWorthChoices = std::to_array<Names>({"flops", "time", "one"});

constexpr auto kKnapsackOptions = std::to_array<OptionSpec>({
    {.name = "budget",
     .kind = OptionKind::kNumber,
     .preset = "0.5",
     .text = "activation_memory_budget: share of what torch.compile saves that stays"},
    {.name = "worth",
     .kind = OptionKind::kChoice,
     .preset = "flops",
     .choices = kWorthChoices,
     .text = "what not running an op again counts for"},
});

constexpr auto kScoreChoices = [] {
  std::array<Names, remat::kDtrScores.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = remat::kDtrScores[i].name;
  return names;
}();

constexpr auto kDtrOptions = std::to_array<OptionSpec>({
    {.name = "budget", .kind = OptionKind::kBytes, .text = kBudgetText},
    {.name = "heuristic",
     .kind = OptionKind::kChoice,
     .preset = "h_DTR",
     .choices = kScoreChoices,
     .text = "the score by which a tensor is evicted"},
});

#ifdef TIDEMARK_HAS_CBC
constexpr std::int64_t kSecond = 1'000'000'000'000;

constexpr auto kMoveChoices = std::to_array<Names>({"none", "host"});

constexpr auto kIlpOptions = std::to_array<OptionSpec>({
    {.name = "budget", .kind = OptionKind::kBytes, .text = kBudgetText},
    {.name = "time_limit",
     .kind = OptionKind::kTime,
     .preset = "10 s",
     .least = kSecond / 1000,
     .most = 3600 * kSecond,
     .text = "processor time for each integer program, of which a run solves several; a search "
             "that it cuts short depends on the machine"},
    {.name = "move",
     .kind = OptionKind::kChoice,
     .preset = "none",
     .choices = kMoveChoices,
     .text = "host: what is kept may also be there between forward and backward; of steps of any "
             "size, then, the program says what blocks keep, and the best as simulated is taken, "
             "of plans that move and that do not"},
});
#endif

constexpr auto kPolicies = std::to_array<Policy>({
    {"none", "keep everything that backward reads", {}, keep_all},
    {"full",
     "keep each block's input, replay the block in backward (Megatron: --recompute-granularity "
     "full; Hugging Face: gradient_checkpointing_enable; torchtitan: full)",
     {},
     recompute_every_block},
    {"every-n", "keep every n-th block's input, replay n blocks at a time", kEveryNOptions,
     recompute_every_n},
    {"uniform", "the same by the name that Megatron gives it (--recompute-method uniform)",
     kUniformOptions, recompute_every_n},
    {"block",
     "replay the first n blocks, keep all of the others (Megatron: --recompute-method block)",
     kBlockOptions, recompute_first_blocks},
    {"sequential",
     "equal segments, the last keeps everything (torch.utils.checkpoint.checkpoint_sequential)",
     kSequentialOptions, recompute_sequential},
    {"sqrt", "segments of sqrt(layers) blocks (Chen et al. 2016)", {}, recompute_sqrt},
    {"greedy",
     "segments that end where they would keep more than so many bytes, the best such size for a "
     "budget (Chen et al. 2016)",
     kBudgetOptions, nullptr, nullptr, plan_greedy},
    {"selective",
     "recompute the attention core: scores, softmax, dropout, context (Megatron: "
     "--recompute-granularity selective)",
     {},
     nullptr,
     recompute_attention_core},
    {"modules", "recompute named parts of every block (Megatron: --recompute-modules)",
     kModulesOptions, nullptr, recompute_modules},
    {"ops",
     "keep what the named kinds of op make, recompute the rest (PyTorch: "
     "create_selective_checkpoint_contexts; JAX: jax.checkpoint_policies)",
     kOpsOptions,
     recompute_every_block,
     recompute_other_ops,
     nullptr,
     false,
     Policy::Moves::kNever,
     {},
     nullptr,
     cache_ops},
    {"dots_saveable",
     "keep what products make, tensor by tensor (JAX: checkpoint_policies.dots_saveable)",
     {},
     nullptr,
     keep_dots},
    {"dots_with_no_batch_dims_saveable",
     "keep what products with weights make "
     "(JAX: checkpoint_policies.dots_with_no_batch_dims_saveable)",
     {},
     nullptr,
     keep_dots_without_batch},
    {"nothing_saveable",
     "keep each block's input, make again what is read "
     "(JAX: checkpoint_policies.nothing_saveable)",
     {},
     nullptr,
     keep_nothing},
    {"min-cut",
     "of each block the fewest bytes from which cheap ops alone make the rest (torch.compile)",
     {},
     nullptr,
     nullptr,
     plan_min_cut},
    {"knapsack",
     "of that a share, by the products that are worth most "
     "(torch._functorch.config.activation_memory_budget)",
     kKnapsackOptions, nullptr, nullptr, plan_knapsack},
    {"layered", "the best choice of what each block keeps, for a budget", kLayeredOptions, nullptr,
     nullptr, plan_layered},
    {"revolve",
     "whole blocks again and again, from as many checkpoints as fit a budget (Griewank and "
     "Walther)",
     kBudgetOptions, nullptr, nullptr, plan_revolve},
    {"rotor",
     "the best persistent schedule of blocks that keep all or nothing, for a budget (Beaumont et "
     "al.)",
     kBudgetOptions, nullptr, nullptr, plan_rotor},
    {"rotor+", "the same with a choice of what halves of blocks keep", kBudgetOptions, nullptr,
     nullptr, plan_rotor_plus},
    {"optimal", "the best plan for a budget: of none, layered, rotor+, segments and revolve",
     kBudgetOptions, nullptr, nullptr, plan_optimal, false, Policy::Moves::kNever,
     kPlannersOfChains},
    {"hybrid",
     "keep, recompute, or move to the host or the SSD: optimal's plans with as much moved as a "
     "budget asks for, the fastest as simulated (Capuchin, POFO)",
     kHybridOptions, nullptr, nullptr, plan_optimal, false, Policy::Moves::kBySearch,
     kPlannersOfChains},
#ifdef TIDEMARK_HAS_CBC
    {"ilp",
     "an integer program for a budget: the whole schedule of steps up to 60 ops (Checkmate), else "
     "what blocks keep; starts from optimal's plan",
     kIlpOptions, nullptr, nullptr, plan_ilp, true, Policy::Moves::kByPlanner},
#endif
    {"dtr",
     "evict tensors while training where a budget is short, make them again on demand (Dynamic "
     "Tensor Rematerialization)",
     kDtrOptions,
     nullptr,
     nullptr,
     plan_dtr,
     false,
     Policy::Moves::kNever,
     {},
     run_dtr},
});

}  // namespace

std::span<const Policy> policies() { return kPolicies; }

bool replays_segments(const Policy& policy, std::span<const PolicyOption> options) {
  if (policy.segments == nullptr || policy.drops == nullptr) return policy.segments != nullptr;
  const auto option = std::ranges::find(options, "replay", &PolicyOption::name);
  return option == options.end() || option->integer == 0;
}

bool moves_activations(const Policy& policy, std::span<const PolicyOption> options) {
  if (policy.moves != Policy::Moves::kByPlanner) return policy.moves != Policy::Moves::kNever;
  const auto option = std::ranges::find(options, "move", &PolicyOption::name);
  return option != options.end() && option->integer != 0;
}

const Policy* find_policy(std::string_view name) {
  const auto found = std::ranges::find(kPolicies, name, &Policy::name);
  return found == kPolicies.end() ? nullptr : &*found;
}

}  // namespace tidemark
