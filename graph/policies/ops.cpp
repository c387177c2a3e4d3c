#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/policies/policy.hpp"

namespace tidemark {

DropsFn recompute_other_ops, keep_dots, keep_dots_without_batch, keep_nothing;
CachedFn cache_ops;

namespace {

bool is_plain_product(OpKind kind) { return kind == OpKind::kAddmm || kind == OpKind::kMm; }

bool is_batched_product(OpKind kind) { return kind == OpKind::kBmm || kind == OpKind::kBaddbmm; }

// Rows of kKeepChoices (table.cpp).
bool matches(std::string_view name, OpKind kind) {
  if (name == "matmul") return is_plain_product(kind);
  if (name == "batched_matmul") return is_batched_product(kind);
  if (name == "attention") return kind == OpKind::kFlashAttention;
  if (name == "softmax") return kind == OpKind::kSoftmax || kind == OpKind::kFusedSoftmax;
  if (name == "dropout") return kind == OpKind::kDropout;
  return false;
}

// Tensors that forward hands from one block to another, or to the head.
std::vector<bool> inputs_of_blocks(const StepGraph& graph) {
  std::vector<bool> found(graph.tensors.size(), false);
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    const Op& o = graph.ops[op];
    if (o.phase != Phase::kForward) continue;
    for (const TensorId t : graph.inputs_of(OpId{op})) {
      if (graph.tensor(t).layer != o.layer) found[index(t)] = true;
    }
  }
  return found;
}

// Each block's input stays, and of what the listed kinds of op make all that something reads later.
remat::Drops recompute_all_but(const StepGraph& graph, std::span<const std::string> keep,
                               bool every_second) {
  const std::vector<bool> block_inputs = inputs_of_blocks(graph);
  std::vector<remat::Fate> fate(graph.tensors.size(), remat::Fate::kAsSaved);
  std::int64_t products = 0;  // of this block's forward
  std::int16_t layer = -1;
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    const Op& o = graph.ops[op];
    if (o.phase != Phase::kForward) continue;
    if (o.layer < 0) {  // what the blocks get, the first one's input and masks
      for (const TensorId t : graph.outputs_of(OpId{op})) {
        if (block_inputs[index(t)]) fate[index(t)] = remat::Fate::kKept;
      }
      continue;
    }
    if (o.layer != layer) products = 0;
    layer = o.layer;
    bool kept = std::ranges::any_of(keep, [&](const auto& name) { return matches(name, o.kind); });
    if (is_plain_product(o.kind) && kept && every_second) kept = ++products % 2 == 1;
    for (const TensorId t : graph.outputs_of(OpId{op})) {
      const bool stays = kept || block_inputs[index(t)];
      fate[index(t)] = stays ? remat::Fate::kKept : remat::Fate::kDropped;
    }
  }
  return {std::move(fate), remat::Timing::kEntry};
}

}  // namespace

// As eager PyTorch does it: create_selective_checkpoint_contexts with a policy that saves the
// listed ops, around each block. torchtitan's "selective"
// (torchtitan/models/llama3/infra/parallelize.py, _custom_policy) recomputes every second product
// of a block, counted from the first.
CachedOps cache_ops(const PolicyInput& input) {
  CachedOps cached;
  cached.odd_products_only = input.options[1].integer != 0;
  for (int row = 0; row < kOpKindCount; ++row) {
    const auto kind = static_cast<OpKind>(row);
    // No op of the framework: an extension's function, which no policy sees.
    if (kind == OpKind::kFusedSoftmax) continue;
    for (const std::string& name : input.options[0].names) {
      if (matches(name, kind)) cached.kinds.push_back(kind);
    }
  }
  return cached;
}

// The same compiled: jax.checkpoint_policies, or torch.compile of a selective checkpoint.
remat::Drops recompute_other_ops(const StepGraph& graph, const PolicyInput& input) {
  return recompute_all_but(graph, input.options[0].names, input.options[1].integer != 0);
}

// jax.checkpoint_policies (jax/_src/ad_checkpoint.py): what dot_general makes stays, with or
// without batch dimensions. A fused attention is no dot.
remat::Drops keep_dots(const StepGraph& graph, const PolicyInput&) {
  const std::array<std::string, 2> keep{"matmul", "batched_matmul"};
  return recompute_all_but(graph, keep, false);
}

// Likewise, of dots without batch dimensions: products with weights.
remat::Drops keep_dots_without_batch(const StepGraph& graph, const PolicyInput&) {
  const std::array<std::string, 1> keep{"matmul"};
  return recompute_all_but(graph, keep, false);
}

remat::Drops keep_nothing(const StepGraph& graph, const PolicyInput&) {
  return recompute_all_but(graph, {}, false);
}

}  // namespace tidemark
