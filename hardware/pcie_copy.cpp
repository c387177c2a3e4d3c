#include "hardware/pcie_copy.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark {
namespace {

Bandwidth least_stated(Bandwidth a, Bandwidth b) {
  if (a.count == 0 || b.count == 0) return std::max(a, b);
  return std::min(a, b);
}

}  // namespace

PcieRates pcie_rates(const Pcie& pcie) {
  PcieRates rates{pcie.h2d, pcie.d2h, pcie.both};
  if (pcie.gpus_on_switch > 1) {
    const auto part = [&](Bandwidth link) {
      const Bandwidth uplink = pcie.uplink.count > 0 ? pcie.uplink : link;
      return least_stated(link, Bandwidth(uplink.count / pcie.gpus_on_switch));
    };
    // The uplink's total is to its rates as the link's total is to those of the link.
    const Int128 sum = (pcie.h2d + pcie.d2h).count;
    rates.h2d = part(pcie.h2d);
    rates.d2h = part(pcie.d2h);
    if (sum > 0) {
      const Int128 both = static_cast<Int128>(pcie.both.count) * (rates.h2d + rates.d2h).count;
      rates.both = Bandwidth(static_cast<std::int64_t>(both / sum));
    }
  }
  if (pcie.numa == Numa::kRemote) {
    const Int128 sum = (rates.h2d + rates.d2h).count;
    rates.h2d = least_stated(rates.h2d, pcie.remote_h2d);
    rates.d2h = least_stated(rates.d2h, pcie.remote_d2h);
    if (sum > 0) {
      const Int128 both = static_cast<Int128>(rates.both.count) * (rates.h2d + rates.d2h).count;
      rates.both = Bandwidth(static_cast<std::int64_t>(both / sum));
    }
  }
  rates.both = std::min(rates.both, rates.h2d + rates.d2h);
  return rates;
}

SimTime copy_overhead(const Pcie& pcie, Bandwidth rate) {
  return pcie.latency + time_at_rate(pcie.half_size.count, rate.count);
}

SimTime first_piece(const Host& host) {
  if (host.copy.count <= 0) return SimTime(0);
  return time_at_rate(kPageablePiece.count, host.copy.count);
}

PcieShares pcie_shares(const Pcie& pcie) {
  if (pcie.h2d_share == 0.5) return {};
  constexpr int kOther = 64;  // the two directions together weigh as much as two others
  const long h2d = std::clamp(std::lround(pcie.h2d_share * 2 * kOther), 1L, 2L * kOther - 1);
  return {static_cast<std::uint8_t>(h2d), static_cast<std::uint8_t>(2 * kOther - h2d), kOther};
}

}  // namespace tidemark
