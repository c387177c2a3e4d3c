#include "tools/plot/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tidemark::tools::plot {

std::vector<Tick> ticks(double least, double most, std::size_t about) {
  const double range = most - least;
  if (!(range > 0) || about == 0) return {{least, fmt::format("{:g}", least)}};
  const double rough = range / static_cast<double>(about);
  const double power = std::floor(std::log10(rough));
  const double unit = std::pow(10.0, power);
  double step = 10 * unit;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * unit >= rough * (1 - 1e-9)) {
      step = factor * unit;
      break;
    }
  }
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  std::vector<Tick> out;
  const auto first = static_cast<long>(std::ceil(least / step - 1e-9));
  const auto last = static_cast<long>(std::floor(most / step + 1e-9));
  for (long i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * step;
    out.push_back({value, fmt::format("{:.{}f}", value, decimals)});
  }
  return out;
}

Unit byte_unit(double most) {
  if (most >= 1e9) return {1e9, "GB"};
  if (most >= 1e6) return {1e6, "MB"};
  return {1e3, "kB"};
}

Unit time_unit(double most) {
  if (most >= 1) return {1, "s"};
  if (most >= 1e-3) return {1e-3, "ms"};
  return {1e-6, "us"};
}

std::vector<std::string> fold(const std::string& text, double size, bool bold, double width,
                              const Measure& measure) {
  std::vector<std::string> lines(1);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    std::string& line = lines.back();
    const std::string longer = line.empty() ? word : line + ' ' + word;
    if (line.empty() || measure(longer, size, bold) <= width) {
      line = longer;
    } else {
      lines.push_back(word);
    }
    begin = end + 1;
  }
  return lines;
}

}  // namespace tidemark::tools::plot
