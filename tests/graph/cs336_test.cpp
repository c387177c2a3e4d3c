// The lowering of cs336 against the allocator log of a real GPU (tests/data/autograd/README.md says
// whose): every figure to the byte, and what is left is named.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "graph/lifetime.hpp"
#include "graph/lower.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"

namespace tidemark {
namespace {

using test::Row;

std::vector<Row> gpu_targets() { return test::csv_rows("tests/data/autograd/gpu_targets.csv"); }

std::int64_t number(const Row& row, const char* column) { return std::stoll(row.at(column)); }

// What the GPU had, less its level before the step.
std::int64_t rise(const Row& row, const char* column) {
  return number(row, column) - number(row, "live_begin");
}

std::int64_t tokens(const Row& row) { return number(row, "sequence") * number(row, "micro_batch"); }

LoweringInput input_of(const Row& row) {
  LoweringInput input;
  input.model.architecture = Architecture::kCs336;
  input.model.layers = number(row, "layers");
  input.model.hidden = number(row, "hidden");
  input.model.heads = input.model.kv_heads = number(row, "heads");
  input.model.head_dim = input.model.hidden / input.model.heads;
  input.model.ffn = number(row, "ffn");
  input.model.vocab = number(row, "vocab");
  input.model.max_positions = number(row, "sequence");
  input.training.sequence = number(row, "sequence");
  input.training.micro_batch = number(row, "micro_batch");
  input.training.precision =
      row.at("precision") == "autocast" ? Precision::kAutocast : Precision::kFp32;
  input.kernels.loss = Kernels::Loss::kNative;
  input.kernels.keep_logits = true;
  return input;
}

std::int64_t start_of(const StepGraph& graph) {
  std::int64_t bytes = 0;
  for (const Tensor& tensor : graph.tensors) bytes += tensor.initial() ? tensor.bytes.count : 0;
  return bytes;
}

// Highest level during a phase, less the level before the step.
std::int64_t peak(const StepGraph& graph, Phase phase) {
  const std::vector<Bytes> live = live_bytes(graph);
  std::int64_t most = 0;
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (graph.ops[i].phase == phase) most = std::max(most, live[i].count);
  }
  return most - start_of(graph);
}

OpId first_of(const StepGraph& graph, Phase phase) {
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    if (graph.ops[i].phase == phase) return OpId(i);
  }
  return kNoOp;
}

// Level when an op starts, less the level before the step.
std::int64_t level_before(const StepGraph& graph, OpId op) {
  std::int64_t bytes = live_bytes(graph)[index(op)].count - start_of(graph);
  for (const TensorId made : graph.outputs_of(op)) bytes -= graph.tensor(made).bytes.count;
  return bytes;
}

struct Made {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  bool operator==(const Made& other) const { return count == other.count && bytes == other.bytes; }
};

// Allocations of 16 KiB and more.
Made made_in(const StepGraph& graph, Phase phase) {
  Made made;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.initial() || graph.op(tensor.producer).phase != phase) continue;
    if (tensor.bytes < 16_KiB) continue;
    ++made.count;
    made.bytes += tensor.bytes.count;
  }
  return made;
}

TEST_CASE("the peaks of cs336 in forward, backward and optimizer are those of a real GPU") {
  for (const Row& row : gpu_targets()) {
    CAPTURE(row.at("sequence"));
    const StepGraph graph = lower(input_of(row));
    CHECK(peak(graph, Phase::kForward) == rise(row, "peak_forward"));
    CHECK(peak(graph, Phase::kBackward) == rise(row, "peak_backward"));
    CHECK(peak(graph, Phase::kOptimizer) == rise(row, "peak_optimizer"));
  }
}

TEST_CASE("what cs336 leaves alive after each phase is what a real GPU had") {
  for (const Row& row : gpu_targets()) {
    CAPTURE(row.at("sequence"));
    const StepGraph graph = lower(input_of(row));
    // The GPU's forward ends with the gradient of the loss, 4 bytes, which is backward's first
    // tensor here.
    const OpId seed = first_of(graph, Phase::kBackward);
    CHECK(level_before(graph, seed) + 4 == rise(row, "live_after_forward"));
    CHECK(level_before(graph, first_of(graph, Phase::kOptimizer)) ==
          rise(row, "live_after_backward"));
    // The GPU's step ends before gradients, logits and loss are let go.
    CHECK(level_before(graph, first_of(graph, Phase::kZeroGrad)) == rise(row, "live_end"));
  }
}

TEST_CASE("cs336 starts from the GPU's level, its workspaces and its data set apart") {
  for (const Row& row : gpu_targets()) {
    CAPTURE(row.at("sequence"));
    // The script had two arrays of 20 rows of 64-bit tokens there, and no position ids.
    const std::int64_t data = 2 * 20 * number(row, "sequence") * 8 - tokens(row) * 8;
    CHECK(start_of(lower(input_of(row))) + number(row, "workspace") + data ==
          number(row, "live_begin"));
  }
}

TEST_CASE("cs336 makes as many allocations and bytes as a real GPU in each phase") {
  for (const Row& row : gpu_targets()) {
    CAPTURE(row.at("sequence"));
    LoweringInput input = input_of(row);
    input.kernels.reduction_scratch = true;
    const StepGraph graph = lower(input);
    CHECK(made_in(graph, Phase::kForward) ==
          Made{number(row, "forward_allocations"), number(row, "forward_allocated")});
    CHECK(made_in(graph, Phase::kOptimizer) ==
          Made{number(row, "optimizer_allocations"), number(row, "optimizer_allocated")});
    // The gradient of the embedding sorts the token ids in five buffers of 8 bytes a token, which
    // are not modelled: 16 KiB each at 4 x 512 tokens, too small to count at 4 x 128.
    const std::int64_t sort = tokens(row) * 8 >= 16'384 ? 5 : 0;
    const Made backward = made_in(graph, Phase::kBackward);
    CHECK(Made{backward.count + sort, backward.bytes + sort * tokens(row) * 8} ==
          Made{number(row, "backward_allocations"), number(row, "backward_allocated")});
  }
}

TEST_CASE("scratch of norm-gradient sums is there from 1024 tokens on, for one op each") {
  // 24 layers of two norms and a last one; twice the fp32 gradient, and a counter of 4 bytes for
  // each 128 of the 1024 columns.
  LoweringInput input = input_of(gpu_targets().at(0));
  const auto added = [&](std::int64_t sequence) {
    input.training.sequence = input.model.max_positions = sequence;
    input.kernels.reduction_scratch = false;
    const Made without = made_in(lower(input), Phase::kBackward);
    input.kernels.reduction_scratch = true;
    const Made with = made_in(lower(input), Phase::kBackward);
    return Made{with.count - without.count, with.bytes - without.bytes};
  };
  // At 4 x 256 tokens the sum of each token's row makes 1024 numbers too: that is another kernel.
  CHECK(added(255) == Made{0, 0});
  CHECK(added(256) == Made{49, 49 * std::int64_t{8 * 1024 * 1024}});

  input.training.sequence = input.model.max_positions = 256;
  const StepGraph graph = lower(input);
  int buffers = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.initial() || tensor.dtype != DType::kU8) continue;
    ++buffers;
    CHECK(tensor.bytes == 32_B);
    CHECK(tensor.last_use == tensor.producer);
    CHECK(graph.op(tensor.producer).kind == OpKind::kSum);
  }
  CHECK(buffers == 49);
}

TEST_CASE("with 16-bit parameters the attention of cs336 stays in 16 bits") {
  // The rotary table is a buffer, so it has the parameters' type and the scores have it too. Under
  // autocast the exponentials and the quotient are fp32.
  LoweringInput input = input_of(gpu_targets().at(1));
  input.model.layers = 1;
  const auto fp32_scores = [&](Precision precision) {
    input.training.precision = precision;
    const StepGraph graph = lower(input);
    int count = 0;
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.initial() || graph.op(tensor.producer).phase != Phase::kForward) continue;
      if (tensor.dtype != DType::kF32) continue;
      count += tensor.shape.elements() == 4 * 16 * 512 * 512 ? 1 : 0;
    }
    return count;
  };
  CHECK(fp32_scores(Precision::kBf16) == 0);
  CHECK(fp32_scores(Precision::kAutocast) == 3);  // the cast, exp, the quotient
}

TEST_CASE("the hand-written AdamW replaces its moments, the framework's keeps them") {
  LoweringInput input = input_of(gpu_targets().at(0));
  input.model.layers = 1;
  const auto replaced = [&] {
    std::size_t count = 0;
    const StepGraph graph = lower(input);
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.category != Category::kOptimizerState) continue;
      count += tensor.initial() && !tensor.persistent() ? 1 : 0;
    }
    return count;
  };
  // Two for each of the 9 tensors of a block, the embedding, the head and the last norm.
  CHECK(replaced() == 24);
  input.kernels.optimizer = Kernels::OptimizerKernel::kForeach;
  CHECK(replaced() == 0);
}

TEST_CASE("the first step of the hand-written AdamW ends with the states of any later one") {
  LoweringInput input = input_of(gpu_targets().at(0));
  input.model.layers = 2;
  const auto states_at_end = [&](StepKind step) {
    input.step = step;
    std::int64_t bytes = 0;
    for (const Tensor& tensor : lower(input).tensors) {
      const bool state = tensor.category == Category::kOptimizerState;
      bytes += state && tensor.persistent() ? tensor.bytes.count : 0;
    }
    return bytes;
  };
  // Two fp32 moments of 2 x 10000 x 1024 + 1024 + 2 x (4 x 1024^2 + 3 x 1024 x 4096 + 2048)
  // parameters.
  const std::int64_t parameters = 20'480'000 + 1024 + 2 * (4'194'304 + 12'582'912 + 2048);
  CHECK(states_at_end(StepKind::kFirst) == 8 * parameters);
  CHECK(states_at_end(StepKind::kSteady) == 8 * parameters);
}

}  // namespace
}  // namespace tidemark
