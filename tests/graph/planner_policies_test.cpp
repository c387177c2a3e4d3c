#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/policies/policy.hpp"
#include "graph/remat/chain.hpp"
#include "graph/remat/cut_bound.hpp"
#include "graph/remat/from_step.hpp"
#include "graph/remat/referee.hpp"
#include "graph/remat/rematerialise.hpp"
#include "graph/remat/segments.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/policy_options.hpp"
#include "tests/support/random_input.hpp"
#include "tests/support/replays.hpp"
#include "tests/support/step_to_plan.hpp"

namespace tidemark {
namespace {

using support::preset_options;
using support::StepToPlan;

std::vector<std::string> planners() {
  std::vector<std::string> names;
  for (const Policy& policy : policies()) {
    if (policy.planner != nullptr && !policy.slow) names.emplace_back(policy.name);
  }
  return names;
}

TEST_CASE("every planner's step finds what it reads, within its budget, in every architecture") {
  int number = 0;
  for (StepGraph& graph : support::small_steps()) {
    const StepToPlan planned(std::move(graph));
    ++number;
    for (const std::string& name : planners()) {
      // Fronts of blocks of many small ops take long; optimal looks at these two as well.
      if (number != 3 && (name == "layered" || name == "rotor+")) continue;
      const Planner planner = planned.planner(name);
      for (const double share : {0.3, 0.7}) {
        INFO("step " << number << ", " << name << " " << share);
        const auto placement = planner(planned.budget(share));
        if (!placement) continue;
        const remat::Verdict verdict = planned.referee(*placement);
        REQUIRE(verdict.valid());
        if (find_policy(name)->plans_for_budget()) CHECK(verdict.peak <= planned.budget(share));
        const auto ops =
            remat::sequence_of(planned.graph, planned.graph, planned.step, placement->sequence);
        support::check_replay(planned.graph, remat::replay(planned.graph, ops));
      }
    }
  }
}

TEST_CASE("every policy of tensors makes a step with ops run again, on 200 random ones") {
  std::mt19937 random(5);
  for (int number = 0; number < 200; ++number) {
    const LoweringInput input = support::random_input(random);
    const StepToPlan planned(lower(input));
    for (const Policy& policy : policies()) {
      INFO("step " << number << ", " << policy.name);
      if (support::enumerates_fronts(policy) && number % 20 != 0) continue;
      planned.check(policy, input.model.layers, static_cast<double>(random() % 100) / 100);
    }
  }
}

TEST_CASE("a planner with the bytes of keeping everything recomputes nothing") {
  const StepToPlan planned(lower(support::gpt(4, 64, 4, 32, 2)));
  for (const std::string& name : planners()) {
    if (!find_policy(name)->plans_for_budget() || name == "revolve") continue;
    INFO(name);
    const auto placement = planned.place(name, planned.everything);
    REQUIRE(placement);
    CHECK(planned.referee(*placement).recompute_time == 0);
  }
  // Where the peak is at a small head, what layered counts for a block is more than that.
  LoweringInput other = support::llama(2, 64, 2, 2, 192, 64, 2);
  other.model.vocab = 128;
  other.training.precision = Precision::kBf16Mixed;
  const StepToPlan small_head(lower(other));
  const auto kept = small_head.place("layered", small_head.everything);
  REQUIRE(kept);
  CHECK(small_head.referee(*kept).recompute_time == 0);
  // Revolve stores the inputs of blocks alone; the last block is never run again.
  const auto placement = planned.place("revolve", planned.everything);
  REQUIRE(placement);
  CHECK(planned.referee(*placement).recompute_time > 0);
}

TEST_CASE(
    "at equal budgets optimal takes no longer than any other planner, in every architecture") {
  std::vector<StepGraph> steps;
  steps.push_back(lower(support::gpt(4, 64, 4, 32, 2)));
  steps.push_back(lower(support::llama(4, 64, 4, 2, 96, 32, 2)));
  for (StepGraph& graph : support::small_steps()) steps.push_back(std::move(graph));
  int number = 0;
  for (StepGraph& graph : steps) {
    const StepToPlan planned(std::move(graph));
    ++number;
    const Planner optimal = planned.planner("optimal");
    const std::vector<double> shares =
        number > 2 ? std::vector{0.2, 0.5} : std::vector{0.2, 0.35, 0.5, 0.8};
    std::map<double, std::optional<Placement>> best_at;
    for (const double share : shares) {
      best_at[share] = optimal(planned.budget(share));
    }
    for (const std::string& name : planners()) {
      // Fronts of blocks of many small ops take long, and optimal has looked at these two.
      if (number > 2 && (name == "layered" || name == "rotor+")) continue;
      const Planner other = planned.planner(name);
      for (const double share : shares) {
        INFO("step " << number << ", " << name << " " << share);
        const auto placement = other(planned.budget(share));
        if (!placement || planned.referee(*placement).peak > planned.budget(share)) continue;
        const std::optional<Placement>& best = best_at.at(share);
        REQUIRE(best);
        CHECK(planned.referee(*best).peak <= planned.budget(share));
        CHECK(planned.referee(*best).recompute_time <= planned.referee(*placement).recompute_time);
        if (best->bound) CHECK(*best->bound <= planned.referee(*placement).recompute_time);
      }
    }
  }
}

// A block of this kind has more tensors than are enumerated: only the hull of its front is certain.
TEST_CASE("the bound at a plan's own peak is no more than what the plan recomputes") {
  const StepToPlan planned(lower(support::gpt(8, 512, 8, 128, 2)));
  const remat::CutBound bound(planned.step.problem,
                              remat::chain_of_blocks(planned.step.problem).value());
  const Planner layered = planned.planner("layered");
  for (int i = 1; i < 40; ++i) {
    const auto placement = layered(planned.budget(i / 40.0));
    if (!placement) continue;
    const remat::Verdict verdict = planned.referee(*placement);
    CHECK(bound(verdict.peak).value() <= verdict.recompute_time);
  }
}

// Chen's greedy on equal blocks is every-n with the best n for the budget.
TEST_CASE("greedy ends a segment where it would keep more than so many bytes") {
  const StepToPlan planned(lower(support::gpt(6, 64, 4, 32, 2)));
  const auto chain = remat::chain_of_blocks(planned.step.problem).value();
  const auto sequence_of_every = [&](std::size_t n) {
    remat::SegmentRule rule;
    rule.stages = remat::every(chain.size(), n);
    return remat::sequence_of(planned.step.problem,
                              remat::plan_of(planned.step.problem, chain, rule));
  };
  for (const std::size_t n : {1u, 2u, 3u}) {
    const remat::Sequence every = sequence_of_every(n);
    const remat::Verdict verdict = remat::referee(planned.step.problem, every);
    const auto placement = planned.place("greedy", verdict.peak);
    REQUIRE(placement);
    CHECK(planned.referee(*placement).time <= verdict.time);
  }
  CHECK_FALSE(planned.place("greedy", planned.least / 2));
}

std::int64_t products_again(const StepToPlan& planned, const Placement& placement) {
  std::vector<bool> ran(planned.step.problem.op_count(), false);
  std::int64_t count = 0;
  for (const remat::OpIndex op : placement.sequence) {
    for (const OpId part : planned.step.ops[op]) {
      const OpKind kind = planned.graph.op(part).kind;
      const bool product = kind == OpKind::kAddmm || kind == OpKind::kMm || kind == OpKind::kBmm ||
                           kind == OpKind::kBaddbmm;
      if (product && ran[op]) ++count;
    }
    ran[op] = true;
  }
  return count;
}

// torch.compile recomputes pointwise ops and norms and no product unless the budget is below 1.
TEST_CASE("min-cut makes no product again, and keeps no more than keeping everything") {
  for (const auto& input :
       {support::gpt(4, 64, 4, 32, 2), support::llama(4, 64, 4, 2, 96, 32, 2)}) {
    const StepToPlan planned(lower(input));
    const Placement cut = planned.place("min-cut", 0).value();
    CHECK(products_again(planned, cut) == 0);
    // In a GPT block every result of a cheap op is read by a product of backward, or forward reads
    // it again behind one.
    const bool gpt = input.model.architecture == Architecture::kGpt;
    CHECK(planned.referee(cut).peak <= planned.everything);
    CHECK((planned.referee(cut).recompute_time == 0) == gpt);
  }
}

TEST_CASE("knapsack is min-cut at budget 1, keeps block inputs at 0, and less for less between") {
  const StepToPlan planned(lower(support::llama(4, 64, 4, 2, 96, 32, 2)));
  const auto at = [&](double budget) {
    auto options = preset_options(*find_policy("knapsack"));
    options[0].number = budget;
    return planned.place("knapsack", options, 0).value();
  };
  CHECK(at(1).sequence == planned.place("min-cut", 0)->sequence);
  std::int64_t before = 0;
  for (const double budget : {1.0, 0.8, 0.6, 0.4, 0.2, 0.0}) {
    const std::int64_t again = products_again(planned, at(budget));
    INFO(budget);
    CHECK(again >= before);
    before = again;
  }
  // Every product of a block but the last, whose result is the next block's input or is not read.
  CHECK(before > 0);
}

TEST_CASE("what not running again is worth changes what knapsack keeps") {
  const StepToPlan planned(lower(support::llama(4, 64, 4, 2, 96, 32, 2)));
  const auto with = [&](std::int64_t worth) {
    auto options = preset_options(*find_policy("knapsack"));
    options[0].number = 0.5;
    options[1].integer = worth;
    return planned.place("knapsack", options, 0).value().sequence;
  };
  CHECK(with(0) != with(2));
}

TEST_CASE("each of dtr's scores plans within the budget, and they differ") {
  const StepToPlan planned(lower(support::gpt(6, 64, 4, 32, 2)));
  std::vector<std::int64_t> times;
  for (std::int64_t row = 0; row < 6; ++row) {
    auto options = preset_options(*find_policy("dtr"));
    options[1].integer = row;
    const auto placement = planned.place("dtr", options, planned.budget(0.5));
    if (!placement) continue;
    CHECK(planned.referee(*placement).peak <= planned.budget(0.5));
    times.push_back(planned.referee(*placement).recompute_time);
  }
  REQUIRE(times.size() >= 4);
  CHECK(*std::ranges::min_element(times) < *std::ranges::max_element(times));
}

}  // namespace
}  // namespace tidemark
