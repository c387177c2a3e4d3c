#pragma once
// What all figures have in common: sizes, and what colour and hatch each thing has wherever it is
// drawn. Colours are those of Okabe and Ito, "Color Universal Design" (2008), which people with any
// colour vision tell apart, and tints of them; neighbours in a legend differ in their hatch too.

#include <span>

#include "graph/category.hpp"
#include "sim/result.hpp"
#include "tools/plot/figure.hpp"

namespace tidemark::tools::plot {

std::span<const FigureStyle> figure_styles();
// The name must be a row's.
const FigureStyle& find_style(std::string_view name);

Paint paint_of(Category category);
Paint paint_of(sim::StallCause cause);
inline constexpr Paint kComputePaint{{0x00, 0x72, 0xb2}, Hatch::kNone};
inline constexpr Paint kRecomputePaint{{0x56, 0xb4, 0xe9}, Hatch::kRising};

// A colour and a shape for the n-th of several points.
Color mark_color(std::size_t n);
MarkerShape mark_shape(std::size_t n);

}  // namespace tidemark::tools::plot
