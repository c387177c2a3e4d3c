#pragma once
// What a published figure says of a run or of a component, and how it is simulated. One row of
// metric.cpp a metric.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/option.hpp"
#include "scenarios/scenario.hpp"
#include "tools/steps.hpp"
#include "tools/validation/component.hpp"

namespace tidemark::tools {

enum class FigureKind : std::uint8_t {
  kComponent,  // one kernel, copy or file access
  kBlock,      // kernels of one block or of a few
  kStep,       // a whole step or a part of it that the clock sees
  kMemory,
};
inline constexpr std::array<std::string_view, 4> kFigureKindNames = {"component", "block", "step",
                                                                     "memory"};
inline constexpr int kFigureKindCount = static_cast<int>(kFigureKindNames.size());

constexpr std::string_view name_of(FigureKind kind) {
  return kFigureKindNames[static_cast<std::size_t>(kind)];
}

// A run, planned once and played with each allocator when it is first asked for.
class SimulatedRun {
 public:
  explicit SimulatedRun(scenarios::RunSpec run);

  const scenarios::RunSpec& run() const { return run_; }
  const Steps& steps() const { return steps_; }
  const PlayedSteps& live();     // live bytes, as much HBM as it takes
  const PlayedSteps& caching();  // PyTorch's allocator, as much HBM as it takes
  bool fits();                   // PyTorch's allocator, the machine's HBM

 private:
  scenarios::RunSpec run_;
  Steps steps_;
  std::optional<PlayedSteps> live_, caching_;
};

struct Metric {
  OptionSpec spec;  // its name and how its value is written
  FigureKind kind{};
  double (*of_run)(SimulatedRun& run) = nullptr;  // in seconds, bytes, units a second
  double (*of_component)(const Machine& machine, const ComponentWork& work) = nullptr;
};

std::span<const Metric> metrics();

}  // namespace tidemark::tools
