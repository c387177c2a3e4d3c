#include "tools/plot/charts.hpp"

#include <algorithm>
#include <variant>

#include "tests/support/catch.hpp"
#include "tools/plot/style.hpp"

using namespace tidemark;
using namespace tidemark::literals;
using namespace tidemark::tools;
using namespace tidemark::tools::plot;

namespace {

// Every letter is half as wide as the font is high.
ChartFrame frame(const char* style = "page") {
  return {"a scenario", find_style(style), [](std::string_view text, double size, bool) {
            return 0.5 * size * static_cast<double>(text.size());
          }};
}

template <class Shape>
std::vector<Shape> all(const Figure& figure) {
  std::vector<Shape> found;
  for (const FigureShape& shape : figure.shapes) {
    if (const auto* each = std::get_if<Shape>(&shape)) found.push_back(*each);
  }
  return found;
}

std::vector<Area> painted(const Figure& figure, Paint paint) {
  std::vector<Area> areas = all<Area>(figure);
  std::erase_if(areas, [&](const Area& area) { return !(area.paint == paint); });
  return areas;
}

bool says(const Figure& figure, const std::string& text) {
  return std::ranges::any_of(all<Text>(figure), [&](const Text& each) {
    return each.text.find(text) != std::string::npos;
  });
}

// The text that reaches furthest to the right, of those that read from the left.
double right_end(const Figure& figure) {
  double end = 0;
  for (const Text& text : all<Text>(figure)) {
    const double wide = 0.5 * text.size * static_cast<double>(text.text.size());
    const double share = text.anchor == Anchor::kStart    ? 1
                         : text.anchor == Anchor::kMiddle ? 0.5
                                                          : 0;
    if (!text.upright) end = std::max(end, text.at.x + share * wide);
  }
  return end;
}

double width(const Area& area) { return area.points[1].x - area.points[0].x; }

sim::Level level(Bytes parameters, Bytes activations) {
  sim::Level result;
  result.total = Bytes(parameters.count + activations.count);
  result.by_category[static_cast<std::size_t>(Category::kParameters)] = parameters;
  result.by_category[static_cast<std::size_t>(Category::kActivations)] = activations;
  return result;
}

// Four columns of 1 s: 2 GB of parameters, and activations of 0, 4, 6 and 0 GB.
Report four_columns() {
  Report report;
  report.strategy = "keep everything";
  report.step_time = SimTime(4'000'000'000'000);
  report.compute_busy = report.step_time;
  report.profile.end = report.step_time;
  report.profile.columns[0] = {level(2_GB, 0_B), level(2_GB, 4_GB), level(2_GB, 6_GB),
                               level(2_GB, 0_B)};
  report.profile.spans = {
      {sim::StepPart::kForward, SimTime(0), SimTime(2'000'000'000'000)},
      {sim::StepPart::kBackward, SimTime(2'000'000'000'000), SimTime(4'000'000'000'000)}};
  report.tiers[0].peak = report.tiers[0].peak_reserved = 8_GB;
  report.tiers[0].capacity = 10_GB;
  report.tiers[0].peak_moment.time = SimTime(2'500'000'000'000);
  report.tiers[0].peak_moment.op = "mm";
  report.tiers[0].peak_moment.phase = Phase::kBackward;
  return report;
}

}  // namespace

TEST_CASE("areas of a timeline are as high as their bytes, stacked") {
  const std::vector<Report> runs = {four_columns()};
  const Figure figure = timeline_chart(runs, Tier::kHbm, frame());
  // The largest of its paint: the other is the swatch of the legend.
  const std::vector<Area> below = painted(figure, paint_of(Category::kParameters));
  const std::vector<Area> above = painted(figure, paint_of(Category::kActivations));
  REQUIRE(below.size() == 2);
  REQUIRE(above.size() == 2);
  // Parameters: one rectangle over all four columns.
  const std::vector<Point>& flat = below[1].points;
  REQUIRE(flat.size() == 5);
  const double axis = flat[0].y;
  const double gigabyte = (axis - flat[2].y) / 2;
  CHECK(gigabyte > 0);
  const double second = (flat[3].x - flat[0].x) / 4;
  // Activations: from the second column, 2 + 4 GB, then 2 + 6 GB, down to the axis.
  const std::vector<Point>& steps = above[1].points;
  REQUIRE(steps.size() == 7);
  CHECK(steps[0].x == Approx(flat[0].x + second));
  CHECK(steps[0].y == axis);
  CHECK(axis - steps[2].y == Approx(6 * gigabyte));
  CHECK(steps[3].x == Approx(flat[0].x + 2 * second));
  CHECK(axis - steps[4].y == Approx(8 * gigabyte));
  CHECK(steps[5].x == Approx(flat[0].x + 3 * second));
  CHECK(steps[6].y == axis);
  // The mark of the peak stands at 2.5 s, over 8 GB.
  const std::vector<Marker> markers = all<Marker>(figure);
  REQUIRE(markers.size() == 1);
  CHECK(markers[0].at.x == Approx(flat[0].x + 2.5 * second));
  CHECK(markers[0].at.y < axis - 8 * gigabyte);
}

TEST_CASE("a timeline says its peak, its capacity, units and parts") {
  const std::vector<Report> runs = {four_columns()};
  const Figure figure = timeline_chart(runs, Tier::kHbm, frame());
  CHECK(says(figure, "a scenario: HBM over one step"));
  CHECK(says(figure, "peak 8.0 GB in backward, mm"));
  CHECK(says(figure, "capacity 10.0 GB"));
  CHECK(says(figure, "forward"));
  CHECK(says(figure, "backward"));
  CHECK(says(figure, "4 s"));
  CHECK(says(figure, "activations"));
  CHECK_FALSE(says(figure, "gradients"));  // there are none
  CHECK_FALSE(says(figure, "the GPU waits"));
}

TEST_CASE("what is left of a step after its kernels is where the GPU waits") {
  std::vector<Report> runs = {four_columns()};
  runs[0].profile.spans.back().end = SimTime(3'000'000'000'000);  // of 4 s
  const Figure figure = timeline_chart(runs, Tier::kHbm, frame());
  CHECK(says(figure, "the GPU waits"));
  const std::vector<Area> rest = painted(figure, {{0xf7, 0xf7, 0xf7}, Hatch::kNone});
  REQUIRE(rest.size() == 1);
  const std::vector<Area> forward = painted(figure, {{0xe9, 0xe9, 0xe9}, Hatch::kNone});
  const std::vector<Area> backward = painted(figure, {{0xd2, 0xd2, 0xd2}, Hatch::kNone});
  CHECK(3 * width(rest[0]) == Approx(width(forward[0]) + width(backward[0])));
}

TEST_CASE("a capacity far above the peak does not flatten the picture") {
  std::vector<Report> runs = {four_columns()};
  runs[0].tiers[0].capacity = 20_GB;  // 2.5 x 8 GB
  CHECK(says(timeline_chart(runs, Tier::kHbm, frame()), "capacity"));
  runs[0].tiers[0].capacity = Bytes(20'000'000'001);
  CHECK_FALSE(says(timeline_chart(runs, Tier::kHbm, frame()), "capacity"));
}

TEST_CASE("bars of a step are as long as its parts") {
  Report run = four_columns();
  run.compute_busy = SimTime(3'000'000'000'000);
  run.recompute = SimTime(1'000'000'000'000);
  run.stalls[static_cast<std::size_t>(sim::StallCause::kCpuOptimizer)] = SimTime(1'000'000'000'000);
  const std::vector<Report> runs = {run};
  const Figure figure = strategies_chart(runs, frame());
  // Each paint: a swatch of the legend, then the bar.
  const std::vector<Area> kernels = painted(figure, kComputePaint);
  const std::vector<Area> again = painted(figure, kRecomputePaint);
  const std::vector<Area> waiting = painted(figure, paint_of(sim::StallCause::kCpuOptimizer));
  REQUIRE(again.size() == 2);
  REQUIRE(waiting.size() == 2);
  CHECK(width(kernels.back()) == Approx(2 * width(again[1])));
  CHECK(width(waiting[1]) == Approx(width(again[1])));
  CHECK(again[1].points[0].x == Approx(kernels.back().points[1].x));
  CHECK(says(figure, "4.00 s"));
  CHECK(says(figure, "8.0 GB"));
  CHECK(says(figure, "step time, s"));
  CHECK_FALSE(says(figure, "does not fit"));
}

TEST_CASE("a run that does not fit says so, and its time stands in brackets") {
  std::vector<Report> runs = {four_columns()};
  runs[0].out_of_memory = OutOfMemoryReport{};
  const Figure figure = strategies_chart(runs, frame());
  CHECK(says(figure, "8.0 GB, does not fit"));
  CHECK(says(figure, "(4.00 s)"));
}

TEST_CASE("the front is what no other point beats") {
  const auto point = [](std::int64_t bytes, std::int64_t time) {
    return ParetoPoint{"", Bytes(bytes), SimTime(time), true};
  };
  // (2, 5) is beaten by (2, 4); (3, 4) by (2, 4), which needs less memory for the same time; equal
  // points do not beat each other.
  const std::vector<ParetoPoint> points = {point(1, 9), point(2, 5), point(2, 4),
                                           point(3, 4), point(5, 1), point(5, 1)};
  CHECK(pareto_front(points) == std::vector<bool>{true, false, true, false, true, true});
}

TEST_CASE("points stand where their memory and time say") {
  const std::vector<ParetoPoint> points = {{"a", 10_GB, SimTime(4'000'000'000'000), true},
                                           {"b", 30_GB, SimTime(3'000'000'000'000), true},
                                           {"c", 50_GB, SimTime(1'000'000'000'000), false}};
  const Figure figure = pareto_chart(points, 40_GB, frame());
  const std::vector<Marker> markers = all<Marker>(figure);
  REQUIRE(markers.size() == 3);
  CHECK(markers[1].at.x - markers[0].at.x == Approx(markers[2].at.x - markers[1].at.x));
  CHECK(markers[2].at.y - markers[1].at.y == Approx(2 * (markers[1].at.y - markers[0].at.y)));
  CHECK(markers[0].filled);
  CHECK_FALSE(markers[2].filled);
  CHECK(markers[0].shape != markers[1].shape);
  CHECK_FALSE(markers[0].color == markers[1].color);
  for (const char* label : {"a", "b", "c"}) CHECK(says(figure, label));
  // The dashed line of the capacity stands half way between b and c.
  for (const Line& line : all<Line>(figure)) {
    if (line.dashed) CHECK(line.points[0].x == Approx((markers[1].at.x + markers[2].at.x) / 2));
  }
  CHECK(says(figure, "capacity 40.0 GB"));
  CHECK(says(figure, "line: what no other point beats"));
}

TEST_CASE("a time axis is logarithmic where times differ by more than eight times") {
  const auto pair = [](std::int64_t longer) {
    return std::vector<ParetoPoint>{{"a", 1_GB, SimTime(1'000'000'000'000), true},
                                    {"b", 2_GB, SimTime(longer), true}};
  };
  CHECK_FALSE(says(pareto_chart(pair(8'000'000'000'000), 0_B, frame()), "logarithmic"));
  CHECK(says(pareto_chart(pair(8'000'000'000'001), 0_B, frame()), "logarithmic"));
}

TEST_CASE("more than ten points have numbers and a list") {
  std::vector<ParetoPoint> points;
  for (std::int64_t i = 1; i <= 10; ++i) {
    points.push_back({"policy " + std::to_string(i), Bytes(i * 1'000'000'000),
                      SimTime((20 - i) * 1'000'000'000'000), true});
  }
  CHECK(all<Marker>(pareto_chart(points, 0_B, frame())).size() == 10);
  points.push_back({"one more", 11_GB, SimTime(1'000'000'000'000), true});
  const Figure figure = pareto_chart(points, 0_B, frame());
  CHECK(all<Marker>(figure).size() == 22);  // at its place and in the list
  CHECK(says(figure, "one more"));
  CHECK(says(figure, "11"));
}

TEST_CASE("no legend, name or label reaches beyond the figure, in any style") {
  Report run = four_columns();
  run.recompute = SimTime(1'000'000'000'000);
  for (SimTime& stall : run.stalls) stall = SimTime(1'000'000'000'000);
  run.step_time += SimTime(1'000'000'000'000) * static_cast<std::int64_t>(run.stalls.size());
  for (Category category : {Category::kLogitsLoss, Category::kOptimizerState}) {
    for (sim::Level& each : run.profile.columns[0]) {
      each.by_category[static_cast<std::size_t>(category)] = 2_GB;
    }
  }
  run.tiers[1].peak = 30_GB;
  const std::vector<Report> runs = {run};
  std::vector<ParetoPoint> points;
  for (std::int64_t i = 1; i <= 12; ++i) {
    points.push_back({"modules, modules: [norm, mlp_activation, attention_core] within 115.0 GB",
                      Bytes(i * 1'000'000'000), SimTime((20 - i) * 1'000'000'000'000)});
  }
  for (const FigureStyle& style : figure_styles()) {
    INFO(style.name);
    for (const Figure& figure :
         {strategies_chart(runs, frame(style.name)),
          timeline_chart(runs, Tier::kHbm, frame(style.name)),
          pareto_chart(points, 12_GB, frame(style.name)),
          pareto_chart(std::span(points).first(2), 2_GB, frame(style.name))}) {
      CHECK(right_end(figure) <= figure.width);
    }
  }
}

TEST_CASE("names of many lines do not run into one another") {
  Report run = four_columns();
  run.strategy = "a strategy with a name that goes on over many lines of a column so narrow";
  const std::vector<Report> runs = {run, run};
  const Figure figure = strategies_chart(runs, frame("column"));
  std::vector<double> baselines;  // of the names, from the top down
  for (const Text& text : all<Text>(figure)) {
    if (text.at.x == 7 && text.anchor == Anchor::kStart && text.size == 7) {
      baselines.push_back(text.at.y);
    }
  }
  REQUIRE(baselines.size() > 8);
  for (std::size_t i = 1; i < baselines.size(); ++i) CHECK(baselines[i] - baselines[i - 1] >= 7);
}

TEST_CASE("a narrow figure says what does not fit below the chart") {
  std::vector<Report> runs = {four_columns()};
  runs[0].out_of_memory = OutOfMemoryReport{};
  const Figure figure = strategies_chart(runs, frame("column"));
  CHECK(says(figure, "8.0 GB *"));
  CHECK(says(figure, "*: does not fit"));
}

TEST_CASE("a long name of a legend has lines of its own, and what follows stands below them") {
  Report run = four_columns();
  run.stalls[static_cast<std::size_t>(sim::StallCause::kCpuOptimizer)] = SimTime(1'000'000'000'000);
  const Figure figure = strategies_chart(std::vector<Report>{run}, frame("column"));
  CHECK_FALSE(says(figure, "waits for the optimizer step on the CPU"));
  CHECK(says(figure, "waits for"));
}

TEST_CASE("the line of the capacity runs behind the figures of the bars") {
  Report run = four_columns();
  run.tiers[0].capacity = 8_GB;
  run.tiers[0].peak = run.tiers[0].peak_reserved = 8_GB;
  const Figure figure = strategies_chart(std::vector<Report>{run}, frame());
  std::size_t line = 0, label = 0, ground = 0;
  for (std::size_t i = 0; i < figure.shapes.size(); ++i) {
    if (const auto* each = std::get_if<Line>(&figure.shapes[i]); each != nullptr && each->dashed)
      line = i;
    if (const auto* each = std::get_if<Text>(&figure.shapes[i]);
        each != nullptr && each->text == "8.0 GB")
      label = i;
    if (const auto* each = std::get_if<Area>(&figure.shapes[i]);
        each != nullptr && each->paint == Paint{kWhite, Hatch::kNone} && label == 0)
      ground = i;
  }
  REQUIRE(label > 0);
  CHECK(line < ground);
  CHECK(ground < label);
}

TEST_CASE("points of different work have fronts of their own") {
  const auto at = [](const char* label, Bytes peak, std::int64_t s, const char* series) {
    return ParetoPoint{label, peak, SimTime(s * 1'000'000'000'000), true, true, series};
  };
  // The small batch beats the large one in both, and is no rival of it.
  const std::vector<ParetoPoint> points = {at("a", 1_GB, 2, "batch 1"), at("b", 2_GB, 1, "batch 1"),
                                           at("c", 5_GB, 5, "batch 4"), at("d", 6_GB, 4, "batch 4"),
                                           at("e", 7_GB, 6, "batch 4")};
  CHECK(pareto_front(points) == std::vector<bool>{true, true, true, true, false});
  const Figure figure = pareto_chart(points, 0_B, frame());
  std::vector<Color> staircases;
  for (const Line& line : all<Line>(figure)) {
    if (line.width == 1.0) staircases.push_back(line.color);
  }
  REQUIRE(staircases.size() == 2);
  CHECK_FALSE(staircases[0] == staircases[1]);
  const std::vector<Marker> markers = all<Marker>(figure);
  CHECK(markers[0].color == markers[1].color);
  CHECK(markers[0].color == staircases[0]);
  CHECK(markers[2].color == staircases[1]);
  CHECK(markers[0].shape != markers[1].shape);
  CHECK(says(figure, "batch 1; batch 4"));
}

TEST_CASE("a plan that missed its budget is named so, off the line") {
  const std::vector<ParetoPoint> points = {{"met", 20_GB, SimTime(3'000'000'000'000)},
                                           {"not", 10_GB, SimTime(3'000'000'000'000), true, false}};
  CHECK(pareto_front(points) == std::vector<bool>{true, false});
  const Figure figure = pareto_chart(points, 0_B, frame());
  CHECK(says(figure, "not (missed)"));
  CHECK(says(figure, "missed: needs more than the budget"));
  CHECK_FALSE(says(figure, "line:"));  // of one point there is none
}

TEST_CASE("a run with nothing in the tier has no empty panel") {
  Report empty = four_columns();
  empty.strategy = "the other";
  empty.tiers[0].peak = 0_B;
  const std::vector<Report> runs = {four_columns(), empty};
  const Figure figure = timeline_chart(runs, Tier::kHbm, frame());
  CHECK(all<Marker>(figure).size() == 1);  // one peak
  CHECK(says(figure, "with nothing there: the other"));
}
