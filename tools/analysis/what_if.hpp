#pragma once
// A run's steady step, lowered once and played on as many machines as one likes.

#include <array>
#include <cstddef>
#include <optional>

#include "graph/program.hpp"
#include "scenarios/scenario.hpp"
#include "sim/result.hpp"
#include "tools/analysis/limits.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {

struct WhatIf {
  bool fits = false;
  SimTime step_time{};  // where it does not fit: with enough memory
  ByResource critical_path{};
  UpdatePace update_pace{};
  std::array<Bytes, kLinkCount> moved{};  // by LinkKind
  bool updates_on_cpu = false;            // its stream has work
};

class WhatIfs {
 public:
  explicit WhatIfs(const scenarios::RunSpec& run) : run_(run), steps_(run) {}

  // First and steady step with what the machine has; without limits if that does not fit.
  WhatIf play(const Machine& machine) const;

  // Only how long a steady step takes; `fits`: with what the machine has, otherwise without limits.
  SimTime step_time(const Machine& machine, bool fits) const;

  const Machine& machine() const { return run_.machine; }

 private:
  const scenarios::RunSpec& run_;
  Steps steps_;
};

}  // namespace tidemark::tools
