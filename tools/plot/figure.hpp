#pragma once
// A picture as a list of shapes, back to front. What makes a chart knows the data and where things
// go; what draws it (canvas.hpp) knows Cairo. Lengths are points, 1/72 inch; y points down.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tidemark::tools::plot {

struct Color {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  friend bool operator==(Color, Color) = default;
};

inline constexpr Color kBlack{0x1a, 0x1a, 0x1a};
inline constexpr Color kGrey{0x80, 0x80, 0x80};
inline constexpr Color kLightGrey{0xdd, 0xdd, 0xdd};
inline constexpr Color kWhite{0xff, 0xff, 0xff};

struct Point {
  double x = 0;
  double y = 0;
};

// What tells areas apart where colours do not.
enum class Hatch : std::uint8_t { kNone, kRising, kFalling, kCrossed, kLevel, kUpright, kDotted };

struct Paint {
  Color fill;
  Hatch hatch = Hatch::kNone;
  friend bool operator==(Paint, Paint) = default;
};

struct Area {
  std::vector<Point> points;  // of a polygon, closed by itself
  Paint paint;
};

struct Line {
  std::vector<Point> points;
  Color color = kBlack;
  double width = 0.6;
  bool dashed = false;
};

// kArrow points down.
enum class MarkerShape : std::uint8_t { kCircle, kSquare, kTriangle, kDiamond, kCross, kArrow };

struct Marker {
  Point at;
  MarkerShape shape{};
  Color color;
  double size = 5;     // across
  bool filled = true;  // or the outline alone
};

enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd };

struct Text {
  Point at;  // on the baseline, at the anchor
  std::string text;
  double size = 8;
  Anchor anchor = Anchor::kStart;
  bool bold = false;
  bool upright = false;  // reads from bottom to top
  Color color = kBlack;
};

using FigureShape = std::variant<Area, Line, Marker, Text>;

struct Figure {
  double width = 0;
  double height = 0;
  std::string title;  // of the file
  std::vector<FigureShape> shapes;
};

// How large a figure is and how its texts are set.
struct FigureStyle {
  const char* name;
  const char* summary;
  double width;  // points
  double font;   // points, of most texts
};

}  // namespace tidemark::tools::plot
