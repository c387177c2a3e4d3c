#pragma once
// Published measurements and the scenarios that stand for them: tools/measured/*.yaml, compiled in.
// A file is a scenario with more keys:
//
//   source: whose figures these are        provenance: read | recalled
//   mapping: how the runs are expressed, and what is approximated
//   strategies:                            components:
//     - name: batch 4                        - name: large product
//       training: {micro_batch: 4}             matmul: {m: 8192, n: 8192, k: 8192}
//       measured:                              measured: {flop_rate: 95 TFLOP/s}
//         step_time: 250 ms
//         peak_allocated: {value: 21.3 GB, cause: why the simulation misses it}
//         optimizer_time: {value: 1.1 s, minus: the strategy that is subtracted}
//   not_covered:
//     - {what: LoRA, why: frozen parameters are not modelled}

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hardware/embedded.hpp"
#include "hardware/machine.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/scenario.hpp"
#include "tools/validation/component.hpp"
#include "tools/validation/metric.hpp"

namespace tidemark {

// tools/measured/*.yaml, sorted by name.
std::span<const EmbeddedFile> measured_files();

namespace tools {

struct PublishedFigure {
  const Metric* metric = nullptr;
  double reference = 0;  // in seconds, bytes, units a second
  std::string written;   // as the source prints it
  std::string minus;     // the strategy whose figure is subtracted; empty: none
  std::string cause;     // of a known miss; empty: none is known
};

struct MeasuredComponent {
  Machine machine;
  ComponentWork work;
};

// One configuration: a run or a component.
struct MeasuredCase {
  std::string name;
  std::optional<scenarios::RunSpec> run;
  std::optional<MeasuredComponent> component;
  std::vector<PublishedFigure> figures;
};

struct NotCovered {
  std::string what;
  std::string why;
};

struct MeasuredSource {
  std::string name;  // of the file
  std::string title;
  std::string provenance;
  std::string mapping;
  std::vector<MeasuredCase> cases;
  std::vector<NotCovered> not_covered;
};

// Throws ScenarioError with everything that is wrong.
MeasuredSource read_measured(const std::string& name,
                             const std::shared_ptr<const scenarios::Source>& text);

// The compiled-in ones, sorted by name; only those of `names` unless it is empty.
std::vector<MeasuredSource> measured_sources(const std::vector<std::string>& names = {});

}  // namespace tools
}  // namespace tidemark
