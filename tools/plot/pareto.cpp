#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hardware/quantity.hpp"
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
    pen_.text({best.left, middle + 0.35 * size}, label, size, Anchor::kStart);
  }

 private:
  Pen& pen_;
  Box inside_;
  std::vector<Box> taken_;
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

// Around a line that runs level or upright.
Box around(Point a, Point b) {
  return {std::min(a.x, b.x) - 1, std::min(a.y, b.y) - 1, std::max(a.x, b.x) + 1,
          std::max(a.y, b.y) + 1};
}

}  // namespace

std::vector<bool> pareto_front(std::span<const ParetoPoint> points) {
  std::vector<bool> front(points.size(), true);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (const ParetoPoint& other : points) {
      const bool no_worse = other.peak <= points[i].peak && other.time <= points[i].time;
      const bool better = other.peak < points[i].peak || other.time < points[i].time;
      if (no_worse && better) front[i] = false;
    }
  }
  return front;
}

Figure pareto_chart(std::span<const ParetoPoint> points, Bytes capacity, const ChartFrame& frame) {
  Pen pen(frame.style, frame.measure, frame.title);
  const double font = pen.font();
  const double size = 0.9 * font;
  const bool numbered = points.size() > kMostNamed;
  const double top = pen.title(frame.title) + 1.2 * font;
  const Box box{6 * font, top, pen.width() - 1.5 * font, top + 0.5 * pen.width()};

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
  std::vector<Point> front;
  Labels labels(pen, box);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point at{place_of(points[i].peak), up(points[i].time)};
    labels.keep_free({at.x - 0.4 * font, at.y - 0.4 * font, at.x + 0.4 * font, at.y + 0.4 * font});
    if (on_front[i]) front.push_back(at);
  }
  const std::vector<Point> steps = staircase(front);
  if (steps.size() > 1) pen.line(steps, kGrey, 1.0);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    labels.keep_free(around(steps[i - 1], steps[i]));
  }
  if (in_sight) {
    const double x = place_of(capacity);
    pen.line({{x, box.top}, {x, box.bottom}}, kBlack, 0.9, true);
    pen.text({x, box.top - 3}, fmt::format("capacity {}", format_bytes(capacity)), 0.85 * font,
             Anchor::kMiddle);
    labels.keep_free({x - 1, box.top, x + 1, box.bottom});
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point at{place_of(points[i].peak), up(points[i].time)};
    pen.marker({at, mark_shape(i), mark_color(i), 0.7 * font, points[i].fits});
    labels.put(at, numbered ? std::to_string(i + 1) : points[i].label, size);
  }
  pen.frame(box);

  double y = box.bottom + 3.6 * font;
  if (numbered) {
    const std::size_t across_count = pen.width() < 300 ? 1 : 2;
    const std::size_t rows = (points.size() + across_count - 1) / across_count;
    const double column = (pen.width() - 2 * font) / static_cast<double>(across_count);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double x = font + column * static_cast<double>(i / rows);
      const double line = y + 1.35 * size * static_cast<double>(i % rows);
      pen.marker({{x + 0.4 * font, line + 0.45 * size},
                  mark_shape(i),
                  mark_color(i),
                  0.7 * size,
                  points[i].fits});
      pen.text({x + 3 * font, line + 0.8 * size}, std::to_string(i + 1), size, Anchor::kEnd);
      pen.text({x + 3.6 * font, line + 0.8 * size}, points[i].label, size, Anchor::kStart);
    }
    y += 1.35 * size * static_cast<double>(rows) + 0.4 * font;
  }
  std::string note = "line: what no other point beats in memory and time";
  if (!std::ranges::all_of(points, &ParetoPoint::fits)) note += "; hollow: does not fit";
  y = pen.paragraph({font, y}, note, 0.85 * font, false, pen.width() - 2 * font, kGrey);
  return pen.finish(y + 0.5 * font);
}

std::vector<ParetoPoint> pareto_points(std::span<const Report> runs) {
  std::vector<ParetoPoint> points;
  for (const Report& run : runs) {
    points.push_back(
        {run_label(run), run.tier(Tier::kHbm).peak_reserved, run.step_time, run.fits()});
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
