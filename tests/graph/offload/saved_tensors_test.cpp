#include "graph/offload/saved_tensors.hpp"

#include <set>
#include <vector>

#include "tests/support/block_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"

namespace tidemark {
namespace {

using test::BlockStep;

ActivationOffload all_to_host() {
  ActivationOffload options;
  options.to = ActivationOffload::To::kHost;
  options.larger_than = 0_B;
  options.keep_last = 0;
  return options;
}

std::vector<TensorId> ids(const std::vector<SavedTensor>& tensors) {
  std::vector<TensorId> found;
  for (const SavedTensor& x : tensors) found.push_back(x.tensor);
  return found;
}

TEST_CASE("a saved tensor may leave when it is saved, and has to be back for its first reader") {
  // f0 (op 1) saves x0, f1 (2) x1, head (3) x2; head' (4), b1 (5), b0 (6) read them.
  const BlockStep step = BlockStep{}.build();
  const std::vector<SavedTensor> found = saved_tensors(step.graph, all_to_host());
  REQUIRE(ids(found) == step.activations[0]);
  const std::vector<std::uint32_t> saved{1, 2, 3}, read{6, 5, 4};
  // One visit ahead: x0 when b1 (visit 5) begins, x1 and x2 when backward (visit 4) does.
  const std::vector<std::uint32_t> fetch_after{4, 3, 3};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(found[i].saved == OpId{saved[i]});
    CHECK(found[i].last_forward == OpId{saved[i]});
    CHECK(found[i].first_backward == OpId{read[i]});
    CHECK(found[i].last_backward == OpId{read[i]});
    CHECK(found[i].visit == read[i]);
    CHECK(found[i].fetch_after == OpId{fetch_after[i]});
  }
}

TEST_CASE("prefetch goes visits ahead, no further than the beginning of backward") {
  const BlockStep step = BlockStep{}.build();
  ActivationOffload options = all_to_host();
  const auto fetched_after = [&](std::int64_t prefetch) {
    options.prefetch = prefetch;
    std::vector<std::uint32_t> after;
    for (const SavedTensor& x : saved_tensors(step.graph, options)) {
      after.push_back(index(x.fetch_after));
    }
    return after;
  };
  CHECK(fetched_after(0) == std::vector<std::uint32_t>{5, 4, 3});
  CHECK(fetched_after(2) == std::vector<std::uint32_t>{3, 3, 3});
  CHECK(fetched_after(99) == std::vector<std::uint32_t>{3, 3, 3});
}

TEST_CASE("the last blocks, and head and loss with them, may keep theirs") {
  const BlockStep step = BlockStep{}.build();
  ActivationOffload options = all_to_host();
  const auto moved = [&](std::int64_t keep) {
    options.keep_last = keep;
    return ids(saved_tensors(step.graph, options));
  };
  const std::vector<TensorId>& x = step.activations[0];
  CHECK(moved(0) == x);
  CHECK(moved(1) == std::vector{x[0]});
  CHECK(moved(2).empty());
  CHECK(moved(1000).empty());
}

TEST_CASE("every pass moves its own tensors, within its own backward") {
  BlockStep step;
  step.passes = 2;
  step.build();
  const std::vector<SavedTensor> found = saved_tensors(step.graph, all_to_host());
  REQUIRE(found.size() == 6);
  CHECK(found[3].tensor == step.activations[1][0]);
  CHECK(found[3].fetch_after == step.op(1, 4));
  CHECK(found[5].fetch_after == step.op(1, 3));
}

TEST_CASE("tensors below the size stay, and one of exactly the size moves") {
  const BlockStep step = BlockStep{}.build();
  ActivationOffload options = all_to_host();
  options.larger_than = 10'000_B;
  CHECK(saved_tensors(step.graph, options).size() == 3);
  options.larger_than = 10'001_B;
  CHECK(saved_tensors(step.graph, options).empty());
}

TEST_CASE("a tensor that several nodes save moves once, when the first has saved it") {
  BlockStep step;
  step.build();
  step.graph.saves.push_back({step.activations[0][0], NameId{0}, OpId{3}});
  const std::vector<SavedTensor> found = saved_tensors(step.graph, all_to_host());
  REQUIRE(found.size() == 3);
  CHECK(found[0].saved == OpId{1});
}

TEST_CASE(
    "a tensor that forward reads later stays until then, and one that it writes leaves later") {
  BlockStep step;
  step.build();
  // Head (3) reads x0 too, in the place of its own weight.
  step.graph.inputs[step.graph.ops[3].first_input] = step.activations[0][0];
  std::vector<SavedTensor> found = saved_tensors(step.graph, all_to_host());
  CHECK(found[0].saved == OpId{1});
  CHECK(found[0].last_forward == OpId{3});
  // ... or writes to it.
  step.graph.inputs[step.graph.ops[3].first_input] = step.weights[3];
  step.graph.updated.push_back(step.activations[0][0]);
  for (std::size_t i = 4; i < step.graph.ops.size(); ++i) step.graph.ops[i].first_updated = 1;
  found = saved_tensors(step.graph, all_to_host());
  REQUIRE(found.size() == 3);
  const auto x0 = std::find_if(found.begin(), found.end(), [&](const SavedTensor& x) {
    return x.tensor == step.activations[0][0];
  });
  CHECK(x0->saved == OpId{3});
  CHECK(x0->last_forward == OpId{3});
}

TEST_CASE("parameters, constants, and what the script keeps after backward never move") {
  BlockStep step;
  step.build();
  const auto moved = [&] { return saved_tensors(step.graph, all_to_host()).size(); };
  step.graph.saves.push_back({step.weights[1], NameId{0}, OpId{1}});
  CHECK(moved() == 3);
  Tensor& x0 = step.graph.tensors[index(step.activations[0][0])];
  x0.category = Category::kConstants;
  CHECK(moved() == 2);
  x0.category = Category::kActivations;
  CHECK(moved() == 3);
  x0.last_use = kNoOp;
  CHECK(moved() == 2);
  x0.last_use = OpId{7};
  step.graph.ops[7].phase = Phase::kZeroGrad;  // a variable of the script lets go then
  CHECK(moved() == 2);
}

TEST_CASE("what backward does not read stays") {
  BlockStep step;
  step.build();
  step.graph.inputs[step.graph.ops[6].first_input + 1] = step.weights[1];  // b0, in the place of x0
  CHECK(ids(saved_tensors(step.graph, all_to_host())) ==
        std::vector{step.activations[0][1], step.activations[0][2]});
}

TEST_CASE("with the waiting form each tensor comes back right before its reader") {
  const BlockStep step = BlockStep{}.build();
  ActivationOffload options = all_to_host();
  options.synchronous = true;
  const std::vector<SavedTensor> found = saved_tensors(step.graph, options);
  REQUIRE(found.size() == 3);
  for (const SavedTensor& x : found) CHECK(index(x.fetch_after) + 1 == index(x.first_backward));
}

TEST_CASE("block inputs of a checkpointed step are all that it saves in its blocks") {
  LoweringInput input = support::gpt(3, 16, 4, 8, 2);
  support::checkpoint_every_block(input);
  input.checkpointing.reentrant = GENERATE(false, true);
  const StepGraph graph = lower(input);
  ActivationOffload options = all_to_host();
  options.which = ActivationOffload::Which::kBlockInputs;
  const std::vector<SavedTensor> found = saved_tensors(graph, options);
  // The input of each block: tokens x hidden in bf16.
  REQUIRE(found.size() == 3);
  for (const SavedTensor& x : found) {
    CHECK(graph.tensor(x.tensor).bytes == Bytes(8 * 2 * 16 * 2));
    CHECK(graph.op(x.first_backward).phase == Phase::kRecompute);
  }
}

TEST_CASE("without checkpoints a block's input is what it saves and another block made") {
  const StepGraph graph = lower(support::gpt(3, 16, 4, 8, 2));
  ActivationOffload options = all_to_host();
  options.which = ActivationOffload::Which::kBlockInputs;
  const std::vector<SavedTensor> found = saved_tensors(graph, options);
  REQUIRE(found.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(graph.op(found[i].saved).layer == static_cast<int>(i));
    CHECK(graph.tensor(found[i].tensor).layer == static_cast<int>(i) - 1);
  }
}

TEST_CASE("named modules move what their ops save, and all modules move everything") {
  const StepGraph graph = lower(support::gpt(2, 16, 4, 8, 2));
  ActivationOffload options = all_to_host();
  const std::size_t everything = saved_tensors(graph, options).size();
  options.which = ActivationOffload::Which::kModules;
  options.modules = 0xffffffff;
  CHECK(saved_tensors(graph, options).size() == everything);
  options.modules = 1u << static_cast<unsigned>(Module::kMlpActivation);
  const std::vector<SavedTensor> found = saved_tensors(graph, options);
  // gelu saves its input: tokens x 4 hidden in bf16.
  REQUIRE(found.size() == 2);
  for (const SavedTensor& x : found) {
    CHECK(graph.tensor(x.tensor).bytes == Bytes(8 * 2 * 64 * 2));
    CHECK(graph.op(x.saved).kind == OpKind::kGelu);
  }
  options.modules = 0;
  CHECK(saved_tensors(graph, options).empty());
}

// Korthikanti et al. (arXiv:2205.05198): a GPT layer without parallelism keeps sbh (34 + 5 as/h)
// bytes from forward to backward. Moving everything moves exactly that, masks (1 byte) included.
TEST_CASE("all saved tensors of the blocks are what a layer keeps") {
  const std::int64_t s = 8, b = 2, h = 16, a = 4;
  const StepGraph graph = lower(support::gpt(4, h, a, s, b));
  std::int64_t bytes = 0;
  for (const SavedTensor& x : saved_tensors(graph, all_to_host())) {
    if (graph.tensor(x.tensor).layer == 1) bytes += graph.tensor(x.tensor).bytes.count;
  }
  CHECK(bytes == support::kept_by_layer(graph, 1));
}

}  // namespace
}  // namespace tidemark
