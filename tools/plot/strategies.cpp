#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "hardware/quantity.hpp"
#include "tools/plot/charts.hpp"
#include "tools/plot/pen.hpp"
#include "tools/plot/style.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools::plot {
namespace {

constexpr std::array<Paint, kTierCount> kTierPaints = {{
    {{0x00, 0x72, 0xb2}, Hatch::kNone},     // HBM
    {{0xe6, 0x9f, 0x00}, Hatch::kRising},   // host
    {{0x00, 0x9e, 0x73}, Hatch::kCrossed},  // SSD
}};
constexpr std::array<const char*, kTierCount> kTierLabels = {"HBM", "host", "SSD"};
constexpr double kMinVisible = 0.002;  // of the longest step: shorter stalls have no legend
constexpr double kNarrow = 300;        // points
constexpr Color kDoesNotFit{0xb0, 0x3a, 0x00};

struct TimePart {
  std::string name;
  Paint paint;
  double seconds = 0;
};

// They add up to the step.
std::vector<TimePart> time_parts(const Report& run) {
  const double recompute = seconds(run.recompute);
  std::vector<TimePart> parts = {{"computes", kComputePaint, seconds(run.compute_busy) - recompute},
                                 {"recomputes", kRecomputePaint, recompute}};
  for (std::size_t c = 0; c < run.stalls.size(); ++c) {
    const auto cause = static_cast<sim::StallCause>(c);
    parts.push_back(
        {fmt::format("waits for {}", spoken(cause)), paint_of(cause), seconds(run.stalls[c])});
  }
  return parts;
}

std::vector<LegendEntry> time_legend(std::span<const Report> runs, double longest) {
  std::vector<LegendEntry> entries;
  const std::size_t count = time_parts(runs.front()).size();
  for (std::size_t p = 0; p < count; ++p) {
    double most = 0;
    for (const Report& run : runs) most = std::max(most, time_parts(run)[p].seconds);
    const TimePart part = time_parts(runs.front())[p];
    if (most > kMinVisible * longest) entries.push_back({part.name, part.paint});
  }
  return entries;
}

std::vector<LegendEntry> memory_legend(std::span<const Report> runs) {
  std::vector<LegendEntry> entries;
  for (std::size_t t = 0; t < kTierCount; ++t) {
    const bool used =
        std::ranges::any_of(runs, [&](const Report& run) { return run.tiers[t].peak.count > 0; });
    if (used) entries.push_back({kTierLabels[t], kTierPaints[t]});
  }
  return entries;
}

// Bars of the tiers in use, below one another, within the row.
void memory_bars(Pen& pen, const Report& run, const Box& row, const Scale& scale,
                 std::string_view not_fitting) {
  double used = 0;
  for (const TierReport& tier : run.tiers) used += tier.peak.count > 0 ? 1 : 0;
  const double size = 0.85 * pen.font();
  const double thick = std::min(1.1 * pen.font(), (row.bottom - row.top) / std::max(used, 1.0));
  double y = (row.top + row.bottom - used * thick) / 2;
  for (std::size_t t = 0; t < kTierCount; ++t) {
    const TierReport& tier = run.tiers[t];
    if (tier.peak.count == 0) continue;
    const double end = scale(static_cast<double>(tier.peak.count));
    pen.rectangle({scale(0), y + 0.08 * thick, end, y + 0.92 * thick}, kTierPaints[t]);
    std::string label = format_bytes(tier.peak);
    const bool over = run.out_of_memory && static_cast<std::size_t>(run.out_of_memory->tier) == t;
    if (over) label += not_fitting;
    // On a ground of its own, since the line of the capacity may run there.
    const double middle = y + 0.5 * thick;
    pen.rectangle(
        {end + 2, middle - 0.6 * size, end + 4 + pen.text_width(label, size), middle + 0.6 * size},
        {kWhite, Hatch::kNone});
    pen.text({end + 3, middle + 0.35 * size}, label, size, Anchor::kStart, false,
             over ? kDoesNotFit : kBlack);
    y += thick;
  }
}

void time_bar(Pen& pen, const Report& run, const Box& row, const Scale& scale) {
  const double thick = std::min(1.6 * pen.font(), row.bottom - row.top);
  const double top = (row.top + row.bottom - thick) / 2;
  double sum = 0;
  for (const TimePart& part : time_parts(run)) {
    if (part.seconds <= 0) continue;
    pen.rectangle({scale(sum), top, scale(sum + part.seconds), top + thick}, part.paint);
    sum += part.seconds;
  }
  const double size = 0.85 * pen.font();
  const std::string time = format_time(run.step_time);
  pen.text({scale(sum) + 3, top + thick / 2 + 0.35 * size}, run.fits() ? time : "(" + time + ")",
           size, Anchor::kStart);
}

}  // namespace

Figure strategies_chart(std::span<const Report> runs, const ChartFrame& frame) {
  Pen pen(frame.style, frame.measure, frame.title);
  const double font = pen.font();
  double most = 1;
  double longest = 1e-12;
  bool all_fit = true;
  for (const Report& run : runs) {
    for (const TierReport& tier : run.tiers) {
      most = std::max(most, static_cast<double>(tier.peak.count));
    }
    longest = std::max(longest, seconds(run.step_time));
    all_fit = all_fit && run.fits();
  }
  double y = pen.title(frame.title);
  const double names = 0.27 * pen.width();
  const double half = (pen.width() - names - 2 * font) / 2;
  const double second = names + half + 1.5 * font;
  const double left_end = pen.legend(memory_legend(runs), names, names + half, y);
  const double right_end = pen.legend(time_legend(runs, longest), second, pen.width() - font, y);
  y = std::max(left_end, right_end) + 0.4 * font;

  // As high as the longest name.
  double row = 3.9 * font;
  for (const Report& run : runs) {
    const auto lines = fold(run_label(run), font, false, names - 2 * font, frame.measure);
    row = std::max(row, 1.3 * font * static_cast<double>(lines.size()) + 0.8 * font);
  }
  // Words where there is room for them.
  const bool narrow = pen.width() < kNarrow;
  const std::string not_fitting = narrow ? " *" : ", does not fit";
  const double bottom = y + row * static_cast<double>(runs.size());
  // Room behind the bars for their figures.
  const double label_room = pen.text_width("999.9 GB" + not_fitting, 0.85 * font) + 4;
  const double time_room = pen.text_width("(99.9 ms)", 0.85 * font) + 4;
  const Box memory{names, y, names + half, bottom};
  const Box time{second, y, pen.width() - font, bottom};
  const Scale bytes{0, most, memory.left, memory.right - (all_fit ? time_room : label_room)};
  const Scale clock{0, longest, time.left, time.right - time_room};
  const Unit byte = byte_unit(most);
  const Unit second_unit = time_unit(longest);
  const std::size_t about = narrow ? 2 : 4;
  const auto marks = [&](double end) {
    std::vector<Tick> found = ticks(0, end, about);
    return found.size() > 1 ? found : ticks(0, end, about + 2);  // zero alone is no scale
  };
  pen.horizontal_axis(memory, {0, most / byte.size, bytes.from, bytes.to}, marks(most / byte.size),
                      fmt::format("peak, {}", byte.name));
  pen.horizontal_axis(time, {0, longest / second_unit.size, clock.from, clock.to},
                      marks(longest / second_unit.size),
                      fmt::format("step time, {}", second_unit.name));
  const double capacity = static_cast<double>(runs.front().tier(Tier::kHbm).capacity.count);
  if (capacity > 0 && capacity <= most) {
    pen.line({{bytes(capacity), memory.top}, {bytes(capacity), memory.bottom}}, kBlack, 0.9, true);
    pen.text({bytes(capacity), memory.top - 2}, "capacity of HBM", 0.8 * font, Anchor::kMiddle);
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const double top = y + row * static_cast<double>(r);
    const auto lines = fold(run_label(runs[r]), font, false, names - 2 * font, frame.measure);
    const double text_height = 1.3 * font * static_cast<double>(lines.size());
    pen.paragraph({font, top + std::max(0.0, (row - text_height) / 2)}, run_label(runs[r]), font,
                  false, names - 2 * font);
    const Box inside{0, top + 0.2 * font, 0, top + row - 0.2 * font};
    memory_bars(pen, runs[r], inside, bytes, not_fitting);
    time_bar(pen, runs[r], inside, clock);
  }
  pen.frame(memory);
  pen.frame(time);
  double end = bottom + 4 * font + 4;
  if (!all_fit) {
    const std::string note = narrow
                                 ? "*: does not fit; in brackets: as it would be with enough memory"
                                 : "in brackets: as it would be with enough memory";
    end = pen.paragraph({font, end}, note, 0.85 * font, false, pen.width() - 2 * font, kGrey);
  }
  return pen.finish(end + 0.5 * font);
}

}  // namespace tidemark::tools::plot
