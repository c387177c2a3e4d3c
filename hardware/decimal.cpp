#include "hardware/decimal.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tidemark {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }  // std::isdigit asks the locale

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool says_not_finite(std::string_view text) {
  std::string word;
  for (const char c : text.substr(0, text.find_first_of(" \t"))) word += lower(c);
  constexpr std::array<std::string_view, 5> kWords = {"inf", ".inf", "infinity", "nan", ".nan"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// Why `text`, trimmed, does not even start like a number; empty if it does.
std::string fault_of_start(std::string_view text) {
  if (text.empty()) return "no value is given";
  const bool sign = text[0] == '-' || text[0] == '+';
  if (says_not_finite(text.substr(sign ? 1 : 0)))
    return in_quotes(text) + " is not a finite number";
  if (text[0] == '-') return in_quotes(text) + " is negative";
  if (text[0] == '+') return in_quotes(text) + " starts with '+': write it without the sign";
  if (text[0] == '.' && text.size() > 1 && is_digit(text[1])) {
    return in_quotes(text) + " starts with a point: write " + in_quotes("0" + std::string(text));
  }
  if (!is_digit(text[0])) return in_quotes(text) + " does not start with a number";
  if (text[0] == '0' && text.size() > 1) {
    if (text[1] == 'x' || text[1] == 'X') {
      return in_quotes(text) + " is hexadecimal: write a decimal number";
    }
    if (is_digit(text[1])) {
      std::size_t first = text.find_first_not_of('0');
      if (first == std::string_view::npos) first = text.size();
      if (first == text.size() || !is_digit(text[first])) --first;  // the one zero that stays
      return in_quotes(text) + " has leading zeros: write " + in_quotes(text.substr(first));
    }
  }
  return {};
}

// Digits of both sides of the point, read as one integer, times 10^exponent: to the one form that
// Decimal allows. What no limit admits becomes 10^(kMostDigits + 1), which scale() finds too large.
// False if there are too many digits.
bool normalise(std::string_view digits, int exponent, Decimal& number) {
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string_view::npos) return true;
  const std::size_t last = digits.find_last_not_of('0');
  exponent += static_cast<int>(digits.size() - 1 - last);
  digits = digits.substr(first, last - first + 1);
  if (static_cast<int>(digits.size()) + exponent > Decimal::kMostDigits) {
    number = {1, Decimal::kMostDigits + 1};
    return true;
  }
  if (digits.size() > static_cast<std::size_t>(Decimal::kMostDigits)) return false;
  number.exponent = exponent;
  for (const char c : digits) number.digits = number.digits * 10 + (c - '0');
  return true;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string out = "'";
  std::size_t size = std::min(text.size(), kMost);
  // Not in the middle of a UTF-8 sequence: 10xxxxxx continues one.
  while (size < text.size() && size > 0 &&
         (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) {
    --size;
  }
  for (const char c : text.substr(0, size)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  return out + (size < text.size() ? "...'" : "'");
}

ScannedDecimal scan_decimal(std::string_view text) {
  text = trimmed(text);
  ScannedDecimal result;
  result.reason = fault_of_start(text);
  if (!result.reason.empty()) return result;

  std::size_t at = 0;
  std::string digits;
  while (at < text.size() && is_digit(text[at])) digits += text[at++];
  int exponent = 0;
  if (at < text.size() && text[at] == '.') {
    result.plain = false;
    const std::size_t point = at++;
    while (at < text.size() && is_digit(text[at])) digits += text[at++];
    if (at == point + 1) {
      result.reason = in_quotes(text) + " has no digit after the point";
      return result;
    }
    exponent = -static_cast<int>(at - point - 1);
  }
  if (at < text.size() && (text[at] == ',' || text[at] == '_' || text[at] == '\'')) {
    result.reason =
        in_quotes(text) + " has a separator: digits stand together, and '.' is the point";
    return result;
  }
  if (at < text.size() && text[at] == '.') {
    result.reason = in_quotes(text) + " has two decimal points";
    return result;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t next = at + 1;
    const bool negative = next < text.size() && text[next] == '-';
    if (next < text.size() && (text[next] == '-' || text[next] == '+')) ++next;
    if (next < text.size() && is_digit(text[next])) {  // else it belongs to the unit
      result.plain = false;
      int power = 0;
      for (; next < text.size() && is_digit(text[next]); ++next) {
        power = std::min(power * 10 + (text[next] - '0'), 100'000);
      }
      exponent += negative ? -power : power;
      at = next;
    }
  }
  if (!normalise(digits, exponent, result.number)) {
    result.reason = in_quotes(text) + " has more than " + std::to_string(Decimal::kMostDigits) +
                    " significant digits";
    return result;
  }
  result.rest = trimmed(text.substr(at));
  return result;
}

Scaled scale(Decimal number, std::int64_t factor, std::int64_t limit) {
  Int128 product = number.digits * factor;  // below 10^20 x 2^50 < 2^127
  for (int i = 0; i < number.exponent && product != 0; ++i) {
    product *= 10;
    if (product > limit) return {0, true, true};
  }
  Scaled result;
  if (number.exponent < 0) {
    constexpr int kMostPower = 37;  // 2 x 10^37 < 2^127
    if (number.exponent < -kMostPower) return {0, product == 0, false};
    Int128 divisor = 1;
    for (int i = 0; i < -number.exponent; ++i) divisor *= 10;
    const Int128 remainder = product % divisor;
    result.exact = remainder == 0;
    product = product / divisor + (2 * remainder >= divisor ? 1 : 0);
  }
  if (product > limit) return {0, true, true};
  result.value = static_cast<std::int64_t>(product);
  return result;
}

}  // namespace tidemark
