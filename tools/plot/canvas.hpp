#pragma once
// Figures to files, by Cairo. Texts become outlines of the font that is installed where the figure
// is made, so that they look the same wherever it is shown. The same figure gives the same bytes:
// no date, no name of a machine.

#include <string>
#include <string_view>

#include "tools/plot/axis.hpp"
#include "tools/plot/figure.hpp"

namespace tidemark::tools::plot {

// Text widths in the font of the figures.
Measure font_measure();

// The bytes of an SVG, PDF or PNG file (200 pixels an inch). `format`: "svg", "pdf" or "png".
std::string draw(const Figure& figure, std::string_view format);

// By the name's ending; empty: it is none of them.
std::string_view picture_format(std::string_view file);

// Checks an option's argument as CLI11 wants it: the complaint, or nothing.
inline std::string names_a_picture(const std::string& file) {
  return picture_format(file).empty() ? "has to end in .svg, .pdf or .png" : "";
}

}  // namespace tidemark::tools::plot
