#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hardware/quantity.hpp"
#include "tools/plot/charts.hpp"
#include "tools/plot/pen.hpp"
#include "tools/plot/style.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools::plot {
namespace {

// From the bottom up: what stays, then what comes and goes.
constexpr std::array<Category, kCategoryCount> kStack = {
    Category::kRuntime,        Category::kWorkspace,     Category::kConstants,
    Category::kInputs,         Category::kParameters,    Category::kMasterWeights,
    Category::kOptimizerState, Category::kGradients,     Category::kStaging,
    Category::kActivations,    Category::kLogitsLoss,    Category::kRecomputed,
    Category::kTemporaries,    Category::kCommunication, Category::kRounding};

constexpr double kWorthNaming = 0.005;    // of the highest peak: what is less has no legend
constexpr double kCapacityInSight = 2.5;  // times the highest peak: a capacity above is left out

double count_of(const sim::Level& level, Category category) {
  return static_cast<double>(level.by_category[static_cast<std::size_t>(category)].count);
}

std::vector<LegendEntry> timeline_legend(std::span<const Report> runs, Tier tier, double highest) {
  std::vector<LegendEntry> entries;
  for (auto each = kStack.rbegin(); each != kStack.rend(); ++each) {
    double most = 0;
    for (const Report& run : runs) {
      for (const sim::Level& level : run.profile.columns[static_cast<std::size_t>(tier)]) {
        most = std::max(most, count_of(level, *each));
      }
    }
    if (most > kWorthNaming * highest) entries.push_back({spoken(*each), paint_of(*each)});
  }
  return entries;
}

// The outline of columns [first, last) from the axis up to `heights`.
std::vector<Point> outline(const std::vector<double>& heights, std::size_t first, std::size_t last,
                           const Scale& across, const Scale& up) {
  std::vector<Point> points = {{across(static_cast<double>(first)), up(0)}};
  for (std::size_t c = first; c < last; ++c) {
    if (c > first && heights[c] == heights[c - 1]) continue;
    const double x = across(static_cast<double>(c));
    points.push_back({x, points.back().y});
    points.push_back({x, up(heights[c])});
  }
  points.push_back({across(static_cast<double>(last)), points.back().y});
  points.push_back({across(static_cast<double>(last)), up(0)});
  return points;
}

// Each category reaches from the axis to its top, the highest drawn first: no seams between them.
void stacked_areas(Pen& pen, const std::vector<sim::Level>& columns, const Scale& across,
                   const Scale& up) {
  std::vector<double> heights(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    heights[c] = static_cast<double>(columns[c].total.count);
  }
  for (auto each = kStack.rbegin(); each != kStack.rend(); ++each) {
    std::size_t c = 0;
    while (c < columns.size()) {
      const std::size_t first = c;
      while (c < columns.size() && count_of(columns[c], *each) > 0) ++c;
      if (c > first) pen.area(outline(heights, first, c, across, up), paint_of(*each));
      if (c == first) ++c;
    }
    for (c = 0; c < columns.size(); ++c) heights[c] -= count_of(columns[c], *each);
  }
}

// Below the axis: which part of the step runs when, and the rest, in which the GPU runs nothing.
void parts_of_step(Pen& pen, const Report& run, const Box& box, const Scale& across) {
  const double size = 0.85 * pen.font();
  const auto band = [&](SimTime begin, SimTime end, std::uint8_t shade, const std::string& name) {
    const Box at{across(seconds(begin)), box.bottom + 1.2 * pen.font() + 6, across(seconds(end)),
                 box.bottom + 2.4 * pen.font() + 6};
    pen.rectangle(at, {{shade, shade, shade}, Hatch::kNone});
    if (pen.text_width(name, size) + 4 < at.right - at.left) {
      pen.text({(at.left + at.right) / 2, at.bottom - 0.35 * pen.font()}, name, size,
               Anchor::kMiddle);
    }
  };
  SimTime end{};
  for (const ProfileSpan& span : run.profile.spans) {
    const std::uint8_t shade = span.part == sim::StepPart::kBackward ? 0xd2 : 0xe9;
    band(span.begin, span.end, shade, std::string(name_of(span.part)));
    end = std::max(end, span.end);
  }
  if (end < run.step_time) band(end, run.step_time, 0xf7, "the GPU waits");
}

std::string headline(const Report& run, Tier tier) {
  const TierReport& report = run.tier(tier);
  const Peak& peak = report.peak_moment;
  std::string text = fmt::format("peak {}", format_bytes(report.peak));
  if (!peak.op.empty()) text += " in " + place(name_of(peak.phase), peak.layer, peak.op);
  if (!run.fits()) text += "; does not fit";
  return text;
}

// Returns where the next panel may begin.
double panel(Pen& pen, const Report& run, Tier tier, double top, double most, bool capacity) {
  const double font = pen.font();
  const TierReport& report = run.tier(tier);
  double y = pen.paragraph({5.2 * font, top}, run_label(run), font, true, pen.width() - 7 * font);
  y = pen.paragraph({5.2 * font, y}, headline(run, tier), 0.9 * font, false,
                    pen.width() - 7 * font);
  const Box box{5.2 * font, y + 0.5 * font, pen.width() - 1.8 * font, y + 9.5 * font};

  const Unit unit = byte_unit(most);
  const Scale up{0, most, box.bottom, box.top};
  const Scale in_unit{0, most / unit.size, box.bottom, box.top};
  pen.vertical_axis(box, in_unit, ticks(0, most / unit.size, 4), unit.name);
  const double end = seconds(run.step_time);
  const Unit clock = time_unit(end);
  const Scale across{0, end, box.left, box.right};
  const Scale in_clock{0, end / clock.size, box.left, box.right};
  const std::vector<sim::Level>& columns = run.profile.columns[static_cast<std::size_t>(tier)];
  const Scale by_column{0, static_cast<double>(columns.size()), box.left, box.right};
  std::vector<Tick> marks = ticks(0, end / clock.size, 6);
  if (!marks.empty()) marks.back().label += fmt::format(" {}", clock.name);
  pen.horizontal_axis(box, in_clock, marks, "");
  stacked_areas(pen, columns, by_column, up);
  parts_of_step(pen, run, box, across);
  if (capacity) {
    const double at = up(static_cast<double>(report.capacity.count));
    pen.line({{box.left, at}, {box.right, at}}, kBlack, 0.9, true);
    // On a ground of its own: it may stand on hatched areas.
    const std::string label = fmt::format("capacity {}", format_bytes(report.capacity));
    const double size = 0.85 * font;
    const double wide = pen.text_width(label, size) + 3;
    pen.rectangle({box.right - wide - 1, at - 1.3 * size, box.right - 1, at - 1.2},
                  {kWhite, Hatch::kNone});
    pen.text({box.right - 2.5, at - 0.35 * size}, label, size, Anchor::kEnd);
  }
  const Point peak{across(seconds(report.peak_moment.time)),
                   up(static_cast<double>(report.peak.count))};
  pen.marker({{peak.x, peak.y - 0.45 * font}, MarkerShape::kArrow, kBlack, 0.55 * font, true});
  pen.frame(box);
  return box.bottom + 4.2 * font + 6;
}

}  // namespace

Figure timeline_chart(std::span<const Report> runs, Tier tier, const ChartFrame& frame) {
  Pen pen(frame.style, frame.measure, frame.title);
  double highest = 1;
  double room = 0;
  for (const Report& run : runs) {
    highest = std::max(highest, static_cast<double>(run.tier(tier).peak.count));
    room = std::max(room, static_cast<double>(run.tier(tier).capacity.count));
  }
  const bool capacity = room > 0 && room <= kCapacityInSight * highest;
  const double most = 1.08 * (capacity ? std::max(highest, room) : highest);
  double y = pen.title(fmt::format("{}: {} over one step", frame.title, spoken(tier)));
  y = pen.legend(timeline_legend(runs, tier, highest), pen.font(), pen.width() - pen.font(), y);
  std::string without;
  for (const Report& run : runs) {
    if (run.tier(tier).peak.count == 0) {
      without += (without.empty() ? "" : "; ") + run_label(run);
      continue;
    }
    y = panel(pen, run, tier, y + 0.3 * pen.font(), most, capacity);
  }
  if (!without.empty()) {
    y = pen.paragraph({pen.font(), y + 0.3 * pen.font()},
                      fmt::format("with nothing there: {}", without), 0.85 * pen.font(), false,
                      pen.width() - 2 * pen.font(), kGrey);
  }
  return pen.finish(y);
}

}  // namespace tidemark::tools::plot
