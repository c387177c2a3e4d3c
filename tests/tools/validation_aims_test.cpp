// The compiled-in measurements against the aims of validation.cpp.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tools/validation/validation.hpp"

using namespace tidemark;
using namespace tidemark::tools;

TEST_CASE("published figures are met within the aims of their kinds, and what misses has a cause") {
  std::vector<ComparedFigure> figures;
  for (const MeasuredSource& source : measured_sources()) {
    const std::vector<ComparedFigure> more = compare(source);
    figures.insert(figures.end(), more.begin(), more.end());
  }
  CHECK(figures.size() >= 180);
  for (const Aim& aim : aims()) {
    const ErrorSummary summary = summarize(figures, [&](const ComparedFigure& figure) {
      return figure.metric->kind == aim.kind;
    });
    CAPTURE(name_of(aim.kind), aim.reason, summary.worst, summary.worst_of);
    CHECK(summary.median <= aim.median);
  }
  for (const ComparedFigure& figure : figures) {
    const auto aim = std::ranges::find(aims(), figure.metric->kind, &Aim::kind);
    CAPTURE(figure.source, figure.name, figure.metric->spec.name, figure.error);
    const bool within = std::abs(figure.error) <= aim->worst;
    CHECK((within || !figure.cause.empty()));
    CHECK(std::isfinite(figure.error));
  }
}
