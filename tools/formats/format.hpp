#pragma once
// The contract of an output format: reports in, text out. A format reads nothing else, opens no
// file and does not depend on the locale. A new one is a source file in this folder and a row in
// table.cpp.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report.hpp"

namespace tidemark::tools {

// The reports of one scenario file, in the order of its runs.
struct ScenarioReports {
  std::string name;
  std::vector<Report> runs;
};

struct FormatOptions {
  std::size_t largest = 0;  // text: buffers to list at each peak
  bool colors = false;      // text: with escape sequences
  bool ascii = false;       // text: drawn with ASCII characters alone
};

using FormatFn = std::string(std::span<const ScenarioReports>, const FormatOptions&);

struct Format {
  std::string_view name;
  std::string_view summary;
  FormatFn* write;
};

std::span<const Format> formats();

// The name must be a row's.
const Format& find_format(std::string_view name);

}  // namespace tidemark::tools
