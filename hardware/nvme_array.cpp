#include "hardware/nvme_array.hpp"

#include <algorithm>

namespace tidemark {

NvmeRates nvme_rates(const Ssd& ssd) {
  Bandwidth write = ssd.write;
  if (ssd.cache == WriteCache::kFull && ssd.sustained.count > 0) {
    write = std::min(write, ssd.sustained);
  }
  const Bandwidth sum = ssd.read + write;
  const Bandwidth both = ssd.both.count > 0 ? std::min(ssd.both, sum) : sum;
  return {ssd.read * ssd.drives, write * ssd.drives, both * ssd.drives};
}

Bandwidth request_cap(const Ssd& ssd, Bandwidth rated) {
  if (ssd.request.count <= 0 || ssd.latency.count() <= 0) return {};
  constexpr Int128 kPicosecondsPerSecond = 1'000'000'000'000;
  const Int128 rate = static_cast<Int128>(ssd.request.count) * ssd.in_flight *
                      kPicosecondsPerSecond / ssd.latency.count();
  if (rate >= rated.count) return {};
  return Bandwidth(static_cast<std::int64_t>(std::max<Int128>(rate, 1)));
}

double days_to_rated_writes(const Ssd& ssd, Bytes per_step, SimTime step) {
  if (per_step.count <= 0 || ssd.endurance.count <= 0 || step.count() <= 0) return 0;
  const double steps = static_cast<double>(ssd.endurance.count) * static_cast<double>(ssd.drives) /
                       static_cast<double>(per_step.count);
  constexpr double kSecondsPerDay = 86'400;
  return steps * seconds(step) / kSecondsPerDay;
}

}  // namespace tidemark
