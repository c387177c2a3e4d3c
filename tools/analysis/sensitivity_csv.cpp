#include <fmt/format.h>

#include "tools/analysis/sensitivity.hpp"
#include "tools/csv_cell.hpp"

namespace tidemark::tools {
namespace {

// "from_per_s,to_per_s,from_bytes,…"
std::string names_of_amounts() {
  std::string names;
  for (const std::string_view unit : kFigureColumns) {
    names += fmt::format("from_{0},to_{0},", unit);
  }
  return names;
}

// In the columns of their unit, the others empty.
std::string amounts_of(const Effect& effect) {
  std::string cells;
  for (const std::string_view unit : kFigureColumns) {
    const bool own = column_of(effect.from.unit) == unit;
    cells += own ? full_number(effect.from) + "," + full_number(effect.to) + "," : ",,";
  }
  return cells;
}

std::string no_amounts() { return std::string(2 * kFigureColumns.size(), ','); }

}  // namespace

std::string sensitivity_csv(std::span<const ScenarioSensitivities> scenarios) {
  std::string out = "scenario,strategy,point,kind,name," + names_of_amounts() +
                    "step_time_s,saves_s,moves_bytes,has_per_s,needs_per_s,to_hide_per_s,hidden\n";
  for (const ScenarioSensitivities& scenario : scenarios) {
    for (const Sensitivity& run : scenario.runs) {
      const std::string start = fmt::format("{},{},{},", csv_cell(scenario.name),
                                            csv_cell(run.strategy), point_cell(run.point));
      for (const Effect& effect : run.effects) {
        out += fmt::format("{}figure,{},{}{},{},,,,,\n", start, csv_cell(effect.figure->name),
                           amounts_of(effect), seconds(effect.step_time), seconds(effect.saves));
      }
      for (const Needed& needed : run.needed) {
        out +=
            fmt::format("{}needed,{},{}{},,{},{},{},{},{}\n", start, csv_cell(needed.mover->name),
                        no_amounts(), seconds(needed.step_needed), needed.moves.count, needed.has,
                        needed.needs, needed.to_hide, needed.hidden);
      }
    }
  }
  return out;
}

}  // namespace tidemark::tools
