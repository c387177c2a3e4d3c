#include <fmt/format.h>

#include "tools/analysis/sensitivity.hpp"
#include "tools/csv_cell.hpp"

namespace tidemark::tools {

std::string sensitivity_csv(std::span<const ScenarioSensitivities> scenarios) {
  std::string out =
      "scenario,strategy,point,kind,name,from,to,step_time_s,saves_s,moves_bytes,has_per_s,"
      "needs_per_s,to_hide_per_s,hidden\n";
  for (const ScenarioSensitivities& scenario : scenarios) {
    for (const Sensitivity& run : scenario.runs) {
      std::string point;
      for (const auto& [key, value] : run.point) {
        point += fmt::format("{}{}={}", point.empty() ? "" : " ", key, value);
      }
      const std::string start = fmt::format("{},{},{},", csv_cell(scenario.name),
                                            csv_cell(run.strategy), csv_cell(point));
      for (const Effect& effect : run.effects) {
        out += fmt::format("{}figure,{},{},{},{},{},,,,,\n", start, csv_cell(effect.figure->name),
                           csv_cell(effect.from), csv_cell(effect.to), seconds(effect.step_time),
                           seconds(effect.saves));
      }
      for (const Needed& needed : run.needed) {
        out +=
            fmt::format("{}needed,{},,,{},,{},{},{},{},{}\n", start, csv_cell(needed.mover->name),
                        seconds(needed.step_needed), needed.moves.count, needed.has, needed.needs,
                        needed.to_hide, needed.hidden);
      }
    }
  }
  return out;
}

}  // namespace tidemark::tools
