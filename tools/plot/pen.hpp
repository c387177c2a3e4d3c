#pragma once
// Puts the parts that all charts have on a figure: titles, axes, legends.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/plot/axis.hpp"
#include "tools/plot/figure.hpp"

namespace tidemark::tools::plot {

struct LegendEntry {
  std::string name;
  Paint paint;
};

// The inside of a pair of axes.
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

class Pen {
 public:
  Pen(const FigureStyle& style, Measure measure, const std::string& title);

  double font() const { return font_; }
  double width() const { return figure_.width; }
  double text_width(std::string_view text, double size, bool bold = false) const {
    return measure_(text, size, bold);
  }

  void area(std::vector<Point> points, Paint paint);
  void rectangle(const Box& box, Paint paint);
  void line(std::vector<Point> points, Color color, double width, bool dashed = false);
  void marker(Marker marker) { figure_.shapes.emplace_back(marker); }
  // The baseline stands at y.
  void text(Point at, const std::string& text, double size, Anchor anchor, bool bold = false,
            Color color = kBlack);
  void upright_text(Point at, const std::string& text, double size);

  // Lines of at most `width` from `top` down; returns where the next line would begin.
  double paragraph(Point top, const std::string& text, double size, bool bold, double width,
                   Color color = kBlack);

  // The title, wrapped. Returns where what follows may begin.
  double title(const std::string& text);

  // Entries in rows between the margins, from `top` down; a name that is wider than that has
  // several lines. Returns where what follows may begin.
  double legend(std::span<const LegendEntry> entries, double left, double right, double top);

  // A grid, tick labels and the axis title; the scale's places are those inside the box.
  void horizontal_axis(const Box& box, const Scale& scale, std::span<const Tick> ticks,
                       const std::string& name);
  void vertical_axis(const Box& box, const Scale& scale, std::span<const Tick> ticks,
                     const std::string& name);
  // The lines at the left and the bottom, drawn last.
  void frame(const Box& box);

  Figure finish(double height);

 private:
  Figure figure_;
  double font_;
  Measure measure_;
};

}  // namespace tidemark::tools::plot
