// A calibration for programs. Extend names, do not rename them.

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "tidemark/version.hpp"
#include "tools/calibration/report.hpp"
#include "tools/csv_cell.hpp"
#include "tools/formats/json_parts.hpp"

namespace tidemark::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string_view kind_of(const Timing& timing) {
  return kTimingKindNames[static_cast<std::size_t>(timing.kind)];
}

Json rows_json(std::span<const Residual> rows) {
  Json json = Json::array();
  for (const Residual& row : rows) {
    json.push_back({{"line", row.timing->line},
                    {"kind", kind_of(*row.timing)},
                    {"row", row.timing->text},
                    {"measured_s", seconds(row.timing->time)},
                    {"error_before", row.before},
                    {"error_fitted", row.after}});
  }
  return json;
}

}  // namespace

std::string fit_json(const Fit& fit) {
  const Machine before = machine_before(fit);
  Json figures = Json::array();
  for (const FittedParameter& each : fit.parameters) {
    figures.push_back({{"key", each.parameter->key},
                       {"before", each.parameter->text(before)},
                       {"fitted", each.parameter->text(fit.machine)},
                       {"change", each.value / each.before - 1},
                       {"standard_error", each.error},
                       {"at_bound", at_bound(*each.parameter, each.value)}});
  }
  Json left = Json::array();
  for (const Parameter* parameter : fit.left) {
    left.push_back({{"key", parameter->key}, {"advice", parameter->advice}});
  }
  const Json json = {{"tidemark", kVersion},
                     {"figures", std::move(figures)},
                     {"left_as_they_were", std::move(left)},
                     {"used", rows_json(fit.used)},
                     {"kept_back", rows_json(fit.held_out)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string fit_csv(const Fit& fit) {
  std::string out = "used,line,kind,row,measured_s,error_before,error_fitted\n";
  const auto add = [&](bool used, std::span<const Residual> rows) {
    for (const Residual& row : rows) {
      out +=
          fmt::format("{},{},{},{},{},{},{}\n", used, row.timing->line, kind_of(*row.timing),
                      csv_cell(row.timing->text), seconds(row.timing->time), row.before, row.after);
    }
  };
  add(true, fit.used);
  add(false, fit.held_out);
  return out;
}

}  // namespace tidemark::tools
