#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

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

// A point of a sweep in one cell: "training.micro_batch=2 training.sequence=4096".
inline std::string point_cell(std::span<const std::pair<std::string, std::string>> point) {
  std::string out;
  for (const auto& [key, value] : point) out += (out.empty() ? "" : " ") + key + "=" + value;
  return csv_cell(out);
}

}  // namespace tidemark::tools
