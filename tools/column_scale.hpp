#pragma once
// One unit for all cells of a column, chosen by the largest.

#include <string>

#include "hardware/units.hpp"

namespace tidemark::tools {

struct ColumnScale {
  double size = 1;
  const char* unit = "";
};

ColumnScale byte_scale(Bytes most);    // GB, MB, kB
ColumnScale time_scale(SimTime most);  // s, ms, us

std::string scaled(Bytes bytes, ColumnScale scale);                   // one decimal; 0 is "-"
std::string scaled(SimTime time, ColumnScale scale, int digits = 2);  // decimals; 0 is "-"

}  // namespace tidemark::tools
