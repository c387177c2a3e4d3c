#include "hardware/cpu_update.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

constexpr std::int64_t kMostRate = std::numeric_limits<std::int64_t>::max() / 4;

// Of two bounds, 0 being none.
std::int64_t tighter(std::int64_t a, std::int64_t b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

std::int64_t clamped(Int128 rate) {
  return static_cast<std::int64_t>(std::clamp<Int128>(rate, 1, kMostRate));
}

}  // namespace

std::int64_t cpu_elements_per_second(const Host& host, const CpuUpdateWork& work) {
  if (host.cpu_optimizer.count > 0) {
    return work.flops > 0 ? std::max<std::int64_t>(host.cpu_optimizer.count / work.flops, 1) : 0;
  }
  if (host.cores <= 0 || host.clock.count <= 0) return 0;
  constexpr std::int64_t kUsualVector = 256;
  const std::int64_t lanes =
      std::max<std::int64_t>((host.vector > 0 ? host.vector : kUsualVector) / 32, 1);
  // In 88ths of a cycle per element, so that both bounds are whole: 11 / 8 is 121 / 88.
  constexpr std::int64_t kScale = 88;
  const std::int64_t divider_lanes = std::min<std::int64_t>(lanes, 8);
  const std::int64_t dividing = work.divides ? 11 * kScale / divider_lanes : 0;
  const std::int64_t issuing = work.vectors * kScale / (2 * lanes);
  const std::int64_t cycles = std::max(dividing, issuing);
  if (cycles == 0) return 0;
  return clamped(static_cast<Int128>(host.cores) * host.clock.count * kScale / cycles);
}

CpuUpdateTime cpu_update_time(const Host& host, const CpuUpdateWork& work, std::int64_t elements) {
  ensure(host.bandwidth.count > 0, "a host that updates parameters has DRAM bandwidth");
  CpuUpdateTime time;
  std::int64_t cap = std::llround(host.update_share * static_cast<double>(host.bandwidth.count));
  // A core that copies reads as much as it writes.
  cap = tighter(cap, clamped(static_cast<Int128>(2) * host.cores * host.copy.count) *
                         (host.cores > 0 && host.copy.count > 0 ? 1 : 0));
  if (host.cpu_optimizer.count > 0 && work.flops > 0) {
    const Int128 rate = static_cast<Int128>(host.cpu_optimizer.count) * work.streamed;
    cap = tighter(cap, clamped(rate / work.flops));
  } else if (const std::int64_t rate = cpu_elements_per_second(host, work); rate > 0) {
    cap = tighter(cap, clamped(static_cast<Int128>(rate) * work.streamed));
  }
  time.cap = Bandwidth(std::max<std::int64_t>(cap, 1));
  time.fixed = time_at_rate(elements * work.fresh, kPageMaking.count);
  return time;
}

}  // namespace tidemark
