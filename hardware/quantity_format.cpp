#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <span>

#include "hardware/quantity.hpp"
#include "hardware/unit_table.hpp"

namespace tidemark {
namespace {

// a / b to the nearest integer, halves up; a >= 0, b > 0.
Int128 rounded(Int128 a, Int128 b) { return (2 * a + b) / (2 * b); }

// `value` / 10^decimals with that many digits after the point.
std::string with_point(std::int64_t value, int decimals) {
  std::string digits = std::to_string(value);
  const auto after = static_cast<std::size_t>(decimals);
  if (after == 0) return digits;
  if (digits.size() <= after) digits.insert(0, after + 1 - digits.size(), '0');
  return digits.insert(digits.size() - after, 1, '.');
}

// How many digits after the point.
enum class Precision : std::uint8_t { kOneDecimal, kThreeDigits };

// `amount` in the largest of `units` in which it shows as 1 or more. Rounding may carry into the
// next unit: 999,999 B is "1.0 MB".
std::string in_units(std::int64_t amount, std::span<const Unit> units, Precision precision) {
  const Int128 size = amount < 0 ? -Int128{amount} : Int128{amount};
  const std::string sign = amount < 0 ? "-" : "";
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Int128 factor = units[i].factor;
    const bool last = i + 1 == units.size();
    int decimals = i == 0 ? 0 : precision == Precision::kThreeDigits ? 2 : 1;
    Int128 value = rounded(size * (decimals == 2 ? 100 : decimals == 1 ? 10 : 1), factor);
    while (precision == Precision::kThreeDigits && decimals > 0 && value >= 1000) {
      --decimals;
      value = rounded(size * (decimals == 1 ? 10 : 1), factor);
    }
    const Int128 one = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
    if (last || value * factor < units[i + 1].factor * one) {
      return sign + with_point(static_cast<std::int64_t>(value), decimals) + " " +
             std::string(units[i].name);
    }
  }
  return {};
}

// Of the sizes and bandwidths, every second unit is decimal: B, KB, KiB, MB, MiB, ...
std::array<Unit, 6> decimal_units(std::span<const Unit> units) {
  return {units[0], units[1], units[3], units[5], units[7], units[9]};
}

std::array<Unit, 6> binary_units(std::span<const Unit> units) {
  return {units[0], units[2], units[4], units[6], units[8], units[10]};
}

std::string exactly(std::int64_t amount, const UnitKind& kind) {
  if (amount == 0) return "0 " + std::string(kind.units.front().name);
  std::string best;
  for (const Unit& unit : kind.units) {
    if (amount % unit.factor != 0) continue;
    std::string text = std::to_string(amount / unit.factor) + " " + std::string(unit.name);
    if (best.empty() || text.size() < best.size()) best = std::move(text);
  }
  return best;
}

}  // namespace

std::string format_bytes(Bytes bytes, ByteUnits units) {
  const auto all = size_units().units;
  const auto chosen = units == ByteUnits::kDecimal ? decimal_units(all) : binary_units(all);
  return in_units(bytes.count, chosen, Precision::kOneDecimal);
}

std::string format_bandwidth(Bandwidth bandwidth) {
  return in_units(bandwidth.count, decimal_units(bandwidth_units().units), Precision::kThreeDigits);
}

std::string format_flop_rate(FlopRate rate) {
  return in_units(rate.count, flop_rate_units().units, Precision::kThreeDigits);
}

std::string format_flops(Flops flops) {
  constexpr std::array<Unit, 5> kUnits = {{{"FLOP", 1},
                                           {"MFLOP", 1'000'000},
                                           {"GFLOP", 1'000'000'000},
                                           {"TFLOP", 1'000'000'000'000},
                                           {"PFLOP", 1'000'000'000'000'000}}};
  return in_units(flops.count, kUnits, Precision::kOneDecimal);
}

std::string format_time(SimTime time) {
  if (time.count() == 0) return "0 s";
  return in_units(time.count(), time_units().units, Precision::kThreeDigits);
}

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t start = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > start + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string format_percent(double share) {
  std::array<char, 400> text{};  // the largest double has 309 digits before its point
  const auto end = std::to_chars(text.data(), text.data() + text.size(), share * 100,
                                 std::chars_format::fixed, 1);  // ignores the locale
  return std::string(text.data(), end.ptr) + " %";
}

std::string exact_text(Bytes bytes) { return exactly(bytes.count, size_units()); }
std::string exact_text(Bandwidth bandwidth) { return exactly(bandwidth.count, bandwidth_units()); }
std::string exact_text(SimTime time) { return exactly(time.count(), time_units()); }
std::string exact_text(FlopRate rate) { return exactly(rate.count, flop_rate_units()); }
std::string exact_text(Frequency frequency) { return exactly(frequency.count, frequency_units()); }

}  // namespace tidemark
