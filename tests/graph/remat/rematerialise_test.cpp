#include "graph/remat/rematerialise.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "graph/lifetime.hpp"
#include "graph/lower.hpp"
#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"
#include "tests/support/replays.hpp"

namespace tidemark::remat {
namespace {

Drops nothing(const StepGraph& graph) {
  return {std::vector<Fate>(graph.tensors.size(), Fate::kAsSaved)};
}

using support::check_replay;
using support::small_steps;

std::int64_t peak(const StepGraph& graph) { return live_peak(graph).bytes.count; }

TEST_CASE("a step with nothing dropped is the step itself") {
  for (const StepGraph& graph : small_steps()) {
    const std::vector<OpId> sequence = sequence_of(graph, nothing(graph));
    REQUIRE(sequence.size() == graph.op_count());
    const StepGraph same = replay(graph, sequence);
    CHECK(same.tensors.size() == graph.tensors.size());
    const std::vector<Bytes> before = live_bytes(graph);
    CHECK(live_bytes(same) == before);
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
      REQUIRE(same.tensors[i].category == graph.tensors[i].category);
      REQUIRE(same.tensors[i].last_use == graph.tensors[i].last_use);
    }
  }
}

TEST_CASE("random drops give steps in which every op finds what it reads") {
  std::mt19937 random(7);
  for (const StepGraph& graph : small_steps()) {
    const std::vector<bool> may = droppable(graph);
    for (int round = 0; round < 12; ++round) {
      Drops drops = nothing(graph);
      drops.timing = round % 2 == 0 ? Timing::kLazy : Timing::kEntry;
      for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
        if (random() % 12 < static_cast<unsigned>(round)) drops.fate[i] = Fate::kDropped;
        if (random() % 12 == 0) drops.fate[i] = Fate::kKept;
      }
      const StepGraph step = replay(graph, sequence_of(graph, drops));
      check_replay(graph, step);
      CHECK(step.model_flops == graph.model_flops);
      for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
        const Tensor& tensor = graph.tensors[i];
        if (!tensor.saved || tensor.initial()) continue;
        // An op runs again with all of its outputs, kept ones too.
        const auto siblings = graph.outputs_of(tensor.producer);
        const bool stays = std::all_of(siblings.begin(), siblings.end(), [&](TensorId t) {
          return !may[index(t)] ||
                 (graph.tensor(t).saved && drops.fate[index(t)] != Fate::kDropped);
        });
        if (stays) REQUIRE(step.tensors[i].saved);
      }
    }
  }
}

// Half of the saved GELU inputs gone: two tensors of 2 x 32 x 256 bf16 each, 32,768 bytes, less
// between forward and backward, and two more addmm's in backward.
TEST_CASE("a dropped GELU input is made again by its projection alone") {
  const StepGraph graph = lower(support::gpt(2, 64, 4, 32, 2));
  Drops drops = nothing(graph);
  int dropped = 0;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    if (tensor.initial() || !tensor.saved) continue;
    const Op& op = graph.op(tensor.producer);
    if (op.module != Module::kMlpIn || op.kind != OpKind::kAddmm) continue;
    drops.fate[i] = Fate::kDropped;
    ++dropped;
    CHECK(tensor.bytes == Bytes(2 * 32 * 256 * 2));
  }
  REQUIRE(dropped == 2);
  const StepGraph step = replay(graph, sequence_of(graph, drops));
  std::vector<OpKind> again;
  for (std::uint32_t op = 0; op < step.op_count(); ++op) {
    if (step.ops[op].phase == Phase::kRecompute) again.push_back(step.ops[op].kind);
  }
  CHECK(again == std::vector<OpKind>{OpKind::kAddmm, OpKind::kAddmm});
  const auto at_end_of_forward = [](const StepGraph& g) {
    return live_bytes(g)[support::last_op_of(g, Phase::kForward)].count;
  };
  CHECK(at_end_of_forward(graph) - at_end_of_forward(step) == 2 * 32'768);
}

// All that a block saves but its input: what a checkpoint of every block keeps.
TEST_CASE("dropping all but block inputs needs no more memory than checkpoints of every block") {
  LoweringInput input = support::gpt(12, 64, 4, 64, 2);
  input.model.vocab = 64;
  const StepGraph graph = lower(input);
  support::checkpoint_every_block(input);
  input.checkpointing.reentrant = false;
  input.checkpointing.early_stop = false;
  const StepGraph eager = lower(input);
  Drops drops = nothing(graph);
  std::vector<bool> block_input(graph.tensors.size(), false);
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    if (graph.ops[op].phase != Phase::kForward || graph.ops[op].layer < 0) continue;
    for (const TensorId t : graph.inputs_of(OpId{op})) {
      const Tensor& tensor = graph.tensor(t);
      if (!tensor.initial() && tensor.layer != graph.ops[op].layer) block_input[index(t)] = true;
    }
  }
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].layer >= 0 && !block_input[i]) drops.fate[i] = Fate::kDropped;
  }
  const StepGraph step = replay(graph, sequence_of(graph, drops));
  CHECK(peak(step) <= peak(eager));
  std::int64_t there = 0;  // before the step
  for (const Tensor& tensor : graph.tensors) there += tensor.initial() ? tensor.bytes.count : 0;
  CHECK(peak(step) - there < (peak(graph) - there) / 2);
  // Each block's ops but the last (its output is kept) run again: no more than a whole replay.
  const auto again = [](const StepGraph& g) {
    return std::count_if(g.ops.begin(), g.ops.end() - 1,
                         [](const Op& op) { return op.phase == Phase::kRecompute; });
  };
  CHECK(again(step) <= again(eager));
  CHECK(again(step) > again(eager) / 2);
}

TEST_CASE("an op of backward cannot run again, and no op may be left out") {
  const StepGraph graph = lower(support::gpt(1, 64, 4, 32, 1));
  std::vector<OpId> sequence = sequence_of(graph, nothing(graph));
  std::vector<OpId> shorter(sequence.begin(), sequence.end() - 1);
  CHECK_THROWS_AS(replay(graph, shorter), InternalError);
  sequence.push_back(OpId{support::last_op_of(graph, Phase::kBackward)});
  CHECK_THROWS_AS(replay(graph, sequence), InternalError);
}

}  // namespace
}  // namespace tidemark::remat
