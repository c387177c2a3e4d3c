#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hardware/quantity.hpp"
#include "tools/front.hpp"
#include "tools/plot/charts.hpp"
#include "tools/plot/pen.hpp"
#include "tools/plot/style.hpp"

namespace tidemark::tools::plot {
namespace {

constexpr double kLogarithmic = 8;      // times the shortest step: beyond, the axis is logarithmic
constexpr std::size_t kMostNamed = 10;  // points; more of them have numbers, and a list below

// Step times to heights.
class TimeAxis {
 public:
  TimeAxis(std::span<const ParetoPoint> points, const Box& box) : box_(box) {
    double least = 1e300;
    double most = 0;
    for (const ParetoPoint& point : points) {
      least = std::min(least, seconds(point.time));
      most = std::max(most, seconds(point.time));
    }
    unit_ = time_unit(most);
    logarithmic_ = least > 0 && most / least > kLogarithmic;
    if (logarithmic_) {
      scale_ = {std::log10(least / unit_.size) - 0.1, std::log10(most / unit_.size) + 0.1,
                box.bottom, box.top};
    } else {
      // From zero, unless all that differs would then lie in a sliver at the top.
      const double from = least > 0.6 * most ? least - 0.25 * (most - least) - 0.02 * most : 0;
      scale_ = {from / unit_.size, most / unit_.size * 1.06, box.bottom, box.top};
    }
  }

  double operator()(SimTime time) const {
    const double value = seconds(time) / unit_.size;
    return scale_(logarithmic_ ? std::log10(value) : value);
  }

  void put(Pen& pen) const {
    std::vector<Tick> marks;
    if (logarithmic_) {
      for (int power = -6; power <= 6; ++power) {
        for (const double digit : {1.0, 2.0, 5.0}) {
          const double value = digit * std::pow(10.0, power);
          const double at = std::log10(value);
          if (at < scale_.least || at > scale_.most) continue;
          marks.push_back({at, fmt::format("{:g}", value)});
        }
      }
    } else {
      marks = ticks(scale_.least, scale_.most, 5);
    }
    pen.vertical_axis(
        box_, scale_, marks,
        fmt::format("step time, {}{}", unit_.name, logarithmic_ ? " (logarithmic)" : ""));
  }

 private:
  Box box_;
  Scale scale_;
  Unit unit_;
  bool logarithmic_ = false;
};

double overlap(const Box& a, const Box& b) {
  const double wide = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double high = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return wide > 0 && high > 0 ? wide * high : 0;
}

// Puts each label beside its point, where it covers least of what is there already.
class Labels {
 public:
  Labels(Pen& pen, const Box& inside) : pen_(pen), inside_(inside) {}

  void keep_free(const Box& box) { taken_.push_back(box); }
  // A line that no label may lie under: where there is no other place, the label covers it.
  void clear_of(const Box& line) {
    lines_.push_back(line);
    keep_free(line);
  }

  void put(Point at, const std::string& label, double size) {
    const double wide = pen_.text_width(label, size);
    const double away = 0.75 * pen_.font();
    Box best;
    double least = 1e300;
    double candidates = 0;
    for (const double rise : {0.0, -1.2, 1.2, -2.4, 2.4, -3.6, 3.6}) {
      for (const double left : {at.x + away, at.x - away - wide, at.x - wide / 2}) {
        const double middle = at.y + rise * size;
        const Box box{left, middle - 0.6 * size, left + wide, middle + 0.6 * size};
        // Earlier places are nearer, so they win where nothing else tells.
        double cost = 0.01 * candidates++;
        for (const Box& each : taken_) cost += overlap(box, each);
        cost += 50 *
                (std::max(0.0, inside_.left - box.left) + std::max(0.0, box.right - inside_.right) +
                 std::max(0.0, inside_.top - box.top) + std::max(0.0, box.bottom - inside_.bottom));
        if (cost < least) {
          least = cost;
          best = box;
        }
      }
    }
    taken_.push_back(best);
    const double middle = (best.top + best.bottom) / 2;
    if (std::abs(middle - at.y) > size) {
      const double near = std::clamp(at.x, best.left, best.right);
      pen_.line({at, {near, middle < at.y ? best.bottom : best.top}}, kGrey, 0.4);
    }
    for (const Box& line : lines_) {
      if (overlap(best, line) > 0) pen_.rectangle(best, {kWhite, Hatch::kNone});
    }
    pen_.text({best.left, middle + 0.35 * size}, label, size, Anchor::kStart);
  }

 private:
  Pen& pen_;
  Box inside_;
  std::vector<Box> taken_;
  std::vector<Box> lines_;
};

// Through the points of the front from the left, as a staircase: what is between two is not
// promised.
std::vector<Point> staircase(std::vector<Point> front) {
  std::ranges::sort(front, {}, &Point::x);
  std::vector<Point> steps;
  for (const Point& point : front) {
    if (!steps.empty()) steps.push_back({point.x, steps.back().y});
    steps.push_back(point);
  }
  return steps;
}

// Each once, in the order in which they come.
std::vector<std::string> series_of(std::span<const ParetoPoint> points) {
  std::vector<std::string> series;
  for (const ParetoPoint& point : points) {
    if (std::ranges::find(series, point.series) == series.end()) series.push_back(point.series);
  }
  return series;
}

// A colour a series and a shape for each of its points; of one series a colour a point as well.
std::vector<Marker> markers_of(std::span<const ParetoPoint> points,
                               std::span<const std::string> series, double size) {
  std::vector<Marker> markers;
  std::vector<std::size_t> taken(series.size(), 0);
  for (const ParetoPoint& point : points) {
    const auto s =
        static_cast<std::size_t>(std::ranges::find(series, point.series) - series.begin());
    const std::size_t n = taken[s]++;
    markers.push_back({{}, mark_shape(n), mark_color(series.size() > 1 ? s : n), size, point.fits});
  }
  return markers;
}

std::string name_of(const ParetoPoint& point) {
  return point.label + (point.met ? "" : " (missed)");
}

// What the numbers at the points stand for, from `top` down in as many columns as there is room
// for; returns where it ends.
double list_points(Pen& pen, const ChartFrame& frame, std::span<const ParetoPoint> points,
                   std::span<const Marker> markers, double top) {
  const double font = pen.font();
  const double size = 0.9 * font;
  const double leading = 1.35 * size;
  const std::size_t columns = pen.width() < 300 || points.size() < 2 ? 1 : 2;
  const std::size_t rows = (points.size() + columns - 1) / columns;
  const double column = (pen.width() - 2 * font) / static_cast<double>(columns);
  double end = top;
  double y = top;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i % rows == 0) y = top;
    const double x = font + column * static_cast<double>(i / rows);
    Marker marker = markers[i];
    marker.at = {x + 0.4 * font, y + 0.45 * size};
    marker.size = 0.7 * size;
    pen.marker(marker);
    pen.text({x + 3 * font, y + 0.8 * size}, std::to_string(i + 1), size, Anchor::kEnd);
    for (const std::string& line :
         fold(name_of(points[i]), size, false, column - 4.2 * font, frame.measure)) {
      pen.text({x + 3.6 * font, y + 0.8 * size}, line, size, Anchor::kStart);
      y += leading;
    }
    end = std::max(end, y);
  }
  return end + 0.4 * font;
}

// `lined`: a front has a line.
std::string note_on(std::span<const ParetoPoint> points, std::span<const std::string> series,
                    bool lined) {
  std::string note = lined ? "line: what no other point beats in memory and time" : "";
  if (series.size() > 1) {
    note = "a colour and a line for each ";
    std::string names;
    for (const std::string& each : series) names += (names.empty() ? "" : "; ") + each;
    note += fmt::format("({}): what no other point of it beats in memory and time", names);
  }
  if (!std::ranges::all_of(points, &ParetoPoint::fits)) note += "; hollow: does not fit";
  if (!std::ranges::all_of(points, &ParetoPoint::met)) {
    note += "; missed: needs more than the budget that it was to plan for, and is on no line";
  }
  return note.starts_with("; ") ? note.substr(2) : note;
}

// Around a line that runs level or upright.
Box around(Point a, Point b) {
  return {std::min(a.x, b.x) - 1, std::min(a.y, b.y) - 1, std::max(a.x, b.x) + 1,
          std::max(a.y, b.y) + 1};
}

}  // namespace

std::vector<bool> pareto_front(std::span<const ParetoPoint> points) {
  std::vector<bool> front(points.size(), false);
  for (const std::string& series : series_of(points)) {
    std::vector<std::size_t> places;
    std::vector<FrontPoint> own;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].series != series) continue;
      places.push_back(i);
      own.push_back({points[i].peak, points[i].time, points[i].fits, points[i].met});
    }
    const std::vector<bool> of_own = front_of(own);
    for (std::size_t k = 0; k < places.size(); ++k) front[places[k]] = of_own[k];
  }
  return front;
}

Figure pareto_chart(std::span<const ParetoPoint> points, Bytes capacity, const ChartFrame& frame) {
  Pen pen(frame.style, frame.measure, frame.title);
  const double font = pen.font();
  const double size = 0.9 * font;
  const double top = pen.title(frame.title) + 1.2 * font;
  const Box box{6 * font, top, pen.width() - 1.5 * font, top + 0.5 * pen.width()};
  // A name has to find room on one side of its point.
  const bool too_long = std::ranges::any_of(points, [&](const ParetoPoint& point) {
    return pen.text_width(name_of(point), size) > 0.5 * (box.right - box.left);
  });
  const bool numbered = too_long || points.size() > kMostNamed;

  double most = 1;
  for (const ParetoPoint& point : points) {
    most = std::max(most, static_cast<double>(point.peak.count));
  }
  const bool in_sight = capacity.count > 0 && static_cast<double>(capacity.count) <= 1.5 * most;
  if (in_sight) most = std::max(most, static_cast<double>(capacity.count));
  const Unit unit = byte_unit(most);
  const Scale across{0, 1.06 * most / unit.size, box.left, box.right};
  const auto place_of = [&](Bytes bytes) {
    return across(static_cast<double>(bytes.count) / unit.size);
  };
  pen.horizontal_axis(box, across, ticks(0, across.most, pen.width() < 300 ? 4 : 7),
                      fmt::format("peak of HBM, {}", unit.name));
  const TimeAxis up(points, box);
  up.put(pen);

  const std::vector<bool> on_front = pareto_front(points);
  const std::vector<std::string> series = series_of(points);
  std::vector<Marker> markers = markers_of(points, series, 0.7 * font);
  Labels labels(pen, box);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point at{place_of(points[i].peak), up(points[i].time)};
    markers[i].at = at;
    labels.keep_free({at.x - 0.4 * font, at.y - 0.4 * font, at.x + 0.4 * font, at.y + 0.4 * font});
  }
  bool lined = false;
  for (std::size_t s = 0; s < series.size(); ++s) {
    std::vector<Point> front;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (on_front[i] && points[i].series == series[s]) front.push_back(markers[i].at);
    }
    const std::vector<Point> steps = staircase(front);
    lined = lined || steps.size() > 1;
    if (steps.size() > 1) pen.line(steps, series.size() > 1 ? mark_color(s) : kGrey, 1.0);
    for (std::size_t i = 1; i < steps.size(); ++i) {
      labels.keep_free(around(steps[i - 1], steps[i]));
    }
  }
  if (in_sight) {
    const double x = place_of(capacity);
    pen.line({{x, box.top}, {x, box.bottom}}, kBlack, 0.9, true);
    const std::string name = fmt::format("capacity {}", format_bytes(capacity));
    const double half = pen.text_width(name, 0.85 * font) / 2;
    pen.text({std::min(x, pen.width() - 0.5 * font - half), box.top - 3}, name, 0.85 * font,
             Anchor::kMiddle);
    labels.clear_of({x - 1, box.top, x + 1, box.bottom});
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    labels.put(markers[i].at, numbered ? std::to_string(i + 1) : name_of(points[i]), size);
  }
  for (const Marker& marker : markers) pen.marker(marker);
  pen.frame(box);

  double y = box.bottom + 3.6 * font;
  if (numbered) y = list_points(pen, frame, points, markers, y);
  y = pen.paragraph({font, y}, note_on(points, series, lined), 0.85 * font, false,
                    pen.width() - 2 * font, kGrey);
  return pen.finish(y + 0.5 * font);
}

std::vector<ParetoPoint> pareto_points(std::span<const Report> runs) {
  std::vector<ParetoPoint> points;
  for (const Report& run : runs) {
    points.push_back({run_label(run), run.tier(Tier::kHbm).peak_reserved, run.step_time, run.fits(),
                      !run.placement || run.placement->met, work_of(run.point)});
  }
  return points;
}

std::string run_label(const Report& run) {
  std::string text = run.strategy;
  for (const auto& [key, value] : run.point) {
    text += fmt::format(", {} {}", key.substr(key.rfind('.') + 1), value);
  }
  return text;
}

}  // namespace tidemark::tools::plot
