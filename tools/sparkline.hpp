#pragma once

#include <span>
#include <string>

#include "sim/account.hpp"

namespace tidemark::tools {

// A character a level, as high as its bytes beside those of the highest: eight heights, "▁" to "█",
// or "_" to "#" in ASCII. Any bytes at all have at least the lowest; none are a blank.
std::string sparkline(std::span<const sim::Level> levels, bool ascii);

}  // namespace tidemark::tools
