#pragma once
// Decimal numbers as users write them, held exactly.

#include <cstdint>
#include <string>
#include <string_view>

#include "hardware/units.hpp"

namespace tidemark {

// digits x 10^exponent; at most kMostDigits significant digits, none of them a trailing zero.
// "1.10" is 11 x 10^-1, "4096" is 4096 x 10^0.
struct Decimal {
  static constexpr int kMostDigits = 20;
  Int128 digits = 0;
  int exponent = 0;
};

// A number at the start of a text, and what follows it; or the reason why there is none.
struct ScannedDecimal {
  Decimal number;
  bool plain = true;      // only digits: no point, no exponent
  std::string_view rest;  // blanks around it are dropped
  std::string reason;     // empty: a number was found
};

// Refuses what other parsers let through: signs, hexadecimal, leading zeros, inf and nan,
// separators.
ScannedDecimal scan_decimal(std::string_view text);

// number x factor as an integer.
struct Scaled {
  std::int64_t value = 0;  // rounded to nearest, halves up
  bool exact = true;
  bool too_large = false;  // above `limit`; then value means nothing
};
Scaled scale(Decimal number, std::int64_t factor, std::int64_t limit);

// In quotes, cut to a few dozen characters, control characters replaced: safe in a message.
std::string in_quotes(std::string_view text);

// Without blanks (space, tab) at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace tidemark
