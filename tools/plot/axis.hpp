#pragma once
// Numbers to places: a linear scale with ticks at round numbers.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::tools::plot {

// Width in points of a text of a size; which font decides that is the canvas's business.
using Measure = std::function<double(std::string_view text, double size, bool bold)>;

struct Tick {
  double value = 0;
  std::string label;
};

// Ticks from 0 or the least to the most, at multiples of 1, 2 or 5 x 10^n, about as many as asked
// for: between half as many and twice as many. Labels have as many decimals as the step needs.
std::vector<Tick> ticks(double least, double most, std::size_t about);

// From [least, most] to [from, to], which may run backward.
struct Scale {
  double least = 0;
  double most = 1;
  double from = 0;
  double to = 1;

  double operator()(double value) const {
    return from + (to - from) * (value - least) / (most - least);
  }
};

// A unit in which the largest of some values has one to three digits before the point.
struct Unit {
  double size = 1;
  const char* name = "";
};
Unit byte_unit(double most);  // GB, MB, kB
Unit time_unit(double most);  // of seconds: s, ms, us

// Cut into lines no wider than `width`, at blanks; a word that is wider has a line of its own.
std::vector<std::string> fold(const std::string& text, double size, bool bold, double width,
                              const Measure& measure);

}  // namespace tidemark::tools::plot
