#pragma once
// Quantities as integers with a type each: bytes and bytes per second cannot be mixed up, nothing
// is rounded while it accumulates. 1 GB is 10^9 bytes, 1 GiB is 2^30 bytes. Overflow is checked
// where users' numbers enter (parse_* in quantity.hpp), not on every addition.

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <ratio>

namespace tidemark {

__extension__ typedef __int128 Int128;  // -Wpedantic refuses it without the marker

// Simulated time in whole picoseconds: 106 days fit.
using SimTime = std::chrono::duration<std::int64_t, std::pico>;

template <class Tag>
struct Quantity {
  std::int64_t count = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t n) : count(n) {}

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  constexpr Quantity& operator+=(Quantity other) { return count += other.count, *this; }
  constexpr Quantity& operator-=(Quantity other) { return count -= other.count, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.count + b.count);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.count - b.count);
  }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity(a.count * n); }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return Quantity(a.count * n); }
};

using Bytes = Quantity<struct BytesTag>;          // bytes
using Flops = Quantity<struct FlopsTag>;          // floating-point operations
using Bandwidth = Quantity<struct BandwidthTag>;  // bytes per second
using FlopRate = Quantity<struct FlopRateTag>;    // floating-point operations per second

constexpr double seconds(SimTime t) { return static_cast<double>(t.count()) * 1e-12; }

// Time to do `amount` at `rate` per second, rounded up to a whole picosecond; rate > 0.
constexpr SimTime time_at_rate(std::int64_t amount, std::int64_t rate) {
  const Int128 ps = (static_cast<Int128>(amount) * 1'000'000'000'000 + rate - 1) / rate;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
  return SimTime(ps > most ? most : static_cast<std::int64_t>(ps));
}

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n)); }
constexpr Bytes operator""_KiB(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n << 10));
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n << 20));
}
constexpr Bytes operator""_GiB(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n << 30));
}
constexpr Bytes operator""_GB(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n * 1'000'000'000));
}
constexpr Bandwidth operator""_GBps(unsigned long long n) {
  return Bandwidth(static_cast<std::int64_t>(n * 1'000'000'000));
}
constexpr FlopRate operator""_TFLOPs(unsigned long long n) {
  return FlopRate(static_cast<std::int64_t>(n * 1'000'000'000'000));
}
constexpr SimTime operator""_us(unsigned long long n) {
  return SimTime(static_cast<std::int64_t>(n * 1'000'000));
}
constexpr SimTime operator""_ns(unsigned long long n) {
  return SimTime(static_cast<std::int64_t>(n * 1'000));
}
constexpr SimTime operator""_ps(unsigned long long n) {
  return SimTime(static_cast<std::int64_t>(n));
}
}  // namespace literals

}  // namespace tidemark
