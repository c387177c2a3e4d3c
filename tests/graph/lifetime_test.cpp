#include "graph/lifetime.hpp"

#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/small_step.hpp"

namespace tidemark {
namespace {

using test::SmallStep;

TEST_CASE("the level at an op is what is alive when it starts and what it makes") {
  // w 100 all the time; x 10 up to op 1; y 7 from 0 to 2; z 5 made by 1 and never used; g 3 from 2
  // on.
  SmallStep step;
  const TensorId w = step.persistent(100_B), x = step.tensor(10_B), y = step.tensor(7_B);
  const TensorId z = step.tensor(5_B), g = step.tensor(3_B);
  step.keep(g);
  step.op({.reads = {w}, .makes = {y}});
  step.op({.reads = {x}, .makes = {z}});
  step.op({.reads = {w}, .makes = {g}, .holds = {y}});
  step.op({.reads = {w}});
  const StepGraph graph = step.finish();
  CHECK(live_bytes(graph) == std::vector{117_B, 122_B, 110_B, 103_B});
  CHECK(live_peak(graph).op == OpId{1});
  CHECK(live_peak(graph).bytes == 122_B);
}

TEST_CASE("of equal peaks the first counts") {
  SmallStep step;
  const TensorId w = step.persistent(4_B);
  step.op({.reads = {w}});
  step.op({.reads = {w}});
  CHECK(live_peak(step.finish()).op == OpId{0});
}

TEST_CASE("a step without ops has no peak") {
  const StepGraph graph = SmallStep().finish();
  CHECK(live_bytes(graph).empty());
  CHECK(live_peak(graph).op == kNoOp);
}

}  // namespace
}  // namespace tidemark
