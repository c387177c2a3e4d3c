#include "hardware/cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

// peak x share as a whole rate: one rounding, from the same double on every machine. Never zero, so
// that time_at_rate may divide by it.
std::int64_t achieved(std::int64_t peak, double share) {
  ensure(peak > 0, "a device's peak rate is positive");
  ensure(share > 0 && share <= 1, "an efficiency lies in (0, 1]");
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(peak) * share));
}

std::int64_t compute_rate(const Gpu& gpu, const KernelWork& work) {
  if (work.work == WorkClass::kStream) return achieved(gpu.vector_32bit.count, 1);
  const FlopRate peak = work.arithmetic == Arithmetic::k16Bit ? gpu.matmul_16bit : gpu.matmul_32bit;
  return achieved(peak.count, gpu.matmul_efficiency);
}

}  // namespace

SimTime kernel_time(const Gpu& gpu, const KernelWork& work) {
  if (work.work == WorkClass::kNone) return SimTime(0);
  ensure(work.flops.count >= 0 && work.bytes.count >= 0, "a kernel's work is not negative");
  const SimTime compute = time_at_rate(work.flops.count, compute_rate(gpu, work));
  const SimTime stream =
      time_at_rate(work.bytes.count, achieved(gpu.bandwidth.count, gpu.stream_efficiency));
  ensure(gpu.launch_latency.count() >= 0 && work.kernels >= 0, "launches take no negative time");
  const Int128 launches = Int128{gpu.launch_latency.count()} * work.kernels;
  const Int128 total = std::max(compute, stream).count() + launches;
  // Saturates where time_at_rate does.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  return SimTime(total > kMost ? kMost : static_cast<std::int64_t>(total));
}

}  // namespace tidemark
