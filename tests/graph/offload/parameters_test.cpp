#include "graph/offload/parameters.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "graph/plan.hpp"
#include "hardware/ensure.hpp"
#include "tests/support/block_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plans.hpp"

namespace tidemark {
namespace {

using test::BlockStep;
using test::bytes_of;
using test::depends;
using test::order;
using test::uses;

Offload parameters(ParameterOffload::To to, std::int64_t prefetch = 1) {
  Offload offload;
  offload.parameters.to = to;
  offload.parameters.prefetch = prefetch;
  offload.optimizer =
      to == ParameterOffload::To::kSsd ? Offload::States::kSsd : Offload::States::kHost;
  return offload;
}

constexpr auto kHost = ParameterOffload::To::kHost;
constexpr auto kSsd = ParameterOffload::To::kSsd;

struct Fetched {
  std::uint32_t unit;
  OpId after, first_use, last_use;
  bool operator==(const Fetched&) const = default;
};

std::vector<Fetched> planned(const StepGraph& graph, std::int64_t prefetch) {
  Stays stays(graph);
  ParameterOffload options;
  options.to = kHost;
  options.prefetch = prefetch;
  std::vector<Fetched> found;
  for (const ParameterFetch& fetch : plan_parameters(graph, options, stays).fetches) {
    found.push_back({fetch.unit, fetch.after, fetch.first_use, fetch.last_use});
  }
  return found;
}

// Units 0 embedding, 1 and 2 the blocks, 3 head. Op i is visit i.
TEST_CASE("a unit comes for each visit, and is not dropped where it would come back at once") {
  const StepGraph graph = BlockStep{}.build().graph;
  // Head is visited at 3 and 4, block 1 at 2 and 5, block 0 at 1 and 6.
  CHECK(planned(graph, 0) == std::vector<Fetched>{{0, kNoOp, OpId{0}, OpId{0}},
                                                  {1, OpId{0}, OpId{1}, OpId{1}},
                                                  {2, OpId{1}, OpId{2}, OpId{2}},
                                                  {3, OpId{2}, OpId{3}, OpId{3}},
                                                  {3, OpId{3}, OpId{4}, OpId{4}},
                                                  {2, OpId{4}, OpId{5}, OpId{5}},
                                                  {1, OpId{5}, OpId{6}, OpId{6}}});
  CHECK(planned(graph, 1) == std::vector<Fetched>{{0, kNoOp, OpId{0}, OpId{0}},
                                                  {1, kNoOp, OpId{1}, OpId{1}},
                                                  {2, OpId{0}, OpId{2}, OpId{2}},
                                                  {3, OpId{1}, OpId{3}, OpId{4}},
                                                  {2, OpId{3}, OpId{5}, OpId{5}},
                                                  {1, OpId{4}, OpId{6}, OpId{6}}});
  CHECK(planned(graph, 2).size() == 6);
  CHECK(planned(graph, 3).size() == 5);  // block 1 stays from 2 to 5
  CHECK(planned(graph, 4).size() == 5);
  CHECK(planned(graph, 5).size() == 4);  // block 0 too
}

TEST_CASE("no weight is in HBM but from its fetch to the last op of its visit") {
  BlockStep step = BlockStep{}.build();
  const Program program = plan(step.graph, {}, parameters(kHost), test::round_machine());
  const auto& in = order(program, Stream::kFetch);
  REQUIRE(in.size() == 6);
  std::vector<std::vector<InstanceId>> users;
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.tier != Tier::kHbm || buffer.category != Category::kParameters) continue;
    CHECK_FALSE((buffer.initial || buffer.persistent));
    std::vector<InstanceId> of;
    for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
      if (uses(program, InstanceId{i}, BufferId{b})) of.push_back(InstanceId{i});
    }
    users.push_back(of);
  }
  // First stays of E, W0, W1, H, then the second ones of W0 and W1.
  using Row = std::vector<InstanceId>;
  CHECK(users == std::vector<Row>{Row{InstanceId{0}, in[0]}, Row{InstanceId{1}, in[1]},
                                  Row{InstanceId{2}, in[2]},
                                  Row{InstanceId{3}, InstanceId{4}, in[3]},
                                  Row{InstanceId{6}, in[5]}, Row{InstanceId{5}, in[4]}});
  for (const auto& [op, fetch] :
       {std::pair{0u, 0u}, {1u, 1u}, {2u, 2u}, {3u, 3u}, {5u, 4u}, {6u, 5u}}) {
    CHECK(depends(program, InstanceId{op}, in[fetch]));
  }
  CHECK(program.dependencies(in[0]).empty());
  CHECK(program.dependencies(in[1]).empty());
  CHECK(depends(program, in[2], InstanceId{0}));
  CHECK(depends(program, in[5], InstanceId{4}));
}

TEST_CASE("what comes in is as much as visits fetch, and nothing else goes to the GPU") {
  // Mixed precision: 2 bytes a parameter, fetched for forward and again for backward, the head
  // once: 500 elements in each of 4 units.
  BlockStep step = BlockStep{}.build();
  const Program program = plan(step.graph, {}, parameters(kHost), test::round_machine());
  CHECK(bytes_of(program, Stream::kFetch) == 6'000_B);
  CHECK(bytes_of(program, Stream::kCopyIn) == 0_B);
  CHECK(bytes_of(program, Stream::kCopyOut) == 4'000_B);
  CHECK(bytes_of(program, Tier::kHost, Category::kParameters) == 4'000_B);
  CHECK(bytes_of(program, Stream::kCpuOptimizer) == Bytes(2000 * 28));
  CHECK(bytes_of(program, Tier::kHost, Category::kStaging) == 0_B);
}

TEST_CASE("every pass fetches again") {
  BlockStep step;
  step.passes = 3;
  step.build();
  const Program program = plan(step.graph, {}, parameters(kHost), test::round_machine());
  CHECK(bytes_of(program, Stream::kFetch) == Bytes(3 * 6'000));
}

TEST_CASE("master weights of the same precision and place are the parameters") {
  BlockStep step;
  step.weight = 2'000_B;
  step.width = 4;
  step.build();
  TrainingConfig training;
  training.precision = Precision::kFp32;
  const Program program = plan(step.graph, training, parameters(kHost), test::round_machine());
  CHECK(bytes_of(program, Tier::kHost, Category::kParameters) == 0_B);
  CHECK(bytes_of(program, Stream::kFetch) == 12'000_B);
  CHECK(bytes_of(program, Stream::kCpuOptimizer) == Bytes(2'000 * 28));

  SECTION("on an SSD they are not those on the host") {
    BlockStep other;
    other.weight = 2'000_B;
    other.width = 4;
    other.build();
    Offload offload = parameters(kHost);
    offload.optimizer = Offload::States::kSsd;
    const Program apart = plan(other.graph, training, offload, test::round_machine());
    CHECK(bytes_of(apart, Tier::kHost, Category::kParameters) == 8'000_B);
    // The update writes them too.
    CHECK(bytes_of(apart, Stream::kCpuOptimizer) == Bytes(2'000 * (28 + 4)));
  }
}

TEST_CASE("parameters on an SSD are read for each fetch through buffers, and written once") {
  BlockStep step = BlockStep{}.build();
  Offload offload = parameters(kSsd);
  offload.bucket = 1_B;
  const Program program = plan(step.graph, {}, offload, test::round_machine());
  CHECK(bytes_of(program, Tier::kSsd, Category::kParameters) == 4'000_B);
  CHECK(bytes_of(program, Tier::kHost, Category::kParameters) == 0_B);
  CHECK(bytes_of(program, Stream::kNvmeFetch) == 6'000_B);
  CHECK(bytes_of(program, Stream::kFetch) == 6'000_B);
  // 12 bytes of states and 2 of parameters for each of 2000.
  CHECK(bytes_of(program, Stream::kNvmeWrite) == Bytes(2'000 * 14));
  const auto& read = order(program, Stream::kNvmeFetch);
  const auto& in = order(program, Stream::kFetch);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(depends(program, in[i], read[i]));
    if (i < 2) {
      CHECK(program.dependencies(read[i]).empty());
    } else {
      CHECK(depends(program, read[i], in[i - 2]));
    }
    const auto pool = test::buffer_named(program, step.graph,
                                         i % 2 == 0 ? "parameter buffer 0" : "parameter buffer 1");
    REQUIRE(pool);
    CHECK(program.buffers[index(*pool)].bytes == 1'000_B);
    CHECK(uses(program, read[i], *pool));
    CHECK(uses(program, in[i], *pool));
  }
  // Bucket 0 is that of the head, whose last read is the fourth.
  CHECK(depends(program, order(program, Stream::kCpuOptimizer)[0], read[3]));
}

TEST_CASE("states and parameters of one precision on the SSD are written together") {
  BlockStep step;
  step.weight = 2'000_B;
  step.width = 4;
  step.build();
  TrainingConfig training;
  training.precision = Precision::kFp32;
  const Program program = plan(step.graph, training, parameters(kSsd), test::round_machine());
  CHECK(bytes_of(program, Stream::kNvmeWrite) == Bytes(2'000 * 12));
  CHECK(bytes_of(program, Tier::kSsd, Category::kParameters) == 0_B);
}

TEST_CASE("an optimizer on the GPU needs its parameters there") {
  LoweringInput input = support::gpt(1, 16, 4, 8, 1);
  StepGraph graph = lower(input);
  Offload offload;
  offload.parameters.to = kHost;
  CHECK_THROWS_AS(plan(graph, input.training, offload, test::round_machine()), InternalError);
}

// Blocks are fetched for forward and for backward; with every block checkpointed, recompute and
// backward of a block are one visit. Embedding once a pass, head and final norm once.
TEST_CASE("a lowered model fetches its blocks twice a pass, whatever its blocks recompute") {
  LoweringInput input = support::gpt(5, 16, 4, 8, 1);
  input.update = UpdateOn::kElsewhere;
  input.training.micro_batches = GENERATE(1, 2);
  const bool checkpointed = GENERATE(false, true);
  input.checkpointing.reentrant = GENERATE(false, true);
  if (checkpointed) support::checkpoint_every_block(input);
  StepGraph graph = lower(input);
  Bytes blocks, others;
  for (const Parameter& parameter : graph.parameters) {
    (parameter.layer >= 0 ? blocks : others) += graph.tensor(parameter.weight).bytes;
  }
  const Program program = plan(graph, input.training, parameters(kHost), test::round_machine());
  CHECK(bytes_of(program, Stream::kFetch) == (blocks * 2 + others) * input.training.micro_batches);
}

TEST_CASE("all of a block is there to the end of its visit, also what backward does not read") {
  LoweringInput input = support::gpt(3, 16, 4, 8, 1);
  input.update = UpdateOn::kElsewhere;
  StepGraph graph = lower(input);
  const Program program = plan(graph, input.training, parameters(kHost), test::round_machine());
  // The last op of backward that reads a weight of block 1.
  std::vector<TensorId> block;
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.layer == 1) block.push_back(parameter.weight);
  }
  OpId last{};
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    for (const TensorId x : graph.inputs_of(OpId{i})) {
      if (std::ranges::count(block, x) > 0) last = OpId{i};
    }
  }
  std::size_t held = 0;
  for (const BufferId buffer : program.uses(InstanceId{index(last)})) {
    held += std::ranges::count(block, program.buffers[index(buffer)].tensor) > 0;
  }
  CHECK(block.size() == 12);  // 4 weights and 4 biases, 2 norms of 2
  CHECK(held == block.size());
}

TEST_CASE("segments of two blocks fetch the first of them a third time") {
  // Visits of backward: r0 of the segment's first block, r1 and b1, b0. With one visit of prefetch
  // the first block is fetched for r0, dropped, and fetched for b0.
  LoweringInput input = support::gpt(6, 16, 4, 8, 1);
  input.update = UpdateOn::kElsewhere;
  for (std::int64_t i = 0; i < 6; i += 2) input.checkpointing.segments.push_back({i, i + 2});
  StepGraph graph = lower(input);
  Bytes block, others;
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.layer <= 0) {
      (parameter.layer == 0 ? block : others) += graph.tensor(parameter.weight).bytes;
    }
  }
  const Program program = plan(graph, input.training, parameters(kHost), test::round_machine());
  CHECK(bytes_of(program, Stream::kFetch) == block * (6 * 2 + 3) + others);
}

}  // namespace
}  // namespace tidemark
