// A policy that decides in the executor, against its own step played as a plan.

#include "tools/runtime_placement.hpp"

#include <string>

#include "graph/remat/referee.hpp"
#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/runs.hpp"
#include "tools/evaluate.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

scenarios::RunSpec run_with(const std::string& heuristic, const std::string& sections = "",
                            const std::string& hardware = "", const std::string& budget = "1 B") {
  return support::run_of(support::small_step(4, "", hardware,
                                             sections + "checkpoint: {policy: dtr, heuristic: " +
                                                 heuristic + ", budget: " + budget + "}\n"));
}

std::string bytes(std::int64_t count) { return std::to_string(count) + " B"; }

sim::Result play(const Steps& steps) {
  return sim::simulate(steps.steady().program, {.capacity = sim::Capacity::kIgnored});
}

Bytes peak_of(const sim::Result& result) {
  return result.allocators[static_cast<std::size_t>(Tier::kHbm)].end.allocated_peak;
}

}  // namespace

// The plan has the same kernels in the same order and frees a tensor that is evicted later sooner.
// One pass, so that the plan is what was decided; kernels that the host issues for nothing.
TEST_CASE("what was decided while the step ran takes as long and no more memory as a plan") {
  int evicted = 0, stuck = 0;
  for (const std::string sections :
       {"", "offload: {optimizer: host}\n", "offload: {optimizer: host, gradients: host}\n"}) {
    for (const char* heuristic : {"h_DTR", "h_DTR-eq", "local", "LRU", "size", "MSPS"}) {
      scenarios::RunSpec run = run_with(heuristic, sections, support::link_of("20 GB/s"));
      run.training.micro_batches = 1;
      const auto base = planning_base(run);
      const remat::Problem& problem = base->step.problem;
      const Steps keeping = steps_of(*base, run, remat::keep_everything(problem), nullptr);
      const Bytes everything = peak_of(play(keeping));
      const OnlineStep step(*base, *find_policy("dtr"), run);
      for (const int percent : {100, 90, 80, 70, 60, 30}) {
        CAPTURE(sections, heuristic, percent);
        const Bytes hbm(everything.count / 100 * percent);
        const OnlineStep::Outcome outcome = step.play(percent == 100 ? everything : hbm);
        if (!outcome.sequence) {
          ++stuck;
          continue;
        }
        CHECK(outcome.peak <= (percent == 100 ? everything : hbm));
        const remat::Verdict verdict = remat::referee(problem, *outcome.sequence);
        REQUIRE(verdict.valid());
        CHECK((percent == 100) == (verdict.recompute_time == 0));
        evicted += percent < 100;
        const sim::Result planned = play(steps_of(*base, run, *outcome.sequence, nullptr));
        CHECK(planned.end == outcome.end);
        CHECK(peak_of(planned) <= outcome.peak);
      }
    }
  }
  CHECK(evicted > 40);
  CHECK(stuck > 10);
}

// Variables of the script and buffers of the optimizer's copies take memory that no problem knows:
// the executor does, so that its first plan is within the budget, with whatever moves beside.
TEST_CASE("a run that decides meets its budget at once, where nothing rounds bytes up") {
  for (const std::string sections :
       {"", "offload: {optimizer: host}\n", "offload: {optimizer: host, update_on: gpu}\n"}) {
    const Report everything = evaluate(support::run_of(support::small_step(4, "", "", sections)));
    const Bytes most = everything.tier(Tier::kHbm).peak_reserved;
    for (const int percent : {95, 90}) {
      CAPTURE(sections, percent);
      const std::string budget = bytes(most.count / 100 * percent);
      const Report report = evaluate(run_with("h_DTR", sections, "", budget));
      CHECK(report.placement->met);
      CHECK(report.placement->simulations == 1);
      CHECK(report.placement->method == "at run time");
      CHECK(report.tier(Tier::kHbm).peak_reserved.count <= most.count / 100 * percent);
      CHECK(report.recompute > SimTime(0));
    }
  }
}

TEST_CASE("a run that decides with an allocator that keeps a cache is given less until it fits") {
  const std::string caching = "allocator: caching\n";
  const Report everything = evaluate(support::run_of(support::small_step(4, "", "", caching)));
  const Bytes most = everything.tier(Tier::kHbm).peak_reserved;
  const std::string budget = bytes(most.count / 10 * 8);
  const Report report = evaluate(run_with("h_DTR", caching, "", budget));
  CHECK(report.placement->met);
  CHECK(report.tier(Tier::kHbm).peak_reserved.count <= most.count / 10 * 8);
  CHECK(report.placement->proxy <= report.placement->budget);
}

// Nothing that dtr could evict is in the way of a budget of one byte.
TEST_CASE(
    "a run that decides below what nothing can move keeps everything, and says what it needs") {
  const Report report = evaluate(run_with("h_DTR"));
  CHECK_FALSE(report.placement->met);
  CHECK(report.placement->peak > Bytes(0));
  CHECK(report.placement->peak == report.tier(Tier::kHbm).peak_reserved);
  CHECK(report.placement->simulations > 0);
  CHECK(report.bottleneck.find("no run of this policy that was tried stays within its budget of "
                               "1 B: this one needs least of those") != std::string::npos);
  // The whole step's peak is in the update: there is no plan at all.
  const Report update = evaluate(support::run_of(
      "model: {architecture: gpt, layers: 1, hidden: 64, heads: 1, vocab: 50, max_positions: 16}\n"
      "training: {optimizer: sgd}\nhardware: a100-80gb-sxm\n"
      "strategies: [{name: d, checkpoint: {policy: dtr, budget: 1 B}}]\n"));
  CHECK(update.placement->peak == update.tier(Tier::kHbm).peak_reserved);
  CHECK(update.placement->simulations > 0);
}

// What ops that run again read may be away then: played ahead of time, by the referee's bytes.
TEST_CASE("where activations or parameters move the run is played ahead of time") {
  const Policy& dtr = *find_policy("dtr");
  CHECK(runs_online(dtr, run_with("h_DTR")));
  CHECK(runs_online(dtr, run_with("h_DTR", "offload: {optimizer: host, gradients: host}\n")));
  CHECK_FALSE(runs_online(dtr, run_with("h_DTR", "offload: {activations: host}\n")));
  const std::string away = "offload: {optimizer: host, parameters: host}\n";
  CHECK_FALSE(runs_online(dtr, run_with("h_DTR", away)));
  CHECK_FALSE(runs_online(*find_policy("optimal"), run_with("h_DTR")));
  const Report most = evaluate(support::run_of(support::small_step(4, "", "", away)));
  const std::int64_t budget = most.tier(Tier::kHbm).peak_reserved.count / 10 * 8;
  const Report report = evaluate(run_with("h_DTR", away, "", bytes(budget)));
  CHECK(report.placement->met);
  CHECK(report.placement->method == "ahead of time");
  CHECK(report.recompute > SimTime(0));
}
