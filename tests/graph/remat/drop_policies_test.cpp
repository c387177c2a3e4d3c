#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/lower.hpp"
#include "graph/policies/policy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"
#include "tests/support/replays.hpp"

namespace tidemark {
namespace {

StepGraph with_policy(const StepGraph& graph, const char* name,
                      std::vector<PolicyOption> options = {}) {
  const remat::Drops drops = find_policy(name)->drops(graph, {1, options});
  return remat::replay(graph, remat::sequence_of(graph, drops));
}

PolicyOption names(std::vector<std::string> list) { return {"", 0, std::move(list)}; }
PolicyOption flag(bool on) { return {"", on ? 1 : 0, {}}; }

// Products of `layer` that run again, by the weight that they read.
std::vector<std::string> products_again(const StepGraph& graph, int layer) {
  std::vector<std::string> weights;
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    const Op& o = graph.ops[op];
    if (o.phase != Phase::kRecompute || o.layer != layer || o.work != WorkClass::kMatmul) continue;
    std::string weight = "activations";
    for (const TensorId t : graph.inputs_of(OpId{op})) {
      if (graph.tensor(t).category != Category::kParameters) continue;
      weight = graph.name(graph.tensor(t).name);
      if (weight.ends_with(".weight")) break;
    }
    weights.push_back(weight);
  }
  return weights;
}

// Korthikanti et al. 2022, section 4: of s b h (34 + 5 a s / h) bytes a layer, the attention core
// keeps 5 a s^2 b: softmax 2, dropout mask 1, dropped probabilities 2 bytes a score.
TEST_CASE("the policy selective leaves 5 a s^2 b bytes a layer less") {
  const std::int64_t a = 4, s = 32, b = 2;
  const StepGraph graph = lower(support::gpt(3, 64, a, s, b));
  const StepGraph step = with_policy(graph, "selective");
  for (const int layer : {0, 1, 2}) {
    CHECK(support::kept_by_layer(graph, layer) - support::kept_by_layer(step, layer) ==
          5 * a * s * s * b);
    // q k^T; the context stays, as the output of the part.
    CHECK(products_again(step, layer).size() == 1);
  }
}

TEST_CASE("the policy modules drops norms and activations at no product's cost") {
  const std::int64_t s = 32, b = 2, h = 64;
  const StepGraph graph = lower(support::gpt(3, h, 4, s, b));
  const StepGraph step =
      with_policy(graph, "modules", {names({"norm", "mlp_activation"}), flag(false)});
  CHECK(products_again(step, 1).empty());
  // Two norms of s b h and a GELU of 4 s b h at 2 bytes each, and the norms' two fp32 statistics.
  CHECK(support::kept_by_layer(graph, 1) - support::kept_by_layer(step, 1) ==
        2 * (2 + 4) * s * b * h + 2 * 2 * 4 * s * b);
}

TEST_CASE("keeping products runs none of them again") {
  for (const StepGraph& graph : support::small_steps()) {
    const StepGraph step =
        with_policy(graph, "ops", {names({"matmul", "batched_matmul", "attention"}), flag(false)});
    CHECK(products_again(step, 1).empty());
  }
}

// torchtitan counts a block's linears from 1 and keeps the odd ones: in the order q k v o gate up
// down, k, o and up run again.
TEST_CASE("every second product of a llama block is k, o and up") {
  const StepGraph graph = lower(support::llama(2, 64, 4, 4, 96, 32, 1));
  const StepGraph step =
      with_policy(graph, "ops", {names({"matmul", "batched_matmul", "attention"}), flag(true)});
  std::vector<std::string> again = products_again(step, 0);
  std::ranges::sort(again);
  CHECK(again == std::vector<std::string>{"k_proj.weight", "o_proj.weight", "up_proj.weight"});
}

// jax.checkpoint_policies.nothing_saveable, block by block: 2 s b h is left.
TEST_CASE("keeping no op's results leaves each block's input") {
  const std::int64_t s = 32, b = 2, h = 64;
  const StepGraph graph = lower(support::gpt(4, h, 4, s, b));
  const StepGraph step = with_policy(graph, "ops", {names({}), flag(false)});
  CHECK(support::kept_by_layer(step, 1) == 2 * s * b * h);
  CHECK(support::kept_by_layer(step, 2) == 2 * s * b * h);
  CHECK(products_again(step, 1).size() > 4);
  // Nothing from before the blocks: the embedding's output and the mask are inputs of theirs.
  const StepGraph llama =
      with_policy(lower(support::llama(2, 64, 4, 4, 96, 32, 1)), "ops", {names({}), flag(false)});
  for (std::size_t op = 0; op < llama.op_count(); ++op) {
    CHECK((llama.ops[op].phase != Phase::kRecompute || llama.ops[op].layer >= 0));
  }
}

TEST_CASE("every policy's step finds what it reads, in every architecture") {
  for (const StepGraph& graph : support::small_steps()) {
    for (const Policy& policy : policies()) {
      if (policy.drops == nullptr) continue;
      std::vector<PolicyOption> options;
      for (const OptionSpec& option : policy.options) {
        std::vector<std::string> all;
        for (const std::string_view name : option.choices) all.emplace_back(name);
        options.push_back({std::string(option.name), 0, all});
      }
      support::check_replay(graph, with_policy(graph, policy.name.data(), options));
    }
  }
}

}  // namespace
}  // namespace tidemark
