#pragma once
// What the page shows, as JSON: times in picoseconds, sizes in bytes, both whole numbers.

#include <string>

#include "tools/out/out.hpp"

namespace tidemark::tools {

// {"tidemark", "title", "words": names by number, "runs": [one for each run]}, see data.cpp. ASCII,
// and without "<", so that it can stand in a page.
std::string report_data(const OutInput& input);

}  // namespace tidemark::tools
