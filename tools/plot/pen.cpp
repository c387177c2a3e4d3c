#include "tools/plot/pen.hpp"

#include <algorithm>

namespace tidemark::tools::plot {
namespace {

constexpr double kLeading = 1.3;  // from baseline to baseline, of the font's size
constexpr double kAscent = 0.8;   // above the baseline
constexpr double kSmall = 0.9;    // tick labels beside other texts

}  // namespace

Pen::Pen(const FigureStyle& style, Measure measure, const std::string& title)
    : font_(style.font), measure_(std::move(measure)) {
  figure_.width = style.width;
  figure_.title = title;
}

void Pen::area(std::vector<Point> points, Paint paint) {
  figure_.shapes.emplace_back(Area{std::move(points), paint});
}

void Pen::rectangle(const Box& box, Paint paint) {
  area({{box.left, box.top}, {box.right, box.top}, {box.right, box.bottom}, {box.left, box.bottom}},
       paint);
}

void Pen::line(std::vector<Point> points, Color color, double width, bool dashed) {
  figure_.shapes.emplace_back(Line{std::move(points), color, width, dashed});
}

void Pen::text(Point at, const std::string& text, double size, Anchor anchor, bool bold,
               Color color) {
  figure_.shapes.emplace_back(Text{at, text, size, anchor, bold, false, color});
}

void Pen::upright_text(Point at, const std::string& text, double size) {
  figure_.shapes.emplace_back(Text{at, text, size, Anchor::kMiddle, false, true, kBlack});
}

double Pen::paragraph(Point top, const std::string& words, double size, bool bold, double width,
                      Color color) {
  double y = top.y;
  for (const std::string& each : fold(words, size, bold, width, measure_)) {
    text({top.x, y + kAscent * size}, each, size, Anchor::kStart, bold, color);
    y += kLeading * size;
  }
  return y;
}

double Pen::title(const std::string& text) {
  const double size = 1.2 * font_;
  return paragraph({font_, font_}, text, size, true, width() - 2 * font_) + 0.4 * font_;
}

double Pen::legend(std::span<const LegendEntry> entries, double left, double right, double top) {
  const double swatch = 1.4 * font_;
  const double between = 1.2 * font_;
  double x = left;
  double y = top;
  double below = top;  // of the rows so far
  for (const LegendEntry& entry : entries) {
    const double before = swatch + 0.4 * font_;
    const auto lines = fold(entry.name, font_, false, right - left - before, measure_);
    double wide = 0;
    for (const std::string& line : lines) wide = std::max(wide, before + text_width(line, font_));
    if (x > left && x + wide > right) {
      x = left;
      y = below;
    }
    rectangle({x, y, x + swatch, y + 0.9 * font_}, entry.paint);
    double baseline = y + kAscent * font_;
    for (const std::string& line : lines) {
      text({x + before, baseline}, line, font_, Anchor::kStart);
      baseline += kLeading * font_;
    }
    const double extra =
        kLeading * font_ * static_cast<double>(std::max<std::size_t>(lines.size(), 1) - 1);
    below = std::max(below, y + 1.5 * font_ + extra);
    x += wide + between;
  }
  return entries.empty() ? top : below + 0.3 * font_;
}

void Pen::horizontal_axis(const Box& box, const Scale& scale, std::span<const Tick> ticks,
                          const std::string& name) {
  const double size = kSmall * font_;
  for (const Tick& tick : ticks) {
    const double x = scale(tick.value);
    line({{x, box.top}, {x, box.bottom}}, kLightGrey, 0.4);
    line({{x, box.bottom}, {x, box.bottom + 2.5}}, kBlack, 0.6);
    text({x, box.bottom + 3.5 + size}, tick.label, size, Anchor::kMiddle);
  }
  if (!name.empty()) {
    text({(box.left + box.right) / 2, box.bottom + 3.5 + size + 1.35 * font_}, name, font_,
         Anchor::kMiddle);
  }
}

void Pen::vertical_axis(const Box& box, const Scale& scale, std::span<const Tick> ticks,
                        const std::string& name) {
  const double size = kSmall * font_;
  double widest = 0;
  for (const Tick& tick : ticks) {
    const double y = scale(tick.value);
    line({{box.left, y}, {box.right, y}}, kLightGrey, 0.4);
    line({{box.left - 2.5, y}, {box.left, y}}, kBlack, 0.6);
    text({box.left - 4, y + 0.35 * size}, tick.label, size, Anchor::kEnd);
    widest = std::max(widest, text_width(tick.label, size));
  }
  if (!name.empty()) {
    upright_text({box.left - 4 - widest - 0.6 * font_, (box.top + box.bottom) / 2}, name, font_);
  }
}

void Pen::frame(const Box& box) {
  line({{box.left, box.top}, {box.left, box.bottom}, {box.right, box.bottom}}, kBlack, 0.7);
}

Figure Pen::finish(double height) {
  figure_.height = height;
  return std::move(figure_);
}

}  // namespace tidemark::tools::plot
