#include "tools/plot/canvas.hpp"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <variant>

#include "hardware/ensure.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools::plot {
namespace {

constexpr double kPixelsAnInch = 200;
constexpr double kPointsAnInch = 72;
constexpr double kHatchDistance = 3.2;  // points between lines
constexpr double kHatchWidth = 0.35;
constexpr double kPi = 3.14159265358979323846;
// What fontconfig gives on a Debian that has nothing else: libcairo2 depends on it.
constexpr const char* kFont = "DejaVu Sans";

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw UserError(std::string("cannot draw: ") + cairo_status_to_string(status));
}

Surface owned(cairo_surface_t* surface) {
  Surface result(surface, cairo_surface_destroy);
  check(cairo_surface_status(surface));
  return result;
}

void set_color(cairo_t* to, Color color) {
  cairo_set_source_rgb(to, color.red / 255.0, color.green / 255.0, color.blue / 255.0);
}

// Outlines do not bend to pixels: the same shapes in every format.
void set_font(cairo_t* to, double size, bool bold) {
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(to, options);
  cairo_font_options_destroy(options);
  cairo_select_font_face(to, kFont, CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(to, size);
}

void path_of(cairo_t* to, const std::vector<Point>& points) {
  cairo_new_path(to);
  for (const Point& point : points) cairo_line_to(to, point.x, point.y);
}

// Light lines on dark paint, dark ones on light paint.
Color hatch_color(Color fill) {
  const int lightness = (299 * fill.red + 587 * fill.green + 114 * fill.blue) / 1000;
  return lightness < 120 ? kWhite : kBlack;
}

void hatch_lines(cairo_t* to, double angle, const std::array<double, 4>& box) {
  const auto [left, top, right, bottom] = box;
  const Point middle{(left + right) / 2, (top + bottom) / 2};
  const double reach = std::hypot(right - left, bottom - top) / 2 + kHatchDistance;
  const Point along{std::cos(angle), std::sin(angle)};
  const Point across{-along.y, along.x};
  // Lines stand at multiples of the distance from the origin, so that those of neighbours meet.
  const double offset = middle.x * across.x + middle.y * across.y;
  const double first = std::ceil((offset - reach) / kHatchDistance) * kHatchDistance - offset;
  for (double d = first; d <= reach; d += kHatchDistance) {
    const Point at{middle.x + d * across.x, middle.y + d * across.y};
    cairo_move_to(to, at.x - reach * along.x, at.y - reach * along.y);
    cairo_line_to(to, at.x + reach * along.x, at.y + reach * along.y);
  }
}

void hatch(cairo_t* to, const Area& area) {
  std::array<double, 4> box{};
  path_of(to, area.points);
  cairo_close_path(to);
  cairo_path_extents(to, &box[0], &box[1], &box[2], &box[3]);
  cairo_save(to);
  cairo_clip(to);
  cairo_new_path(to);
  set_color(to, hatch_color(area.paint.fill));
  cairo_set_line_width(to, kHatchWidth);
  const Hatch kind = area.paint.hatch;
  if (kind == Hatch::kRising || kind == Hatch::kCrossed) hatch_lines(to, -kPi / 4, box);
  if (kind == Hatch::kFalling || kind == Hatch::kCrossed) hatch_lines(to, kPi / 4, box);
  if (kind == Hatch::kLevel) hatch_lines(to, 0, box);
  if (kind == Hatch::kUpright) hatch_lines(to, kPi / 2, box);
  if (kind == Hatch::kDotted) {
    const double dashes[] = {0.7, kHatchDistance - 0.7};
    cairo_set_dash(to, dashes, 2, 0);
    cairo_set_line_width(to, 0.7);
    hatch_lines(to, 0, box);
  }
  cairo_stroke(to);
  cairo_restore(to);
}

void put(cairo_t* to, const Area& area) {
  if (area.points.size() < 3) return;
  path_of(to, area.points);
  cairo_close_path(to);
  set_color(to, area.paint.fill);
  cairo_fill(to);
  if (area.paint.hatch != Hatch::kNone) hatch(to, area);
}

void put(cairo_t* to, const Line& line) {
  path_of(to, line.points);
  set_color(to, line.color);
  cairo_set_line_width(to, line.width);
  const double dashes[] = {4 * line.width, 2.5 * line.width};
  cairo_set_dash(to, dashes, line.dashed ? 2 : 0, 0);
  cairo_stroke(to);
}

void put(cairo_t* to, const Marker& marker) {
  const auto [x, y] = marker.at;
  const double r = marker.size / 2;
  cairo_new_path(to);
  switch (marker.shape) {
    case MarkerShape::kCircle:
      cairo_arc(to, x, y, r, 0, 2 * kPi);
      break;
    case MarkerShape::kSquare:
      cairo_rectangle(to, x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
      break;
    case MarkerShape::kTriangle:
      path_of(to, {{x, y - 1.15 * r}, {x + 1.1 * r, y + 0.85 * r}, {x - 1.1 * r, y + 0.85 * r}});
      break;
    case MarkerShape::kArrow:
      path_of(to, {{x, y + 1.15 * r}, {x + 1.1 * r, y - 0.85 * r}, {x - 1.1 * r, y - 0.85 * r}});
      break;
    case MarkerShape::kDiamond:
      path_of(to, {{x, y - 1.25 * r}, {x + 1.25 * r, y}, {x, y + 1.25 * r}, {x - 1.25 * r, y}});
      break;
    case MarkerShape::kCross:
      path_of(to, {{x - r, y - 0.3 * r},
                   {x - 0.3 * r, y - 0.3 * r},
                   {x - 0.3 * r, y - r},
                   {x + 0.3 * r, y - r},
                   {x + 0.3 * r, y - 0.3 * r},
                   {x + r, y - 0.3 * r},
                   {x + r, y + 0.3 * r},
                   {x + 0.3 * r, y + 0.3 * r},
                   {x + 0.3 * r, y + r},
                   {x - 0.3 * r, y + r},
                   {x - 0.3 * r, y + 0.3 * r},
                   {x - r, y + 0.3 * r}});
      break;
  }
  cairo_close_path(to);
  cairo_set_dash(to, nullptr, 0, 0);
  set_color(to, marker.filled ? marker.color : kWhite);
  cairo_fill_preserve(to);
  set_color(to, marker.color);
  cairo_set_line_width(to, 0.8);
  cairo_stroke(to);
}

void put(cairo_t* to, const Text& text) {
  set_font(to, text.size, text.bold);
  cairo_text_extents_t extents;
  cairo_text_extents(to, text.text.c_str(), &extents);
  double back = 0;
  if (text.anchor == Anchor::kMiddle) back = extents.x_advance / 2;
  if (text.anchor == Anchor::kEnd) back = extents.x_advance;
  cairo_save(to);
  cairo_translate(to, text.at.x, text.at.y);
  if (text.upright) cairo_rotate(to, -kPi / 2);
  cairo_move_to(to, -back, 0);
  set_color(to, text.color);
  cairo_show_text(to, text.text.c_str());
  cairo_restore(to);
}

void put_all(cairo_surface_t* surface, const Figure& figure, double scale) {
  const Context context(cairo_create(surface), cairo_destroy);
  cairo_t* to = context.get();
  cairo_scale(to, scale, scale);
  set_color(to, kWhite);
  cairo_paint(to);
  for (const FigureShape& shape : figure.shapes) {
    std::visit([&](const auto& each) { put(to, each); }, shape);
  }
  check(cairo_status(to));
}

cairo_status_t append(void* bytes, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

// The surface writes its last bytes when it is finished.
void finish(cairo_surface_t* surface) {
  cairo_surface_finish(surface);
  check(cairo_surface_status(surface));
}

std::string draw_png(const Figure& figure) {
  const double scale = kPixelsAnInch / kPointsAnInch;
  const Surface surface =
      owned(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(figure.width * scale),
                                       static_cast<int>(figure.height * scale)));
  put_all(surface.get(), figure, scale);
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  return bytes;
}

// Cairo 1.16 numbers the surfaces of a process and calls the picture by its number.
void forget_surface_number(std::string& svg) {
  const std::string_view name = "id=\"surface";
  const std::size_t begin = svg.find(name);
  if (begin == std::string::npos) return;
  const std::size_t digits = begin + name.size();
  svg.erase(digits, svg.find('"', digits) - digits);
}

std::string draw_svg(const Figure& figure) {
  std::string bytes;
  const Surface surface =
      owned(cairo_svg_surface_create_for_stream(append, &bytes, figure.width, figure.height));
  put_all(surface.get(), figure, 1);
  finish(surface.get());
  forget_surface_number(bytes);
  return bytes;
}

std::string draw_pdf(const Figure& figure) {
  std::string bytes;
  const Surface surface =
      owned(cairo_pdf_surface_create_for_stream(append, &bytes, figure.width, figure.height));
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, figure.title.c_str());
  // Otherwise Cairo writes the time of day. The day is that of the Unix epoch.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE,
                                 "1970-01-01T00:00:00Z");
  put_all(surface.get(), figure, 1);
  finish(surface.get());
  return bytes;
}

}  // namespace

Measure font_measure() {
  const auto surface =
      std::make_shared<Surface>(owned(cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1)));
  const auto context = std::make_shared<Context>(cairo_create(surface->get()), cairo_destroy);
  return [surface, context](std::string_view text, double size, bool bold) {
    set_font(context->get(), size, bold);
    cairo_text_extents_t extents;
    cairo_text_extents(context->get(), std::string(text).c_str(), &extents);
    return extents.x_advance;
  };
}

std::string draw(const Figure& figure, std::string_view format) {
  if (format == "png") return draw_png(figure);
  if (format == "pdf") return draw_pdf(figure);
  ensure(format == "svg", "a figure should be drawn as svg, pdf or png");
  return draw_svg(figure);
}

std::string_view picture_format(std::string_view file) {
  for (const std::string_view format : {"svg", "pdf", "png"}) {
    if (file.size() > format.size() + 1 && file.ends_with(format) &&
        file[file.size() - format.size() - 1] == '.') {
      return format;
    }
  }
  return {};
}

}  // namespace tidemark::tools::plot
