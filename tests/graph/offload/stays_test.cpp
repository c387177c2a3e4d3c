#include "graph/offload/stays.hpp"

#include <array>
#include <vector>

#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_step.hpp"

namespace tidemark {
namespace {

using test::SmallStep;

// The example of the header: y is made by op 0, read by 1 and 5, held by 2.
struct Example {
  StepGraph graph;
  TensorId y{}, w{};

  Example() {
    SmallStep step;
    y = step.tensor(4_B);
    w = step.persistent(8_B);
    step.op({.makes = {y}});
    step.op({.reads = {y, w}});
    step.op({.holds = {y}});
    step.op({});
    step.op({});
    step.op({.reads = {y}});
    graph = step.finish();
  }
};

Program built(Stays& stays, const StepGraph& graph) {
  ProgramBuilder builder({});
  stays.add_buffers(builder, graph);
  return std::move(builder).finish();
}

TEST_CASE("a tensor that is not moved has one buffer all the time, with its own number") {
  Example example;
  Stays stays(example.graph);
  const Program program = built(stays, example.graph);
  REQUIRE(program.buffers.size() == 2);
  for (std::uint32_t op = 0; op < 6; ++op) {
    CHECK(stays.buffer(example.y, OpId{op}) == BufferId{0});
    CHECK(stays.buffer(example.w, OpId{op}) == BufferId{1});
  }
  CHECK((program.buffers[1].initial && program.buffers[1].persistent));
  CHECK_FALSE((program.buffers[0].initial || program.buffers[0].persistent));
}

TEST_CASE("each stay has a buffer of its own, and in between the tensor is nowhere") {
  Example example;
  Stays stays(example.graph);
  const std::array<Stay, 2> parts{Stay{OpId{0}, OpId{1}}, Stay{OpId{5}, OpId{5}}};
  stays.divide(example.y, parts);
  const Program program = built(stays, example.graph);
  REQUIRE(program.buffers.size() == 3);
  const BufferId again{2};
  const std::vector<BufferId> expected{BufferId{0}, BufferId{0}, kNoBuffer,
                                       kNoBuffer,   kNoBuffer,   again};
  for (std::uint32_t op = 0; op < 6; ++op) {
    CHECK(stays.buffer(example.y, OpId{op}) == expected[op]);
    CHECK(stays.buffer(example.w, OpId{op}) == BufferId{1});
  }
  CHECK(stays.buffer_of_stay(example.y, 0) == BufferId{0});
  CHECK(stays.buffer_of_stay(example.y, 1) == again);
  CHECK(stays.buffer_of_stay(example.w, 0) == BufferId{1});
  const Buffer& second = program.buffers[2];
  CHECK(second.bytes == 4_B);
  CHECK(second.tensor == example.y);
  CHECK(second.category == Category::kActivations);
  CHECK_FALSE((second.initial || second.persistent));
}

TEST_CASE("a stay without a beginning is there before the step, one without an end after it") {
  Example example;
  Stays stays(example.graph);
  const std::array<Stay, 2> parts{Stay{kNoOp, OpId{1}}, Stay{OpId{4}, kNoOp}};
  stays.divide(example.w, parts);
  const Program program = built(stays, example.graph);
  CHECK((program.buffers[1].initial && !program.buffers[1].persistent));
  CHECK((!program.buffers[2].initial && program.buffers[2].persistent));
  CHECK(stays.buffer(example.w, OpId{0}) == BufferId{1});
  CHECK(stays.buffer(example.w, OpId{2}) == kNoBuffer);
  CHECK(stays.buffer(example.w, OpId{5}) == BufferId{2});
}

TEST_CASE("a tensor without stays keeps its number and is never there") {
  Example example;
  Stays stays(example.graph);
  stays.divide(example.w, {});
  const Program program = built(stays, example.graph);
  REQUIRE(program.buffers.size() == 2);
  CHECK_FALSE((program.buffers[1].initial || program.buffers[1].persistent));
  for (std::uint32_t op = 0; op < 6; ++op) CHECK(stays.buffer(example.w, OpId{op}) == kNoBuffer);
}

TEST_CASE("stays that overlap, are out of order or are told twice are refused") {
  Example example;
  const auto divided = [&](std::vector<Stay> parts) {
    Stays stays(example.graph);
    stays.divide(example.y, parts);
  };
  CHECK_NOTHROW(divided({{OpId{0}, OpId{1}}, {OpId{2}, OpId{5}}}));
  CHECK_THROWS_AS(divided({{OpId{0}, OpId{2}}, {OpId{2}, OpId{5}}}), InternalError);
  CHECK_THROWS_AS(divided({{OpId{4}, OpId{5}}, {OpId{0}, OpId{1}}}), InternalError);
  CHECK_THROWS_AS(divided({{OpId{2}, OpId{1}}}), InternalError);
  CHECK_THROWS_AS(divided({{OpId{0}, OpId{1}}, {kNoOp, OpId{5}}}), InternalError);
  Stays twice(example.graph);
  twice.divide(example.y, {});
  CHECK_THROWS_AS(twice.divide(example.y, {}), InternalError);
}

}  // namespace
}  // namespace tidemark
