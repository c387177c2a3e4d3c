#include "tools/sparkline.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "hardware/units.hpp"

namespace tidemark::tools {
namespace {

constexpr std::array<std::string_view, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kLetters = {" ", "_", ".", ":", "-", "=", "+", "*", "#"};

}  // namespace

std::string sparkline(std::span<const sim::Level> levels, bool ascii) {
  std::int64_t most = 1;
  for (const sim::Level& level : levels) most = std::max(most, level.total.count);
  std::string text;
  for (const sim::Level& level : levels) {
    const Int128 eighths = (static_cast<Int128>(level.total.count) * 8 + most - 1) / most;
    text += (ascii ? kLetters : kBlocks)[static_cast<std::size_t>(eighths)];
  }
  return text;
}

}  // namespace tidemark::tools
