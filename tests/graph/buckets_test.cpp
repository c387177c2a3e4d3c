#include "graph/buckets.hpp"

#include <vector>

#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_step.hpp"

namespace tidemark {
namespace {

using test::SmallStep;
using Rows = std::vector<std::uint32_t>;

// Parameters of the given elements (2 bytes each); backward completes the last one's gradient
// first. Ops: one forward op a parameter, then one backward op a parameter in reverse.
StepGraph chain(const std::vector<std::int64_t>& elements) {
  SmallStep step;
  std::vector<Parameter> parameters;
  for (const std::int64_t n : elements) parameters.push_back(step.parameter(n));
  for (const Parameter& parameter : parameters) step.op({.reads = {parameter.weight}});
  std::vector<OpId> ready(parameters.size());
  for (std::size_t p = parameters.size(); p-- > 0;) {
    ready[p] = step.op({.phase = Phase::kBackward,
                        .reads = {parameters[p].weight},
                        .makes = {parameters[p].gradient}});
  }
  StepGraph graph = step.finish();
  for (std::size_t p = 0; p < ready.size(); ++p) graph.parameters[p].gradient_ready = ready[p];
  return graph;
}

TEST_CASE("a bucket takes gradients in the order of backward up to its size, and not a byte more") {
  const StepGraph graph = chain({30, 20, 10, 40});  // gradients of 60, 40, 20 and 80 bytes
  SECTION("100 bytes hold the first two exactly") {
    const std::vector<Bucket> buckets = gradient_buckets(graph, 100_B);
    REQUIRE(buckets.size() == 2);
    CHECK(buckets[0].parameters == Rows{3, 2});
    CHECK(buckets[0].gradients == 100_B);
    CHECK(buckets[0].elements == 50);
    CHECK(buckets[0].weights == 100_B);
    CHECK(buckets[1].parameters == Rows{1, 0});
    CHECK(buckets[1].gradients == 100_B);
  }
  SECTION("99 bytes do not") {
    const std::vector<Bucket> buckets = gradient_buckets(graph, 99_B);
    REQUIRE(buckets.size() == 3);
    CHECK(buckets[0].parameters == Rows{3});
    CHECK(buckets[1].parameters == Rows{2, 1});  // 20 + 40
    CHECK(buckets[2].parameters == Rows{0});
  }
}

TEST_CASE("a parameter larger than a bucket has one of its own") {
  const StepGraph graph = chain({10, 40, 10});
  const std::vector<Bucket> buckets = gradient_buckets(graph, 50_B);
  REQUIRE(buckets.size() == 3);
  CHECK(buckets[0].parameters == Rows{2});
  CHECK(buckets[1].parameters == Rows{1});
  CHECK(buckets[1].gradients == 80_B);
  CHECK(buckets[2].parameters == Rows{0});
}

TEST_CASE(
    "a bucket is ready with its last gradient, and its weights free after their last reader") {
  // Ops 0 to 2 forward, 3 to 5 backward of parameters 2, 1, 0.
  StepGraph graph = chain({10, 10, 10});
  const std::vector<Bucket> buckets = gradient_buckets(graph, 40_B);
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[0].ready == OpId{4});
  CHECK(buckets[0].last_read == OpId{4});
  CHECK(buckets[1].ready == OpId{5});
}

TEST_CASE("a weight that is read after its gradient is complete is free only then") {
  SmallStep step;
  const Parameter tied = step.parameter(10);
  step.op({.phase = Phase::kBackward, .makes = {tied.gradient}});
  const OpId reader = step.op({.phase = Phase::kBackward, .reads = {tied.weight}});
  step.op({.phase = Phase::kBackward, .holds = {tied.weight}});
  StepGraph graph = step.finish();
  graph.parameters[0].gradient_ready = OpId{0};
  const std::vector<Bucket> buckets = gradient_buckets(graph, 40_B);
  CHECK(buckets[0].ready == OpId{0});
  CHECK(buckets[0].last_read == reader);  // held is not read
}

TEST_CASE("parameters without a gradient are in no bucket, and gradients from before come first") {
  StepGraph graph = chain({10, 10, 10});
  graph.parameters[2].gradient = kNoTensor;
  graph.parameters[0].gradient_ready = kNoOp;
  const std::vector<Bucket> buckets = gradient_buckets(graph, 20_B);
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[0].parameters == Rows{0});
  CHECK(buckets[0].ready == kNoOp);
  CHECK(buckets[1].parameters == Rows{1});
}

TEST_CASE("gradients that one op completes keep the order of the parameters") {
  StepGraph graph = chain({10, 10, 10});
  for (Parameter& parameter : graph.parameters) parameter.gradient_ready = OpId{5};
  CHECK(gradient_buckets(graph, 60_B)[0].parameters == Rows{0, 1, 2});
}

TEST_CASE("a bucket without room is refused") {
  CHECK_THROWS_AS(gradient_buckets(chain({1}), 0_B), InternalError);
}

}  // namespace
}  // namespace tidemark
