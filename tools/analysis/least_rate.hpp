#pragma once
// How fast is fast enough.

#include <cstdint>
#include <functional>

#include "hardware/units.hpp"

namespace tidemark::tools {

// Faster than any device, slow enough for whole numbers.
inline constexpr std::int64_t kEndlessRate = 100'000'000'000'000'000;

// A step is as good as one at an endless rate when it takes no more than this share longer.
inline constexpr double kHidden = 0.01;

bool as_good_as(SimTime time, SimTime best);

struct LeastRate {
  std::int64_t rate = 0;  // 0: any
  SimTime time{};         // of a step at that rate
};

// The least rate, to half a percent, at which a step is as good as one at an endless rate. Doubles
// or halves `has` until it has one rate that is and one that is not, then bisects between them, so
// what it returns has been tried; where the time is not monotonous there may be lower ones. `now`
// is the time at `has`, positive, `endless` that at kEndlessRate.
LeastRate least_rate(std::int64_t has, SimTime now, SimTime endless,
                     const std::function<SimTime(std::int64_t)>& time_at);

}  // namespace tidemark::tools
