#include "tools/comparison.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "graph/policies/policy.hpp"
#include "hardware/quantity.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/runs.hpp"
#include "tools/evaluate.hpp"
#include "tools/user_error.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

constexpr const char* kSmall =
    "model: {architecture: gpt, layers: 6, hidden: 512, heads: 8, vocab: 500, max_positions: 512}\n"
    "training: {micro_batch: 4, sequence: 512, micro_batches: 2}\n"
    "kernels: {optimizer: fused}\n"
    "hardware: {base: a100-80gb-sxm, runtime: {context: 0 B, workspace: 0 B}, host: {issue: 0 s}}\n"
    "strategies: [{name: one}]\n";

scenarios::RunSpec small_run() { return support::run_of(kSmall); }

std::vector<std::string> all_policies() { return policies_compared_by_default(); }

std::vector<Compared> compared(std::vector<std::string> names, std::vector<Bytes> budgets) {
  const scenarios::RunSpec base = small_run();
  const auto rows = policies_to_compare(base, names, budgets);
  std::vector<scenarios::RunSpec> runs;
  for (const ComparedPolicy& row : rows) runs.push_back(row.run);
  return compare(base, evaluate(base), rows, evaluate_all(runs));
}

Bytes peak_of(const Compared& row) { return row.report.tier(Tier::kHbm).peak_reserved; }

}  // namespace

TEST_CASE("every policy has a row, and planners one for each budget") {
  const auto rows =
      policies_to_compare(small_run(), all_policies(), std::vector<Bytes>{400_MiB, 600_MiB});
  for (const Policy& policy : policies()) {
    if (policy.slow) continue;
    const auto count = std::count_if(rows.begin(), rows.end(), [&](const ComparedPolicy& row) {
      return row.run.checkpoint_policy == policy.name;
    });
    INFO(policy.name);
    CHECK(count >= (policy.plans_for_budget() ? 2 : 1));
  }
}

TEST_CASE("no policy recomputes for less time than the bound at its own peak") {
  const std::vector<Compared> rows = compared(all_policies(), {500_MiB, 700_MiB});
  REQUIRE(rows.size() > 10);
  std::size_t with_recompute = 0;
  for (const Compared& row : rows) {
    INFO(row.policy);
    REQUIRE(row.bound.has_value());
    if (row.moved > Bytes(0)) {
      CHECK(*row.bound <= row.over);
      continue;
    }
    CHECK(*row.bound <= row.report.recompute);
    // Nothing moves and nothing waits: what a step takes longer is what it computes again.
    CHECK(row.over == row.report.recompute);
    with_recompute += *row.bound > SimTime(0) ? 1 : 0;
  }
  CHECK(with_recompute > 3);  // the bound says something
}

TEST_CASE("layered within a rule's own peak takes no longer than the rule") {
  for (const char* rule : {"full", "selective", "modules", "ops", "sqrt", "block"}) {
    const Compared fixed = compared({rule}, {}).front();
    const Compared planned = compared({"layered"}, {peak_of(fixed)}).front();
    INFO(rule);
    if (!(peak_of(planned) <= peak_of(fixed))) continue;  // below what the planner can reach
    CHECK(planned.report.step_time <= fixed.report.step_time);
  }
}

TEST_CASE("a budget that a planner meets is not exceeded, and one that it cannot meet is told of") {
  const Bytes everything = peak_of(compared({"none"}, {}).front());
  const Bytes budget(everything.count * 9 / 10);
  const Compared met = compared({"layered"}, {budget}).front();
  CHECK(peak_of(met) <= budget);
  CHECK(met.report.recompute > SimTime(0));
  CHECK(met.report.bottleneck.find("within its budget") == std::string::npos);
  const Compared missed = compared({"layered"}, {1_B}).front();
  CHECK(missed.report.bottleneck.find("no plan of this policy stays within its budget of 1 B") !=
        std::string::npos);
  CHECK(peak_of(missed) <= peak_of(met));
}

TEST_CASE("budgets are sizes with commas between them, or eight over a range") {
  CHECK(parse_budgets("40GB,60GB") == std::vector<Bytes>{40_GB, 60_GB});
  const std::vector<Bytes> range = parse_budgets("10GB..17GB");
  REQUIRE(range.size() == 8);
  for (int i = 0; i < 8; ++i)
    CHECK(range[static_cast<std::size_t>(i)] == Bytes((10 + i) * 1'000'000'000LL));
  for (const char* bad : {"", "40", "0 B", "60GB..40GB", "40GB,", "lots"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_budgets(bad), UserError);
  }
}

TEST_CASE("a plan that misses its budget is marked, and is not on the front") {
  const Bytes everything = peak_of(compared({"none"}, {}).front());
  const std::vector<Compared> rows = compared({"none", "layered"}, {1_B, everything});
  REQUIRE(rows.size() == 3);
  CHECK_FALSE(rows[0].missed_budget());
  CHECK(rows[1].missed_budget());
  CHECK_FALSE(rows[2].missed_budget());
  CHECK(peak_of(rows[1]) < peak_of(rows[0]));  // so it would be on the front
  CHECK_FALSE(rows[1].on_front);
  CHECK(rows[0].on_front);
  std::string text = comparison_text("x", rows);
  const auto line_of = [&](std::size_t at) {
    return text.substr(text.rfind('\n', at) + 1, text.find('\n', at) - text.rfind('\n', at) - 1);
  };
  CHECK(line_of(text.find("layered")).ends_with("missed"));
  std::ranges::replace(text, '\n', ' ');
  CHECK(text.find("missed: no plan of the policy was found within its budget") !=
        std::string::npos);
  const std::string json = comparison_json("x", rows);
  CHECK(json.find("\"budget_met\": false") != std::string::npos);
  CHECK(json.starts_with("{\n  \"tidemark\": \""));
  // Where none misses, there is nothing to explain.
  CHECK(comparison_text("x", compared({"none", "full"}, {})).find("missed") == std::string::npos);
}

TEST_CASE("where what no policy moves is more than the budget, that is said") {
  // 6 blocks of 512 in fp32-mixed: weights, gradients and states are there whatever blocks keep.
  const std::vector<Compared> rows = compared({"none", "full", "layered"}, {1_MiB});
  const std::string text = what_no_policy_moves(rows);
  const auto least = std::ranges::min_element(rows, {}, peak_of);
  CHECK(text.find("No policy here gets below " + format_bytes(peak_of(*least))) == 0);
  CHECK(text.find("more than the budget of 1.0 MB") != std::string::npos);
  CHECK(text.find("parameters") + text.find("optimizer state") != 2 * std::string::npos);
  CHECK(comparison_text("x", rows).find("No policy here gets below") != std::string::npos);
  // A budget that blocks' tensors alone stand in the way of: another policy may meet it.
  Bytes stays = least->report.tier(Tier::kHbm).peak;
  for (const Category moves : {Category::kActivations, Category::kRecomputed}) {
    stays -=
        least->report.tier(Tier::kHbm).peak_moment.by_category[static_cast<std::size_t>(moves)];
  }
  std::vector<Compared> other = rows;
  other.back().budget = stays;
  CHECK(what_no_policy_moves(other).empty());
  other.back().budget = stays - 1_B;
  CHECK_FALSE(what_no_policy_moves(other).empty());
}

TEST_CASE("steps of microseconds and peaks of megabytes have their own units") {
  std::vector<Compared> rows = compared({"none", "full"}, {});
  for (Compared& row : rows) row.report.step_time = row.base = 345_us;
  const std::string text = comparison_text("x", rows);
  CHECK(text.find("345.00") != std::string::npos);
  CHECK(text.find("us") != std::string::npos);
  CHECK(text.find("MB") != std::string::npos);
  CHECK(text.find("0.000") == std::string::npos);
}
