#include "hardware/quantity.hpp"

#include <charconv>
#include <system_error>
#include <utility>

#include "hardware/decimal.hpp"
#include "hardware/unit_table.hpp"

namespace tidemark {
namespace {

template <class T>
Parsed<T> refused(std::string reason) {
  return {std::nullopt, std::move(reason)};
}

std::string missing_unit(std::string_view text, const UnitKind& kind) {
  return in_quotes(trimmed(text)) + " has no unit: " + std::string(kind.noun) +
         " is meant, for example '" + std::string(kind.example) + "' (units: " + known_units(kind) +
         ")";
}

// The count in the smallest unit of `kind`, or the reason.
Parsed<std::int64_t> parse_quantity(std::string_view text, const UnitKind& kind) {
  const ScannedDecimal scanned = scan_decimal(text);
  const std::string example = "for example '" + std::string(kind.example) + "'";
  if (!scanned.reason.empty()) {
    return refused<std::int64_t>(scanned.reason + "; " + std::string(kind.noun) + " is meant, " +
                                 example);
  }
  if (scanned.rest.empty()) {
    if (scanned.number.digits == 0) return {0, {}};
    return refused<std::int64_t>(missing_unit(text, kind));
  }
  const Unit* unit = find_unit(kind, scanned.rest);
  if (unit == nullptr) {
    return refused<std::int64_t>(fault_of_unit(kind, text, scanned.rest));
  }
  const Scaled scaled = scale(scanned.number, unit->factor, kLargestQuantity);
  const std::string shown = in_quotes(trimmed(text));
  const std::string smallest = "1 " + std::string(kind.units.front().name);
  if (scaled.too_large) {
    return refused<std::int64_t>(shown + " is too large: the most is " + std::string(kind.most));
  }
  if (!scaled.exact && (unit->factor == 1 || scaled.value == 0)) {
    return refused<std::int64_t>(shown + " has a fraction of " + smallest + ", the smallest unit");
  }
  return {scaled.value, {}};
}

template <class T>
Parsed<T> parse_as(std::string_view text, const UnitKind& kind) {
  Parsed<std::int64_t> count = parse_quantity(text, kind);
  if (!count.value) return refused<T>(std::move(count.reason));
  return {T(*count.value), {}};
}

}  // namespace

Parsed<Bytes> parse_bytes(std::string_view text) { return parse_as<Bytes>(text, size_units()); }

Parsed<Bandwidth> parse_bandwidth(std::string_view text) {
  return parse_as<Bandwidth>(text, bandwidth_units());
}

Parsed<SimTime> parse_time(std::string_view text) { return parse_as<SimTime>(text, time_units()); }

Parsed<FlopRate> parse_flop_rate(std::string_view text) {
  return parse_as<FlopRate>(text, flop_rate_units());
}

Parsed<Frequency> parse_frequency(std::string_view text) {
  return parse_as<Frequency>(text, frequency_units());
}

Parsed<std::int64_t> parse_count(std::string_view text) {
  const ScannedDecimal scanned = scan_decimal(text);
  const std::string shown = in_quotes(trimmed(text));
  if (!scanned.reason.empty()) {
    return refused<std::int64_t>(scanned.reason + "; a whole number is meant, for example '4096'");
  }
  if (!scanned.rest.empty()) {
    return refused<std::int64_t>(shown + " is not a plain number: " + in_quotes(scanned.rest) +
                                 " follows it; a whole number without a unit is meant");
  }
  const Scaled scaled = scale(scanned.number, 1, kLargestQuantity);
  if (scaled.too_large) {
    return refused<std::int64_t>(shown + " is too large: the most is " +
                                 std::to_string(kLargestQuantity));
  }
  if (!scaled.exact) return refused<std::int64_t>(shown + " is not a whole number");
  if (!scanned.plain) {
    return refused<std::int64_t>(shown + " is not written as a whole number: write '" +
                                 std::to_string(scaled.value) + "'");
  }
  return {scaled.value, {}};
}

Parsed<double> parse_fraction(std::string_view text) {
  const ScannedDecimal scanned = scan_decimal(text);
  const std::string shown = in_quotes(trimmed(text));
  if (!scanned.reason.empty()) {
    return refused<double>(scanned.reason +
                           "; a fraction from 0 to 1 is meant, for example '0.87'");
  }
  if (!scanned.rest.empty()) {
    return refused<double>(shown + " is not a plain number: " + in_quotes(scanned.rest) +
                           " follows it; a fraction from 0 to 1 is meant, for example '0.87'");
  }
  double value = 0;
  const std::string_view digits = trimmed(text);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (scale(scanned.number, 1, kLargestQuantity).too_large || value > 1) {
    return refused<double>(shown + " is above 1: a fraction from 0 to 1 is meant");
  }
  if (read.ec != std::errc()) return refused<double>(shown + " is too small to be told from 0");
  return {value, {}};
}

}  // namespace tidemark
