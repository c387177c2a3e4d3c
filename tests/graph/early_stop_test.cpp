// Replays of non-reentrant checkpoints that end where all that backward reads is there.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/lifetime.hpp"
#include "graph/lower.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"

namespace tidemark {
namespace {

std::vector<OpKind> kinds(const StepGraph& graph, Phase phase, std::int16_t layer) {
  std::vector<OpKind> found;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.ops[i];
    if (op.phase == phase && op.layer == layer) found.push_back(op.kind);
  }
  return found;
}

std::int64_t peak(const StepGraph& graph) {
  std::int64_t most = 0;
  for (const Bytes bytes : live_bytes(graph)) most = std::max(most, bytes.count);
  return most;
}

StepGraph lowered(LoweringInput input, bool early_stop) {
  support::checkpoint_every_block(input);
  input.checkpointing.reentrant = false;
  input.checkpointing.early_stop = early_stop;
  return lower(input);
}

// What a replay runs of a block whose last op that saves anything is `last`, from the back.
std::vector<OpKind> up_to(std::vector<OpKind> block, OpKind last, bool included) {
  while (block.back() != last) block.pop_back();
  if (!included) block.pop_back();
  return block;
}

TEST_CASE("without dropout the last product of a block, which saves what it reads, does not run") {
  LoweringInput input = support::gpt(3, 16, 2, 8, 2);
  input.model.dropout = false;
  const StepGraph whole = lowered(input, false);
  const StepGraph stops = lowered(input, true);
  for (std::int16_t layer = 0; layer < 3; ++layer) {
    const std::vector<OpKind> forward = kinds(stops, Phase::kForward, layer);
    CHECK(kinds(whole, Phase::kRecompute, layer) == forward);
    CHECK(kinds(stops, Phase::kRecompute, layer) == up_to(forward, OpKind::kAddmm, false));
  }
  CHECK(peak(stops) <= peak(whole));
}

TEST_CASE("with dropout a block runs to its last mask, and not the sum behind it") {
  LoweringInput input = support::gpt(3, 16, 2, 8, 2);
  input.model.dropout = true;
  const StepGraph stops = lowered(input, true);
  for (std::int16_t layer = 0; layer < 3; ++layer) {
    const std::vector<OpKind> forward = kinds(stops, Phase::kForward, layer);
    CHECK(kinds(stops, Phase::kRecompute, layer) == up_to(forward, OpKind::kDropout, true));
    CHECK(forward.back() == OpKind::kAdd);
  }
}

TEST_CASE("backward is the same whether replays stop early or not, in every architecture") {
  for (int architecture = 0; architecture < 4; ++architecture) {
    for (const bool dropout : {false, true}) {
      LoweringInput input = support::gpt(2, 16, 2, 8, 2);
      input.model.architecture = static_cast<Architecture>(architecture);
      if (input.model.architecture == Architecture::kLlama) input.model.kv_heads = 1;
      const bool has_dropout = input.model.architecture == Architecture::kGpt ||
                               input.model.architecture == Architecture::kGpt2;
      if (dropout && !has_dropout) continue;
      input.model.dropout = dropout;
      input.training.precision = Precision::kAutocast;
      CAPTURE(architecture, dropout);
      const StepGraph whole = lowered(input, false);
      const StepGraph stops = lowered(input, true);
      CHECK(stops.op_count() < whole.op_count());
      for (std::int16_t layer = -1; layer < 2; ++layer) {
        CHECK(kinds(stops, Phase::kBackward, layer) == kinds(whole, Phase::kBackward, layer));
        const auto fewer = kinds(stops, Phase::kRecompute, layer);
        const auto all = kinds(whole, Phase::kRecompute, layer);
        REQUIRE(fewer.size() <= all.size());
        CHECK(std::equal(fewer.begin(), fewer.end(), all.begin()));
      }
      CHECK(peak(stops) <= peak(whole));
      CHECK(stops.tensors.size() <= whole.tensors.size());
      for (std::size_t i = 0; i < stops.op_count(); ++i) {
        for (const TensorId t : stops.inputs_of(OpId(static_cast<std::uint32_t>(i)))) {
          REQUIRE(index(t) < stops.tensors.size());
          CHECK((stops.tensor(t).initial() || index(stops.tensor(t).producer) <= i));
          CHECK((stops.tensor(t).persistent() || index(stops.tensor(t).last_use) >= i));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tidemark
