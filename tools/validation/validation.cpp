#include "tools/validation/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "hardware/ensure.hpp"
#include "hardware/quantity.hpp"

namespace tidemark::tools {
namespace {

constexpr auto kAims = std::to_array<Aim>({
    {FigureKind::kComponent, 0.10, 0.35,
     "tables of kernels and copies are what devices are described by; two machines of one kind "
     "differ by up to 10 %"},
    {FigureKind::kBlock, 0.15, 0.35,
     "sums of kernels of other versions of the libraries than those that were calibrated"},
    {FigureKind::kStep, 0.15, 0.35,
     "published runs leave clocks, cooling, versions and data loading unsaid"},
    {FigureKind::kMemory, 0.03, 0.10, "allocations are deterministic; sources round to 0.1 GB"},
});

double simulate_figure(const PublishedFigure& figure, const MeasuredCase& row,
                       const std::function<SimulatedRun&(const std::string&)>& run_of) {
  if (row.component) {
    return figure.metric->of_component(row.component->machine, row.component->work);
  }
  const double value = figure.metric->of_run(run_of(row.name));
  return figure.minus.empty() ? value : value - figure.metric->of_run(run_of(figure.minus));
}

double error_of(const Metric& metric, double reference, double simulated) {
  if (metric.spec.kind == OptionKind::kFlag) return simulated - reference;
  return simulated / reference - 1;
}

const Aim& aim_of(FigureKind kind) {
  const auto found = std::ranges::find(kAims, kind, &Aim::kind);
  ensure(found != kAims.end(), "every kind has an aim");
  return *found;
}

}  // namespace

std::span<const Aim> aims() { return kAims; }

std::vector<ComparedFigure> compare(const MeasuredSource& source) {
  std::map<std::string, std::unique_ptr<SimulatedRun>> simulated;
  const auto run_of = [&](const std::string& name) -> SimulatedRun& {
    std::unique_ptr<SimulatedRun>& run = simulated[name];
    if (!run) {
      const auto row = std::ranges::find_if(source.cases, [&](const MeasuredCase& each) {
        return each.name == name && each.run.has_value();
      });
      ensure(row != source.cases.end(), "a figure belongs to a case of its source");
      run = std::make_unique<SimulatedRun>(*row->run);
    }
    return *run;
  };
  const auto subtracted = [&](const std::string& name) {  // a step of it is still needed
    return std::ranges::any_of(source.cases, [&](const MeasuredCase& row) {
      return std::ranges::find(row.figures, name, &PublishedFigure::minus) != row.figures.end();
    });
  };
  std::vector<ComparedFigure> figures;
  for (const MeasuredCase& row : source.cases) {
    for (const PublishedFigure& figure : row.figures) {
      const double value = simulate_figure(figure, row, run_of);
      figures.push_back({source.name, source.provenance, row.name, figure.metric, figure.written,
                         figure.minus, figure.reference, value,
                         error_of(*figure.metric, figure.reference, value), figure.cause});
    }
    if (!subtracted(row.name)) simulated.erase(row.name);
  }
  return figures;
}

ErrorSummary summarize(const std::vector<ComparedFigure>& figures,
                       const std::function<bool(const ComparedFigure&)>& belongs) {
  ErrorSummary summary;
  std::vector<double> errors;
  for (const ComparedFigure& figure : figures) {
    if (!belongs(figure)) continue;
    ++summary.rows;
    errors.push_back(std::abs(figure.error));
    if (summary.rows == 1 || std::abs(figure.error) > std::abs(summary.worst)) {
      summary.worst = figure.error;
      summary.worst_of = figure.source + ", " + figure.name;
    }
    if (std::abs(figure.error) <= aim_of(figure.metric->kind).worst) continue;
    ++summary.beyond;
    if (figure.cause.empty()) ++summary.unnamed;
  }
  if (errors.empty()) return summary;
  std::ranges::sort(errors);
  const std::size_t middle = errors.size() / 2;
  summary.median =
      errors.size() % 2 == 1 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
  return summary;
}

std::string value_text(const Metric& metric, double value) {
  const bool negative = value < 0;  // a difference that came out the other way
  const double size = std::abs(value);
  const auto whole = static_cast<std::int64_t>(std::llround(size));
  std::string text;
  switch (metric.spec.kind) {
    case OptionKind::kTime:
      text = format_time(SimTime(std::llround(size * 1e12)));
      break;
    case OptionKind::kBytes:
      text = format_bytes(Bytes(whole));
      break;
    case OptionKind::kBandwidth:
      text = format_bandwidth(Bandwidth(whole));
      break;
    case OptionKind::kFlopRate:
      text = format_flop_rate(FlopRate(whole));
      break;
    case OptionKind::kFlag:
      text = value != 0 ? "true" : "false";
      break;
    default:
      text = size < 100 ? fmt::format("{:.2f}", size) : fmt::format("{:.0f}", size);
      break;
  }
  return negative ? "-" + text : text;
}

}  // namespace tidemark::tools
