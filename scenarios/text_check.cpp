#include "scenarios/text_check.hpp"

namespace tidemark::scenarios {
namespace {

// Bytes of the UTF-8 character that starts with `lead`; 0: none does. Overlong two-byte forms
// (C0, C1) and what lies beyond U+10FFFF (F5 and above) start none.
std::size_t character_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

std::string hex(unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

}  // namespace

std::optional<TextFault> check_text(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control = byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
    if (control || byte == 0x7F) {
      return TextFault{at, "not a text file: it contains the byte " + hex(byte)};
    }
    const std::size_t length = character_length(byte);
    bool valid = length > 0 && at + length <= text.size();
    for (std::size_t i = 1; valid && i < length; ++i) {
      valid = (static_cast<unsigned char>(text[at + i]) & 0xC0) == 0x80;
    }
    if (!valid) return TextFault{at, "not a text file in UTF-8: the byte " + hex(byte)};
    at += length;
  }
  return std::nullopt;
}

}  // namespace tidemark::scenarios
