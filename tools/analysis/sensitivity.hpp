#pragma once
// What a faster machine would do for a run, by simulation: each figure 10 % better, and how fast
// each mover of bytes has to be for its traffic to hide behind other work.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hardware/units.hpp"
#include "scenarios/scenario.hpp"
#include "tools/analysis/figures.hpp"
#include "tools/analysis/limits.hpp"

namespace tidemark::tools {

// A run with one figure of the machine improved.
struct Effect {
  const Figure* figure = nullptr;
  FigureAmount from, to;
  bool fits = false;
  SimTime step_time{};  // where it does not fit: with enough memory
  SimTime saves{};      // against the run as it is; negative where the schedule got worse
};

struct Needed {
  const Mover* mover = nullptr;
  Bytes moves;           // in a step; 0 for the optimizer
  std::int64_t has = 0;  // a second
  // Least rate that hides its traffic as far as this mover alone can; found by bisection to 0.5 %
  // and tried, so it holds even where the step time is not monotonous in the rate. 0: any rate
  // does.
  std::int64_t needs = 0;
  SimTime step_needed{};  // at that rate
  // The same with all other movers infinitely fast: what hides this traffic behind computing.
  std::int64_t to_hide = 0;
  SimTime step_endless{};  // with the mover infinitely fast; what is behind it and latencies stay
  bool hidden = false;     // then the step is as fast as with all movers infinitely fast
  std::optional<Resource> binds;  // else: what holds the step up then
  SimTime binds_for{};            // its time on the critical path then
  UpdatePace update_pace{};       // then
};

struct Sensitivity {
  std::string strategy;
  std::vector<std::pair<std::string, std::string>> point;
  bool fits = false;
  SimTime step_time{};
  SimTime step_endless{};  // all movers infinitely fast
  std::vector<Effect>
      effects;                 // those that save most first, in the order of figures() among equals
  std::vector<Needed> needed;  // of the movers that this run uses, in the order of movers()
  std::size_t simulations = 0;  // steps that were played
};

// Results come in the order of the runs and do not depend on threads. `progress` is called with the
// numbers of finished and of all parts, never by two threads at once.
std::vector<Sensitivity> sensitivities(
    std::span<const scenarios::RunSpec> runs,
    const std::function<void(std::size_t, std::size_t)>& progress = {});

// The effects alone, those that save most first.
std::vector<Effect> effects_of(const scenarios::RunSpec& run);

// Whether it changes the step by what prints as 0.1 % or more.
bool counts(const Effect& effect, SimTime step_time);

// One of `effects` in the JSON of a run.
nlohmann::ordered_json effect_json(const Effect& effect);

struct ScenarioSensitivities {
  std::string name;
  std::vector<Sensitivity> runs;
};

// For people, in lines of at most `width`; and for programs.
std::string sensitivity_text(std::span<const ScenarioSensitivities> scenarios, std::size_t width);
std::string sensitivity_json(std::span<const ScenarioSensitivities> scenarios);
// A row an improved figure ("figure") and a rate that hides its traffic ("needed") of each run.
std::string sensitivity_csv(std::span<const ScenarioSensitivities> scenarios);

}  // namespace tidemark::tools
