#include "tools/told_apart.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "hardware/quantity.hpp"

namespace tidemark::tools {
namespace {

constexpr int kMostDecimals = 9;  // of a unit of a thousand of the next smaller one: plenty

std::string usual(SimTime time) { return format_time(time); }
std::string usual(Bytes bytes) { return format_bytes(bytes); }

double factor_of(SimTime, const std::string& one) {
  return static_cast<double>(parse_time(one).value->count());
}
double factor_of(Bytes, const std::string& one) {
  return static_cast<double>(parse_bytes(one).value->count);
}

double number(SimTime time) { return static_cast<double>(time.count()); }
double number(Bytes bytes) { return static_cast<double>(bytes.count); }

template <class Quantity>
std::pair<std::string, std::string> apart(Quantity a, Quantity b) {
  const std::string text = usual(a);
  if (a == b || text != usual(b)) return {text, usual(b)};
  const std::string unit = text.substr(text.rfind(' ') + 1);
  const double factor = factor_of(a, "1 " + unit);
  for (int decimals = 1; decimals <= kMostDecimals; ++decimals) {
    const auto with = [&](Quantity value) {
      return fmt::format("{:.{}f} {}", number(value) / factor, decimals, unit);
    };
    if (with(a) != with(b)) return {with(a), with(b)};
  }
  return {exact_text(a), exact_text(b)};
}

template <class Quantity>
std::string beside(std::string_view what, Quantity now, Quantity before) {
  if (now == before) return fmt::format("{} {} as before", what, usual(now));
  const auto [left, right] = apart(now, before);
  return fmt::format("{} {} instead of {}", what, left, right);
}

}  // namespace

std::pair<std::string, std::string> told_apart(SimTime a, SimTime b) { return apart(a, b); }
std::pair<std::string, std::string> told_apart(Bytes a, Bytes b) { return apart(a, b); }

std::string instead_of(std::string_view what, SimTime now, SimTime before) {
  return beside(what, now, before);
}
std::string instead_of(std::string_view what, Bytes now, Bytes before) {
  return beside(what, now, before);
}

}  // namespace tidemark::tools
