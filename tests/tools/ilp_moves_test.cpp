// The policy ilp where it may move what it keeps to the host.

#include <algorithm>
#include <string>
#include <vector>

#include "graph/remat/ilp.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/runs.hpp"
#include "tools/comparison.hpp"
#include "tools/evaluate.hpp"
#include "tools/placement.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

// So few blocks that every search ends long before its limit, and results do not depend on the
// machine.
std::string three_blocks(const std::string& hardware, const std::string& rest) {
  return support::small_step(3, ", attention: flash", hardware, rest);
}

scenarios::RunSpec run_with(const std::string& hardware, Bytes budget, const std::string& move) {
  return support::run_of(
      three_blocks(hardware, "checkpoint: {policy: ilp, time_limit: 60 s, budget: " +
                                 std::to_string(budget.count) + " B, move: " + move + "}\n"));
}

Bytes hbm_of(const Report& report) { return report.tier(Tier::kHbm).peak_reserved; }

Report keeps_all(const std::string& hardware) {
  return evaluate(support::run_of(three_blocks(hardware, "")));
}

// `percent` of the way from what recomputing alone needs at least to keeping everything.
Bytes budget_at(const std::string& hardware, int percent) {
  const Bytes everything = hbm_of(keeps_all(hardware));
  const Bytes least = hbm_of(evaluate(
      support::run_of(three_blocks(hardware, "checkpoint: {policy: optimal, budget: 1 B}\n"))));
  return Bytes(least.count + (everything.count - least.count) / 100 * percent);
}

}  // namespace

TEST_CASE("ilp with moves is never slower than without, and moves what it names") {
  if (!remat::has_ilp()) return;
  int faster = 0;
  struct Place {
    std::string rate;
    int percent;
  };
  for (const auto& [rate, percent] : {Place{"2 GB/s", 50}, Place{"50 GB/s", 70}}) {
    CAPTURE(rate, percent);
    const std::string hardware = support::link_of(rate);
    const Bytes budget = budget_at(hardware, percent);
    const Report alone = evaluate(run_with(hardware, budget, "none"));
    const scenarios::RunSpec run = run_with(hardware, budget, "host");
    const Steps steps = Placer(planning_base(run), run).place(run);
    const Report moving = evaluate(run, std::make_shared<const Steps>(steps), {}, nullptr);
    REQUIRE(alone.placement->met);
    REQUIRE(moving.placement->met);
    CHECK(alone.placement->to_host == Bytes(0));
    CHECK(hbm_of(moving) <= budget);
    CHECK(moving.step_time <= alone.step_time);
    // Without moves no more than the recomputation is counted.
    CHECK_FALSE(alone.placement->cost);
    REQUIRE(moving.placement->bound);
    if (moving.placement->to_host > Bytes(0)) {
      CHECK(moving.placement->method == "keep and move sets");
      REQUIRE(moving.placement->cost);
      CHECK(*moving.placement->cost >= moving.placement->recompute);
      CHECK(*moving.placement->bound <= *moving.placement->cost);
      CHECK(*moving.placement->bound > SimTime(0));
    }
    faster += moving.step_time < alone.step_time;
    // Of both passes; nothing else leaves the GPU.
    Bytes named;
    for (const TensorId tensor : steps.steady().moved) {
      named += steps.steady().graph.tensor(tensor).bytes;
    }
    CHECK(moving.placement->to_host == named);
    CHECK(moving.traffic[static_cast<std::size_t>(LinkKind::kPcieD2h)] == named);
    CHECK(moving.traffic[static_cast<std::size_t>(LinkKind::kPcieH2d)] == named);
    CHECK(moving.placement->to_ssd == Bytes(0));
  }
  CHECK(faster == 1);
}

TEST_CASE("over a free link ilp recomputes nothing, over a hopeless one it moves nothing") {
  if (!remat::has_ilp()) return;
  const std::string fast =
      ", pcie: {h2d: 100 TB/s, d2h: 100 TB/s, both: 200 TB/s, latency: 0 s}, host: {bandwidth: "
      "1000 TB/s, capacity: 64 GB, issue: 0 s}";
  const Report keeps = keeps_all(fast);
  const Bytes budget(hbm_of(keeps).count * 9 / 10);
  const Report moves = evaluate(run_with(fast, budget, "host"));
  REQUIRE(moves.placement->met);
  CHECK(moves.recompute == SimTime(0));
  CHECK(moves.placement->to_host > Bytes(0));
  CHECK(moves.step_time <= keeps.step_time + keeps.step_time / 1000);

  const std::string slow = support::link_of("1 MB/s");
  const Report stays = evaluate(run_with(slow, budget, "host"));
  const Report alone = evaluate(run_with(slow, budget, "none"));
  CHECK(stays.step_time == alone.step_time);
  CHECK(stays.placement->to_host == Bytes(0));
}

TEST_CASE("ilp moves no more than the host has room for") {
  if (!remat::has_ilp()) return;
  const Bytes budget = budget_at(support::link_of("50 GB/s"), 70);
  const Report roomy = evaluate(run_with(support::link_of("50 GB/s"), budget, "host"));
  REQUIRE(roomy.placement->to_host > Bytes(20'000'000));
  const Bytes there = keeps_all(support::link_of("50 GB/s")).tier(Tier::kHost).peak;
  // A pass moves half of it; room for half of that.
  const Bytes room = there + Bytes(roomy.placement->to_host.count / 4);
  const Report tight = evaluate(
      run_with(support::link_of("50 GB/s", std::to_string(room.count) + " B"), budget, "host"));
  REQUIRE(tight.placement->met);
  CHECK(tight.fits());
  CHECK(tight.placement->to_host < roomy.placement->to_host);
  CHECK(tight.step_time >= roomy.step_time);
}

TEST_CASE("compare holds rows of ilp that move to the bound of steps that may move") {
  if (!remat::has_ilp()) return;
  const std::string hardware = support::link_of("25 GB/s");
  const scenarios::RunSpec base = support::run_of(three_blocks(hardware, ""));
  const std::vector<std::string> names{"ilp"};
  const std::vector<Bytes> budgets{budget_at(hardware, 70)};
  auto rows = policies_to_compare(base, names, budgets);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].policy == "ilp");
  CHECK(rows[1].policy == "ilp, move: host");
  for (ComparedPolicy& row : rows) row.run.checkpoint_options[1].integer = 60'000'000'000'000;
  const auto compared = compare(base, evaluate(base), rows, evaluate_policies(base, rows));
  CHECK_FALSE(compared[0].moves_activations);
  CHECK(compared[1].moves_activations);
  CHECK(compared[1].over <= compared[0].over);
  for (const Compared& row : compared) {
    REQUIRE(row.bound.has_value());
    CHECK(*row.bound <= row.over);
  }
}
