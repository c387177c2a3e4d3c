// The checkpoint policies of JAX: which kinds of op run again.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/lower.hpp"
#include "graph/policies/policy.hpp"
#include "graph/remat/rematerialise.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"
#include "tests/support/replays.hpp"

namespace tidemark {
namespace {

std::set<OpKind> run_again(const StepGraph& graph, const std::string& policy) {
  const remat::Drops drops = find_policy(policy)->drops(graph, {2, {}});
  const StepGraph step = remat::replay(graph, remat::sequence_of(graph, drops));
  support::check_replay(graph, step);
  std::set<OpKind> kinds;
  for (std::size_t op = 0; op < step.op_count(); ++op) {
    if (step.ops[op].phase == Phase::kRecompute) kinds.insert(step.ops[op].kind);
  }
  return kinds;
}

TEST_CASE("JAX's policies differ in which products run again") {
  for (const LoweringInput& input :
       {support::gpt(2, 64, 4, 32, 2), support::llama(2, 64, 4, 2, 96, 32, 2)}) {
    const StepGraph graph = lower(input);
    const auto dots = run_again(graph, "dots_saveable");
    const auto weights = run_again(graph, "dots_with_no_batch_dims_saveable");
    const auto nothing = run_again(graph, "nothing_saveable");
    const auto has = [](const std::set<OpKind>& kinds, OpKind a, OpKind b) {
      return kinds.contains(a) || kinds.contains(b);
    };
    CHECK_FALSE(has(dots, OpKind::kMm, OpKind::kAddmm));
    CHECK_FALSE(has(dots, OpKind::kBmm, OpKind::kBaddbmm));
    CHECK_FALSE(has(weights, OpKind::kMm, OpKind::kAddmm));
    CHECK(has(weights, OpKind::kBmm, OpKind::kBaddbmm));
    CHECK(has(nothing, OpKind::kMm, OpKind::kAddmm));
    CHECK(has(nothing, OpKind::kBmm, OpKind::kBaddbmm));
    for (const auto& kinds : {dots, weights, nothing}) {
      CHECK(kinds.contains(OpKind::kSoftmax));
    }
  }
}

TEST_CASE("JAX's policies are ops with its lists, compiled") {
  const StepGraph graph = lower(support::gpt(2, 64, 4, 32, 2));
  const Policy& ops = *find_policy("ops");
  const auto fates = [&](const Policy& policy, const std::vector<PolicyOption>& options) {
    return policy.drops(graph, {2, options}).fate;
  };
  const auto listed = [&](std::vector<std::string> keep) {
    return fates(ops, {{"keep", 0, std::move(keep), 0}, {"every_second", 0, {}, 0}});
  };
  CHECK(fates(*find_policy("dots_saveable"), {}) == listed({"matmul", "batched_matmul"}));
  CHECK(fates(*find_policy("dots_with_no_batch_dims_saveable"), {}) == listed({"matmul"}));
  CHECK(fates(*find_policy("nothing_saveable"), {}) == listed({}));
}

}  // namespace
}  // namespace tidemark
