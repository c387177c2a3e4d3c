// Selective checkpoints of PyTorch: what a block's listed ops make stays from forward to the
// replay, which takes it and does not run them.

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/autograd.hpp"
#include "graph/checkpoint.hpp"
#include "graph/lifetime.hpp"
#include "graph/lower.hpp"
#include "graph/op_time.hpp"
#include "graph/ops/ops.hpp"
#include "graph/policies/policy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/random_input.hpp"
#include "tests/support/replays.hpp"

namespace tidemark {
namespace {

using Kinds = std::vector<OpKind>;

Kinds kinds_of(const StepGraph& graph, Phase phase, std::int16_t layer) {
  Kinds kinds;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.ops[i];
    if (op.phase == phase && op.layer == layer) kinds.push_back(op.kind);
  }
  return kinds;
}

std::uint32_t last_of(const StepGraph& graph, Phase phase, std::int16_t layer) {
  std::uint32_t last = kNoIndex;
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    if (graph.ops[i].phase == phase && graph.ops[i].layer == layer) last = i;
  }
  return last;
}

// The last storage that an op of forward of this kind made in a block.
const Tensor& made_by(const StepGraph& graph, OpKind kind, std::int16_t layer) {
  const Tensor* found = nullptr;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.initial() || tensor.layer != layer) continue;
    const Op& op = graph.op(tensor.producer);
    if (op.kind == kind && op.phase == Phase::kForward) found = &tensor;
  }
  REQUIRE(found != nullptr);
  return *found;
}

// Two blocks y = w2 gelu(w1 x) without biases, x [1, 8, 4], 16 wide inside, in bf16; then one more
// op that saves nothing. Of a block
//   mm    u = x w1     8 * 16 * 2 = 256 bytes   saves x, then w1
//   gelu  g = gelu(u)  256                      saves u
//   mm    y = g w2     8 * 4 * 2 = 64           saves g, then w2: the last of five
// The second block's checkpoint keeps its input, y of the first.
StepGraph two_blocks(Kinds cached, bool early_stop) {
  Tape tape{Kernels{}};
  Checkpointing how;
  how.reentrant = false;
  how.early_stop = early_stop;
  how.cached.kinds = std::move(cached);
  std::vector<Value> weights;
  for (const Shape& shape : {Shape{16, 4}, Shape{4, 16}, Shape{16, 4}, Shape{4, 16}}) {
    weights.push_back(tape.initial(shape, DType::kBf16, Category::kParameters, "w"));
    tape.make_leaf(weights.back());
  }
  Value x = tape.initial({1, 8, 4}, DType::kBf16, Category::kInputs, "x");
  for (std::int16_t i = 0; i < 2; ++i) {
    tape.layer = i;
    const auto first = static_cast<std::size_t>(2 * i);
    x = checkpoint(x, {}, how, [&weights, first](const Value& in, const std::vector<Value>&) {
      return linear(gelu(linear(in, weights[first], {})), weights[first + 1], {});
    });
  }
  tape.layer = -1;
  const Value end = add_scalar(x);
  x.reset();
  tape.phase = Phase::kBackward;
  const Value seed = tape.make(OpKind::kOnes, {}, end.layout(), end.dtype());
  backward(tape, end, seed);
  return tape.finish();
}

TEST_CASE("a cached product stays and is not run again") {
  for (const bool early_stop : {true, false}) {
    const StepGraph graph = two_blocks({OpKind::kMm}, early_stop);
    const StepGraph all = two_blocks({}, early_stop);
    for (std::int16_t layer = 0; layer < 2; ++layer) {
      CHECK(kinds_of(graph, Phase::kForward, layer) ==
            Kinds{OpKind::kMm, OpKind::kGelu, OpKind::kMm});
      CHECK(kinds_of(graph, Phase::kRecompute, layer) == Kinds{OpKind::kGelu});
      CHECK(kinds_of(graph, Phase::kBackward, layer) == kinds_of(all, Phase::kBackward, layer));
    }
    // Without: the last product runs unless the replay stops where it saves w2.
    CHECK(kinds_of(all, Phase::kRecompute, 1) ==
          (early_stop ? Kinds{OpKind::kMm, OpKind::kGelu}
                      : Kinds{OpKind::kMm, OpKind::kGelu, OpKind::kMm}));
    // u and y of both blocks; without, y of the first, which the second checkpoint keeps.
    CHECK(support::kept_by_layer(graph, 0) == 256 + 64);
    CHECK(support::kept_by_layer(graph, 1) == 256 + 64);
    CHECK(support::kept_by_layer(all, 0) == 64);
    CHECK(support::kept_by_layer(all, 1) == 0);
  }
}

TEST_CASE("a cached activation leaves the products to the replay") {
  const StepGraph graph = two_blocks({OpKind::kGelu}, true);
  // g; the second product is still where the replay stops: what it reads is there.
  CHECK(support::kept_by_layer(graph, 1) == 256);
  CHECK(kinds_of(graph, Phase::kRecompute, 1) == Kinds{OpKind::kMm});
}

// The replay stops before it takes y: the cache has it until the last node of the block has run,
// which is the first product's, with one more gradient to make in the second block (that of x).
TEST_CASE("a block's last product stays until the block's backward has ended") {
  const StepGraph stops = two_blocks({OpKind::kMm}, true);
  CHECK(index(made_by(stops, OpKind::kMm, 1).last_use) == last_of(stops, Phase::kBackward, 1));
  CHECK(index(made_by(stops, OpKind::kMm, 0).last_use) == last_of(stops, Phase::kBackward, 0));
  // A replay to its end takes it as its result, which nobody wants.
  const StepGraph ends = two_blocks({OpKind::kMm}, false);
  CHECK(index(made_by(ends, OpKind::kMm, 1).last_use) == last_of(ends, Phase::kRecompute, 1));
  CHECK(index(made_by(ends, OpKind::kMm, 0).last_use) == last_of(ends, Phase::kRecompute, 0));
}

// Before the step there are x of 64 bytes and four weights of 128.
TEST_CASE("the bytes of a cached block in its backward are those counted by hand") {
  const StepGraph graph = two_blocks({OpKind::kMm}, true);
  const std::vector<Bytes> live = live_bytes(graph);
  const std::int64_t lasting = 64 + 4 * 128;
  const std::uint32_t gelu = last_of(graph, Phase::kRecompute, 1);
  // u and y of both blocks, the end and its gradient, which the script holds, and g of the second
  // block made again. The gradient of y is that of the end.
  CHECK(live[gelu].count == lasting + 2 * (256 + 64) + 64 + 64 + 256);
  // In gelu's backward of the first block: u, the gradients of g and u, the cached y, the gradient
  // that came for it has gone; the end, its gradient; three gradients of weights.
  const Kinds backward = kinds_of(graph, Phase::kBackward, 0);
  CHECK(backward == Kinds{OpKind::kMm, OpKind::kMm, OpKind::kGeluBackward, OpKind::kMm});
  const std::uint32_t last = last_of(graph, Phase::kBackward, 0);
  CHECK(live[last - 1].count == lasting + 3 * 256 + 64 + 64 + 64 + 3 * 128);
}

Checkpointing ops_policy(std::vector<std::string> keep, bool every_second, std::int64_t layers) {
  const std::vector<PolicyOption> options = {
      {"keep", 0, std::move(keep)}, {"every_second", every_second, {}}, {"replay", 0, {}}};
  const Policy& policy = *find_policy("ops");
  REQUIRE(replays_segments(policy, options));
  Checkpointing how;
  how.segments = policy.segments({layers, options});
  how.cached = policy.cached({layers, options});
  how.reentrant = false;
  return how;
}

StepGraph lowered(LoweringInput input, std::vector<std::string> keep, bool every_second = false,
                  bool early_stop = true) {
  input.checkpointing = ops_policy(std::move(keep), every_second, input.model.layers);
  input.checkpointing.early_stop = early_stop;
  return lower(input);
}

TEST_CASE("to keep no ops is the policy full without reentrant") {
  for (const bool early_stop : {true, false}) {
    LoweringInput input = support::gpt(3, 16, 2, 8, 2);
    const StepGraph none = lowered(input, {}, false, early_stop);
    support::checkpoint_every_block(input);
    input.checkpointing.reentrant = false;
    input.checkpointing.early_stop = early_stop;
    const StepGraph full = lower(input);
    REQUIRE(none.op_count() == full.op_count());
    for (std::size_t i = 0; i < full.op_count(); ++i) {
      REQUIRE(none.ops[i].kind == full.ops[i].kind);
      REQUIRE(none.ops[i].phase == full.ops[i].phase);
    }
    CHECK(live_bytes(none) == live_bytes(full));
  }
}

// In s b h of 2 bytes: q, k and v 3, the output's projection 1, the MLP 4 and 1, and the block's
// output, which the next block's checkpoint keeps, 1. Batched products: a s s b scores and the
// context, 1.
TEST_CASE("a block keeps its products and its input") {
  const std::int64_t a = 4, s = 32, b = 2, h = 64, sbh = 2 * s * b * h;
  const LoweringInput input = support::gpt(4, h, a, s, b);
  for (const int layer : {0, 1, 2}) {
    CHECK(support::kept_by_layer(lowered(input, {"matmul"}), layer) == 10 * sbh);
    CHECK(support::kept_by_layer(lowered(input, {"matmul", "batched_matmul"}), layer) ==
          11 * sbh + 2 * a * s * s * b);
    // Every second of q-k-v, projection, in, out: the first and the third.
    CHECK(support::kept_by_layer(lowered(input, {"matmul"}, true), layer) == (3 + 4 + 1) * sbh);
  }
  // The last block's output is what the final norm saves.
  CHECK(support::kept_by_layer(lowered(input, {"matmul"}), 3) == 10 * sbh);
}

// The logarithms of sums are results of fused attention too: 4 bytes a head and token.
TEST_CASE("all results of a cached op stay") {
  LoweringInput input = support::llama(2, 64, 4, 4, 96, 32, 2);
  input.kernels.attention = Kernels::Attention::kFlash;
  CHECK(support::kept_by_layer(lowered(input, {"attention"}), 0) -
            support::kept_by_layer(lowered(input, {}), 0) ==
        2 * 32 * 2 * 64 + 4 * 4 * 32 * 2);
}

// Megatron's kernel is called by no op of the framework: no policy of ops sees it.
TEST_CASE("an extension's fused softmax is not cached") {
  LoweringInput input = support::gpt(2, 16, 2, 8, 2);
  const auto kept = [&] { return support::kept_by_layer(lowered(input, {"softmax"}), 0); };
  const std::int64_t output = 2 * 8 * 2 * 16;   // of the block, in bf16
  CHECK(kept() == output + 2 * 2 * 2 * 8 * 8);  // a b s s
  input.kernels.causal = Kernels::Causal::kFused;
  CHECK(kept() == output);
}

TEST_CASE("a replay to its end takes the time of forward without the cached ops") {
  const Gpu gpu = test::round_machine().gpu;
  for (int architecture = 0; architecture < 4; ++architecture) {
    LoweringInput input = support::gpt(2, 16, 2, 8, 2);
    input.model.architecture = static_cast<Architecture>(architecture);
    input.model.dropout = false;
    const StepGraph graph = lowered(input, {"matmul", "batched_matmul", "softmax"}, false, false);
    const Kinds listed = {OpKind::kMm, OpKind::kAddmm, OpKind::kBmm, OpKind::kBaddbmm,
                          OpKind::kSoftmax};
    SimTime forward(0), cached(0), again(0);
    for (std::size_t i = 0; i < graph.op_count(); ++i) {
      const Op& op = graph.ops[i];
      if (op.layer < 0) continue;
      const bool is_listed = std::ranges::find(listed, op.kind) != listed.end();
      if (op.phase == Phase::kForward) (is_listed ? cached : forward) += op_time(gpu, op);
      if (op.phase != Phase::kRecompute) continue;
      CHECK_FALSE(is_listed);
      again += op_time(gpu, op);
    }
    CHECK(cached > SimTime(0));
    CHECK(again == forward);
  }
}

TEST_CASE("whatever is cached, replays compute what forward computed, on 150 random steps") {
  const auto names =
      std::to_array<const char*>({"matmul", "batched_matmul", "attention", "softmax", "dropout"});
  std::mt19937 random(23);
  std::size_t taken = 0;
  for (int number = 0; number < 150; ++number) {
    const LoweringInput input = support::random_input(random);
    std::vector<std::string> keep;
    for (const char* name : names) {
      if (random() % 2 == 0) keep.emplace_back(name);
    }
    const bool every_second = random() % 3 == 0, early_stop = random() % 2 == 0;
    INFO("step " << number);
    const StepGraph step = lowered(input, keep, every_second, early_stop);
    support::check_replay(lower(input), step);
    taken += lowered(input, {}, false, early_stop).op_count() - step.op_count();
  }
  CHECK(taken > 1'000);
}

}  // namespace
}  // namespace tidemark
