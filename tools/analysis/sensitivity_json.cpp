// What a faster machine would do, for programs. Extend names, do not rename them.

#include <nlohmann/json.hpp>
#include <string>

#include "tidemark/version.hpp"
#include "tools/analysis/sensitivity.hpp"

namespace tidemark::tools {
namespace {

using Json = nlohmann::ordered_json;

// Rates of bytes, of FLOPs and of a clock are all "per_s": the figure's name says of what.
Json number_of(FigureAmount amount) {
  if (amount.unit == FigureUnit::kTime) return seconds(SimTime(amount.count));
  return amount.count;
}

Json needed_json(const Needed& needed) {
  return {{"mover", needed.mover->name},
          {"moves_bytes", needed.moves.count},
          {"has_per_s", needed.has},
          {"needs_per_s", needed.needs},
          {"step_time_s", seconds(needed.step_needed)},
          {"endless_step_time_s", seconds(needed.step_endless)},
          {"to_hide_per_s", needed.to_hide},
          {"hidden", needed.hidden},
          {"binds", needed.binds ? Json(kResourceNames[static_cast<std::size_t>(*needed.binds)])
                                 : Json(nullptr)},
          {"binds_s", seconds(needed.binds_for)}};
}

Json run_json(const Sensitivity& run) {
  Json point = Json::object();
  for (const auto& [key, value] : run.point) {
    point[key] = Json::parse(value, nullptr, false);
    if (point[key].is_discarded()) point[key] = value;
  }
  Json effects = Json::array();
  for (const Effect& effect : run.effects) effects.push_back(effect_json(effect));
  Json needed = Json::array();
  for (const Needed& each : run.needed) needed.push_back(needed_json(each));
  return {{"strategy", run.strategy},
          {"point", std::move(point)},
          {"fits", run.fits},
          {"step_time_s", seconds(run.step_time)},
          {"endless_step_time_s", seconds(run.step_endless)},
          {"effects", std::move(effects)},
          {"bandwidth_needed", std::move(needed)},
          {"simulations", run.simulations}};
}

}  // namespace

Json effect_json(const Effect& effect) {
  const std::string unit(column_of(effect.from.unit));
  return {{"figure", effect.figure->name},
          {"from_" + unit, number_of(effect.from)},
          {"to_" + unit, number_of(effect.to)},
          {"fits", effect.fits},
          {"step_time_s", seconds(effect.step_time)},
          {"saves_s", seconds(effect.saves)}};
}

// One scenario is one object; several are an array of them.
std::string sensitivity_json(std::span<const ScenarioSensitivities> scenarios) {
  Json all = Json::array();
  for (const ScenarioSensitivities& scenario : scenarios) {
    Json runs = Json::array();
    for (const Sensitivity& run : scenario.runs) runs.push_back(run_json(run));
    all.push_back({{"tidemark", kVersion}, {"scenario", scenario.name}, {"runs", std::move(runs)}});
  }
  const Json& root = all.size() == 1 ? all[0] : all;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tidemark::tools
