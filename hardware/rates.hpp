#pragma once
// Peaks, achieved rates, and times at them.

#include <cstdint>

#include "hardware/kernel_work.hpp"
#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark {

// Peak of a matmul of these operands.
FlopRate matmul_peak(const Gpu& gpu, Arithmetic arithmetic);

// peak x share as a whole rate, at least 1; InternalError unless peak > 0 and share is in (0, 1].
std::int64_t achieved(std::int64_t peak, double share);

// `amount` at `rate` per second, rounded up; saturates as time_at_rate does. rate > 0.
SimTime time_of(Int128 amount, std::int64_t rate);

// a + b, saturating at the same bound.
SimTime saturating_sum(SimTime a, Int128 b);

}  // namespace tidemark
