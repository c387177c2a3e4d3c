#pragma once
// Every published figure beside the simulated one, and what the differences add up to.

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/validation/measured.hpp"

namespace tidemark::tools {

// How near the simulation is meant to come, and why not nearer.
struct Aim {
  FigureKind kind{};
  double median;  // of |error|
  double worst;   // of a figure without a named cause
  std::string_view reason;
};
std::span<const Aim> aims();

struct ComparedFigure {
  std::string source;  // MeasuredSource::name
  std::string provenance;
  std::string name;  // of the case
  const Metric* metric = nullptr;
  std::string written;  // the reference as printed
  std::string minus;
  double reference = 0;  // seconds, bytes, units a second
  double simulated = 0;
  double error = 0;  // simulated / reference - 1; of `fits`: the difference
  std::string cause;
};

// All figures of a source, in its order.
std::vector<ComparedFigure> compare(const MeasuredSource& source);

struct ErrorSummary {
  std::size_t rows = 0;
  double median = 0;  // of |error|
  double worst = 0;   // the error that lies farthest from 0, with its sign
  std::string worst_of;
  std::size_t beyond = 0;   // figures farther off than their kind's aim for the worst
  std::size_t unnamed = 0;  // of these: without a cause
};

ErrorSummary summarize(const std::vector<ComparedFigure>& figures,
                       const std::function<bool(const ComparedFigure&)>& belongs);

// A reference or a simulated value in the units of its metric: "447.6 ms", "21.3 GB".
std::string value_text(const Metric& metric, double value);

struct Comparison {
  std::vector<MeasuredSource> sources;
  std::vector<ComparedFigure> figures;
};

std::string validation_text(const Comparison& comparison);
std::string validation_markdown(const Comparison& comparison);
std::string validation_csv(const Comparison& comparison);
std::string validation_json(const Comparison& comparison);

}  // namespace tidemark::tools
