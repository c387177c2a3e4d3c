#pragma once
// Comma-separated values as RFC 4180 has them, every cell with its place, for messages that point
// at it. Lines that begin with # and empty ones are left out.

#include <memory>
#include <string>
#include <vector>

#include "scenarios/diagnostic.hpp"

namespace tidemark::tools {

struct CsvCell {
  std::string text;  // without quotes and blanks around
  scenarios::Mark mark;
};

struct CsvRow {
  std::vector<CsvCell> cells;
  scenarios::Mark mark;
};

// The rows in the order of the file, the header first; a byte order mark may stand before it.
// Reports quotes that do not end, and what is not UTF-8.
std::vector<CsvRow> parse_csv(const std::shared_ptr<const scenarios::Source>& source,
                              scenarios::Diagnostics& diagnostics);

}  // namespace tidemark::tools
