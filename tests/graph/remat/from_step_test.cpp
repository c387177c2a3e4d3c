#include "graph/remat/from_step.hpp"

#include <cstdint>
#include <random>
#include <vector>

#include "graph/remat/plan.hpp"
#include "graph/remat/referee.hpp"
#include "graph/remat/rematerialise.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/replays.hpp"

namespace tidemark::remat {
namespace {

std::vector<SimTime> one_nanosecond_each(const StepGraph& graph) {
  return std::vector<SimTime>(graph.op_count(), SimTime(1000));
}

TEST_CASE("a step's problem has every op of one pass once, with its time") {
  for (const StepGraph& graph : support::small_steps()) {
    const StepProblem step = problem_of(graph, one_nanosecond_each(graph));
    std::size_t ops = 0;
    for (const auto& group : step.ops) ops += group.size();
    CHECK(step.problem.base_time() == static_cast<std::int64_t>(ops) * 1000);
    const Verdict verdict = referee(step.problem, keep_everything(step.problem));
    INFO(describe(verdict));
    REQUIRE(verdict.valid());
    CHECK(verdict.peak > 0);
    CHECK(step.problem.block_count() == 3);
  }
}

TEST_CASE("the problem's own order is the step's order") {
  for (const StepGraph& graph : support::small_steps()) {
    const StepProblem step = problem_of(graph, one_nanosecond_each(graph));
    const std::vector<OpId> ops = sequence_of(graph, graph, step, keep_everything(step.problem));
    REQUIRE(ops.size() == graph.op_count());
    for (std::uint32_t i = 0; i < ops.size(); ++i) REQUIRE(index(ops[i]) == i);
  }
}

// Each plan is judged twice: by the planners' referee on the problem, and by what the ops of the
// replayed step compute.
TEST_CASE("random plans are valid sequences and valid steps") {
  std::mt19937 random(11);
  for (const StepGraph& graph : support::small_steps()) {
    const StepProblem step = problem_of(graph, one_nanosecond_each(graph));
    for (int round = 0; round < 6; ++round) {
      Plan plan = plan_of_everything(step.problem);
      for (char& keep : plan.keep) keep = random() % 6 < static_cast<unsigned>(round) ? 0 : 1;
      const Sequence sequence = sequence_of(step.problem, plan);
      const Verdict verdict = referee(step.problem, sequence);
      INFO(describe(verdict));
      REQUIRE(verdict.valid());
      support::check_replay(graph, replay(graph, sequence_of(graph, graph, step, sequence)));
    }
  }
}

// The first step makes the gradients that later ones add to: it has fewer ops.
TEST_CASE("a plan for a later step can be played in the first") {
  LoweringInput input = support::gpt(3, 64, 4, 32, 2);
  input.kernels.zero_grad = Kernels::ZeroGrad::kKeep;
  input.training.micro_batches = 2;
  const StepGraph steady = lower(input);
  input.step = StepKind::kFirst;
  const StepGraph first = lower(input);
  REQUIRE(first.op_count() != steady.op_count());
  const StepProblem step = problem_of(steady, one_nanosecond_each(steady));
  Plan plan = plan_of_everything(step.problem);
  plan.keep.assign(plan.keep.size(), 0);
  const Sequence sequence = sequence_of(step.problem, plan);
  const StepGraph replayed = replay(first, sequence_of(first, steady, step, sequence));
  support::check_replay(first, replayed);
  CHECK(replayed.op_count() - first.op_count() == 2 * (sequence.size() - step.problem.op_count()));
}

}  // namespace
}  // namespace tidemark::remat
