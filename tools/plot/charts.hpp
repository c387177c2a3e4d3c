#pragma once
// What is drawn of a scenario's runs. Each chart turns reports into a figure; nothing here knows of
// files or of Cairo.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/program.hpp"
#include "tools/plot/axis.hpp"
#include "tools/plot/figure.hpp"
#include "tools/report.hpp"

namespace tidemark::tools::plot {

// Columns that a timeline needs of Report::profile: finer than any printer's dots at these widths.
inline constexpr std::size_t kTimelineColumns = 480;

struct ChartFrame {
  std::string title;
  FigureStyle style{};
  Measure measure;
};

// A panel a run: the bytes of one tier over the step, stacked by category, with the capacity, the
// peak and the parts of the step. Runs with nothing in the tier are named below, without a panel.
Figure timeline_chart(std::span<const Report> runs, Tier tier, const ChartFrame& frame);

// A row a run: its peaks by tier beside its step time, split into kernels, recompute and stalls.
Figure strategies_chart(std::span<const Report> runs, const ChartFrame& frame);

struct ParetoPoint {
  std::string label;
  Bytes peak;
  SimTime time{};
  bool fits = true;
  bool met = true;          // false: planned for a budget that its peak exceeds
  std::string series = {};  // what is done: points of different work do not compete
};

// Which points of their series no other one beats (tools/front.hpp).
std::vector<bool> pareto_front(std::span<const ParetoPoint> points);

// Peak of HBM against step time, with a front for each series.
Figure pareto_chart(std::span<const ParetoPoint> points, Bytes capacity, const ChartFrame& frame);

std::vector<ParetoPoint> pareto_points(std::span<const Report> runs);

// "keep everything, micro_batch 4"
std::string run_label(const Report& run);

}  // namespace tidemark::tools::plot
