#include "graph/offload/visits.hpp"

#include <vector>

#include "tests/support/block_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"

namespace tidemark {
namespace {

using test::BlockStep;

std::vector<int> layers_of(const std::vector<Visit>& walk) {
  std::vector<int> layers;
  for (const Visit& visit : walk) layers.push_back(visit.layer);
  return layers;
}

TEST_CASE("a pass visits embedding, blocks and head, and then the same in reverse") {
  BlockStep step;
  step.passes = 2;
  step.build();
  const std::vector<Visit> walk = visits(step.graph);
  CHECK(layers_of(walk) == std::vector{-1, 0, 1, -1, -1, 1, 0, -1, -1, 0, 1, -1, -1, 1, 0, -1});
  for (std::uint32_t v = 0; v < walk.size(); ++v) {
    CHECK(walk[v].first == OpId{v});  // one op each
    CHECK(walk[v].last == OpId{v});
    CHECK(walk[v].backward == (v % 8 >= 4));
    CHECK(walk[v].start == v / 4 * 4);
  }
}

TEST_CASE("consecutive ops of one block on one side are one visit") {
  StepGraph graph = BlockStep{}.build().graph;
  graph.ops[1].layer = 1;  // ops 1 and 2; op 3 is head's, op 4 begins backward
  const std::vector<Visit> walk = visits(graph);
  REQUIRE(walk.size() == 7);
  CHECK(walk[1].first == OpId{1});
  CHECK(walk[1].last == OpId{2});
  const std::vector<std::uint32_t> of = visit_of_each_op(graph, walk);
  CHECK(of == std::vector<std::uint32_t>{0, 1, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("recompute belongs to backward, and the optimizer to no visit") {
  StepGraph graph = BlockStep{}.build().graph;
  graph.ops[5].phase = Phase::kRecompute;
  graph.ops[5].layer = 0;  // replays block 0 right before its backward
  graph.ops[7].phase = Phase::kOptimizer;
  const std::vector<Visit> walk = visits(graph);
  CHECK(layers_of(walk) == std::vector{-1, 0, 1, -1, -1, 0});
  CHECK(walk[5].first == OpId{5});
  CHECK(walk[5].last == OpId{6});
  CHECK(walk[5].start == 4);
  CHECK(visit_of_each_op(graph, walk).back() == kNoIndex);
}

TEST_CASE("a visit begins when the op before it has ended, the first ones with the step") {
  const StepGraph graph = BlockStep{}.build().graph;
  const std::vector<Visit> walk = visits(graph);
  CHECK(before_visit(walk, 5, 0) == OpId{4});
  CHECK(before_visit(walk, 5, 2) == OpId{2});
  CHECK(before_visit(walk, 1, 0) == OpId{0});
  CHECK(before_visit(walk, 1, 1) == kNoOp);
  CHECK(before_visit(walk, 1, 9) == kNoOp);
}

// What prefetching counts on: however a model is lowered, backward goes from block to block.
TEST_CASE("a lowered step visits each block once in forward and once in backward of each pass") {
  const bool checkpointed = GENERATE(false, true);
  const bool llama = GENERATE(false, true);
  LoweringInput input =
      llama ? support::llama(3, 16, 4, 2, 32, 8, 2) : support::gpt(3, 16, 4, 8, 2);
  input.training.micro_batches = 2;
  input.checkpointing.reentrant = GENERATE(false, true);
  if (checkpointed) support::checkpoint_every_block(input);
  CAPTURE(checkpointed, llama, input.checkpointing.reentrant);
  const std::vector<int> pass{-1, 0, 1, 2, -1, -1, 2, 1, 0, -1};
  std::vector<int> both = pass;
  both.insert(both.end(), pass.begin(), pass.end());
  CHECK(layers_of(visits(lower(input))) == both);
}

}  // namespace
}  // namespace tidemark
