#pragma once
// Memory over the time of one step, coarse enough to be drawn. The step is cut into columns of
// equal time, and each shows its fullest moment: a peak is never hidden, however short it is.

#include <array>
#include <cstddef>
#include <vector>

#include "graph/program.hpp"
#include "hardware/units.hpp"
#include "sim/account.hpp"
#include "sim/result.hpp"

namespace tidemark::tools {

// Compute instances of one part of the step, one after another.
struct ProfileSpan {
  sim::StepPart part{};
  SimTime begin{};
  SimTime end{};
};

struct MemoryProfile {
  SimTime end{};
  // Column i covers [end x i / n, end x (i + 1) / n). Empty where none were asked for.
  std::array<std::vector<sim::Level>, kTierCount> columns;  // indexed by Tier
  std::vector<ProfileSpan> spans;                           // in order of time
};

MemoryProfile make_profile(const Program& program, const sim::Result& result, std::size_t columns);

}  // namespace tidemark::tools
