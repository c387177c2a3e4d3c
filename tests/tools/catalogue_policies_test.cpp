// Every policy on every model of the catalogue.

#include <memory>
#include <set>
#include <string>

#include "graph/policies/policy.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/load.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/segment_replays.hpp"
#include "tests/support/step_to_plan.hpp"
#include "tools/steps.hpp"

using namespace tidemark;

TEST_CASE("every policy makes a step with ops run again, of every model we know") {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  int number = 0;
  std::set<Architecture> seen;
  for (const scenarios::CatalogueEntry& model : catalogue.models()) {
    // Three blocks: those of a model are alike.
    const auto source = std::make_shared<const scenarios::Source>(scenarios::Source{
        model.name, "model: {base: " + model.name +
                        ", layers: 3}\ntraining: {sequence: 128, micro_batch: 1}\n"
                        "hardware: h200\nstrategies: [{name: one}]\n"});
    scenarios::RunSpec run = scenarios::load(source).runs.front();
    const support::StepToPlan planned(tools::lower_run(run, StepKind::kSteady));
    const bool fronts = seen.insert(run.model.architecture).second;
    for (const Policy& policy : policies()) {
      if (support::enumerates_fronts(policy) && !fronts) continue;
      INFO(model.name << ", " << policy.name);
      if (policy.segments != nullptr) {
        run.checkpointing = support::segments_of(policy, run.model.layers);
        run.checkpointing.reentrant = policy.cached == nullptr && number % 2 == 0;
        const StepGraph step = tools::lower_run(run, StepKind::kSteady);
        support::check_segments(planned.graph, step, run.checkpointing);
      }
      planned.check(policy, run.model.layers, 0.1 + 0.08 * (number++ % 10));
    }
  }
  CHECK(number > 200);
}
