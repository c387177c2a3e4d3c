#include "tools/column_scale.hpp"

#include <fmt/format.h>

namespace tidemark::tools {

ColumnScale byte_scale(Bytes most) {
  if (most >= Bytes(1'000'000'000)) return {1e9, "GB"};
  if (most >= Bytes(1'000'000)) return {1e6, "MB"};
  return {1e3, "kB"};
}

ColumnScale time_scale(SimTime most) {
  if (seconds(most) >= 1) return {1, "s"};
  if (seconds(most) >= 1e-3) return {1e-3, "ms"};
  return {1e-6, "us"};
}

std::string scaled(Bytes bytes, ColumnScale scale) {
  if (bytes.count == 0) return "-";
  return fmt::format("{:.1f}", static_cast<double>(bytes.count) / scale.size);
}

std::string scaled(SimTime time, ColumnScale scale, int digits) {
  if (time.count() == 0) return "-";
  return fmt::format("{:.{}f}", seconds(time) / scale.size, digits);
}

}  // namespace tidemark::tools
