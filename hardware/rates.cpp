#include "hardware/rates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;

}  // namespace

FlopRate matmul_peak(const Gpu& gpu, Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::k16Bit:
      return gpu.matmul_16bit;
    case Arithmetic::k32Bit:
      return gpu.matmul_32bit;
    case Arithmetic::kTf32:
      return gpu.matmul_tf32;
  }
  throw InternalError("every arithmetic has a peak");
}

std::int64_t achieved(std::int64_t peak, double share) {
  ensure(peak > 0, "a device's peak rate is positive");
  ensure(share > 0 && share <= 1, "an efficiency lies in (0, 1]");
  // One rounding, from the same double on every machine.
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(peak) * share));
}

SimTime time_of(Int128 amount, std::int64_t rate) {
  // Amounts below 2^80 leave room for the 2^40 of the conversion to picoseconds.
  if (amount >= (Int128{1} << 80)) return SimTime(kMost);
  const Int128 ps = (amount * 1'000'000'000'000 + rate - 1) / rate;
  return SimTime(ps > kMost ? kMost : static_cast<std::int64_t>(ps));
}

SimTime saturating_sum(SimTime a, Int128 b) {
  const Int128 sum = a.count() + b;
  return SimTime(sum > kMost ? kMost : static_cast<std::int64_t>(sum));
}

}  // namespace tidemark
