// Activations that move where the step does not take longer for it, beside what else moves.

#include "tools/hidden_moves.hpp"

#include <string>

#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/runs.hpp"
#include "tools/evaluate.hpp"
#include "tools/steps.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

// `offload` is the section's text.
scenarios::RunSpec run_with(const std::string& offload, const std::string& rate) {
  return support::run_of(
      support::small_step(6, "", support::link_of(rate), "offload: {" + offload + "}\n"));
}

SimTime time_as_chosen_ahead(const scenarios::RunSpec& run) {
  const PlannedStep step = plan_step(run, lower_run(run, StepKind::kSteady), run.offload);
  return sim::simulate(step.program, {.capacity = sim::Capacity::kIgnored}).end;
}

Bytes to_host(const Report& report) {
  return report.traffic[static_cast<std::size_t>(LinkKind::kPcieD2h)];
}

}  // namespace

TEST_CASE("beside other traffic so much moves as makes the step a thousandth longer at most") {
  int would_be_late = 0, some_moved = 0;
  for (const std::string others :
       {"optimizer: host", "optimizer: host, gradients: host", "optimizer: host, parameters: host",
        "optimizer: host, update_on: gpu"}) {
    for (const std::string rate : {"6 GB/s", "25 GB/s", "100 GB/s"}) {
      CAPTURE(others, rate);
      const Report without = evaluate(run_with(others, rate));
      const scenarios::RunSpec run =
          run_with(others + ", activations: {to: host, when: fits_in_window}", rate);
      const Report with = evaluate(run);
      CHECK(with.step_time <= without.step_time + without.step_time / 1000);
      CHECK(with.tier(Tier::kHbm).peak <= without.tier(Tier::kHbm).peak);
      CHECK(to_host(with) >= to_host(without));
      some_moved += to_host(with) > to_host(without);
      would_be_late += time_as_chosen_ahead(run) > without.step_time + without.step_time / 1000;
    }
  }
  CHECK(some_moved > 6);
  CHECK(would_be_late > 2);  // the simulation was needed
}

TEST_CASE("where nothing else moves the choice ahead of the run stands") {
  const scenarios::RunSpec run =
      run_with("activations: {to: host, when: fits_in_window}", "25 GB/s");
  const Offload offload = with_hidden_moves(run, lower_run(run, StepKind::kSteady));
  CHECK(offload.activations.to == ActivationOffload::To::kHost);
  CHECK(offload.activations.link_share == ActivationOffload::kWholeLink);
}
