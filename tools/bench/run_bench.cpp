// A whole `run`: from the scenario's YAML to the table, in this process.

#include <benchmark/benchmark.h>

#include "scenarios/load.hpp"
#include "tools/evaluate.hpp"
#include "tools/formats/format.hpp"

namespace tidemark::tools {
namespace {

void run_7b(benchmark::State& state) {
  for (auto _ : state) {
    const scenarios::Scenario scenario =
        scenarios::load(TIDEMARK_SOURCE_DIR "/scenarios/7b-on-80gb.yaml");
    const ScenarioReports reports{scenario.name, evaluate_all(scenario.runs)};
    benchmark::DoNotOptimize(find_format("text").write({&reports, 1}, {}));
  }
}
BENCHMARK(run_7b)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace tidemark::tools
