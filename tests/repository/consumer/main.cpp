// Twenty lines of another project that simulates a step with the installed libraries.

#include <iostream>
#include <memory>

#include "graph/lower.hpp"
#include "graph/plan.hpp"
#include "scenarios/load.hpp"
#include "sim/executor.hpp"
#include "tidemark/version.hpp"

int main() {
  using namespace tidemark;
  const auto source = std::make_shared<const scenarios::Source>(scenarios::Source{
      "mine", "model: gpt-124m\nhardware: rtx-4090\nstrategies: [{name: keep}]\n", 0});
  const scenarios::RunSpec run = scenarios::load(source).runs.at(0);
  LoweringInput input;
  input.model = run.model;
  input.training = run.training;
  input.kernels = run.kernels;
  StepGraph graph = lower(input);
  const sim::Result result = sim::simulate(plan(graph, run.training, run.offload, run.machine));
  std::cout << "tidemark " << kVersion << ": the step holds " << graph.op_count()
            << " ops and ends after " << result.end.count() << " ps\n";
}
