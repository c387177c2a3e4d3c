#include <array>

#include "hardware/ensure.hpp"
#include "tools/formats/format.hpp"

namespace tidemark::tools {

FormatFn text, json, csv;

namespace {

constexpr auto kFormats = std::to_array<Format>({
    {"text", "a table for people, a row a strategy", text},
    {"json", "every number, for programs", json},
    {"csv", "a line a run, for spreadsheets", csv},
});

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format& find_format(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
  }
  throw InternalError("a format should be asked for by a name in the table");
}

}  // namespace tidemark::tools
