#pragma once

#include <string>
#include <string_view>

namespace tidemark::tools {

// A cell as RFC 4180 wants it: in quotes where it has to be.
inline std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace tidemark::tools
