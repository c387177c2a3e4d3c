#include "tools/plot/style.hpp"

#include <array>
#include <string_view>

#include "hardware/ensure.hpp"

namespace tidemark::tools::plot {
namespace {

// Okabe and Ito's eight.
constexpr Color kOrange{0xe6, 0x9f, 0x00};
constexpr Color kSkyBlue{0x56, 0xb4, 0xe9};
constexpr Color kBluishGreen{0x00, 0x9e, 0x73};
constexpr Color kYellow{0xf0, 0xe4, 0x42};
constexpr Color kBlue{0x00, 0x72, 0xb2};
constexpr Color kVermillion{0xd5, 0x5e, 0x00};
constexpr Color kReddishPurple{0xcc, 0x79, 0xa7};

// Column widths: IEEE and ACM set columns of 3.5 and 3.33 inches and pages of about 7.
constexpr auto kStyles = std::to_array<FigureStyle>({
    {"page", "as wide as a page of two columns, 7 in, 8 pt", 504, 8},
    {"column", "as wide as one column, 3.5 in, 7 pt", 252, 7},
    {"slide", "for a projector, 10 in, 14 pt", 720, 14},
});

// By Category.
constexpr std::array<Paint, kCategoryCount> kCategoryPaints = {{
    {kBlue, Hatch::kNone},                  // parameters
    {kBluishGreen, Hatch::kRising},         // gradients
    {kSkyBlue, Hatch::kNone},               // master weights
    {kReddishPurple, Hatch::kFalling},      // optimizer state
    {kOrange, Hatch::kNone},                // activations
    {kYellow, Hatch::kRising},              // recomputed
    {{0xb3, 0xb3, 0xb3}, Hatch::kNone},     // temporaries
    {kVermillion, Hatch::kCrossed},         // logits and loss
    {{0x99, 0x7a, 0x4d}, Hatch::kNone},     // inputs
    {{0xd9, 0xc9, 0xa8}, Hatch::kNone},     // constants
    {{0x66, 0x66, 0x66}, Hatch::kDotted},   // workspace
    {{0x8c, 0x8c, 0x8c}, Hatch::kUpright},  // communication
    {{0xa6, 0xdb, 0xc9}, Hatch::kLevel},    // staging
    {{0x4d, 0x4d, 0x4d}, Hatch::kNone},     // runtime
    {{0xcc, 0xcc, 0xcc}, Hatch::kCrossed},  // rounding
}};

// By sim::StallCause.
constexpr std::array<Paint, sim::kStallCauseCount> kStallPaints = {{
    {kOrange, Hatch::kRising},              // PCIe to the GPU
    {kYellow, Hatch::kFalling},             // PCIe from the GPU
    {kReddishPurple, Hatch::kNone},         // SSD reads
    {kVermillion, Hatch::kCrossed},         // SSD writes
    {kBluishGreen, Hatch::kLevel},          // CPU optimizer
    {{0x66, 0x66, 0x66}, Hatch::kUpright},  // allocation
    {{0x99, 0x99, 0x99}, Hatch::kDotted},   // allocator call
    {{0xb3, 0x8c, 0x4d}, Hatch::kNone},     // communication
    {{0xcc, 0xcc, 0xcc}, Hatch::kNone},     // pipeline bubble
    {{0xdd, 0xdd, 0xdd}, Hatch::kRising},   // launch
}};

constexpr auto kMarkColors =
    std::to_array<Color>({kBlue, kVermillion, kBluishGreen, kReddishPurple, kOrange, kSkyBlue});
constexpr int kMarkShapes = 5;

}  // namespace

std::span<const FigureStyle> figure_styles() { return kStyles; }

const FigureStyle& find_style(std::string_view name) {
  for (const FigureStyle& style : kStyles) {
    if (style.name == name) return style;
  }
  throw InternalError("a style should be asked for by a name in the table");
}

Paint paint_of(Category category) { return kCategoryPaints[static_cast<std::size_t>(category)]; }

Paint paint_of(sim::StallCause cause) { return kStallPaints[static_cast<std::size_t>(cause)]; }

Color mark_color(std::size_t n) { return kMarkColors[n % kMarkColors.size()]; }

MarkerShape mark_shape(std::size_t n) { return static_cast<MarkerShape>(n % kMarkShapes); }

}  // namespace tidemark::tools::plot
