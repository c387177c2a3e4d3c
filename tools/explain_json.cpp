#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "tidemark/version.hpp"
#include "tools/explain.hpp"
#include "tools/formats/json_parts.hpp"
#include "tools/placement_json.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {
namespace {

using Json = nlohmann::ordered_json;

Json answer_json(const std::optional<Helpful>& answer) {
  if (!answer) return nullptr;
  Json json = change_json(answer->change);
  json["fits"] = answer->report.fits();
  json["step_time_s"] = seconds(answer->report.step_time);
  json["hbm_peak_bytes"] = answer->report.tier(Tier::kHbm).peak_reserved.count;
  return json;
}

Json group_json(const ExplainedBlocks& blocks) {
  Json tensors = Json::array();
  for (const ExplainedTensor& each : blocks.tensors) {
    const bool again = each.fate == remat::Drawn::kRecomputed;
    tensors.push_back({{"name", each.name},
                       {"module", spoken(each.module)},
                       {"fate", name_of_fate(each.fate)},
                       {"bytes", each.bytes.count},
                       {"recompute_s", again ? Json(seconds(each.recompute)) : Json(nullptr)},
                       {"in_hbm_s", seconds(each.alive)}});
  }
  return {{"kept_bytes", blocks.kept.count},
          {"recomputed_bytes", blocks.recomputed.count},
          {"moved_bytes", blocks.moved.count},
          {"recompute_s", seconds(blocks.recompute)},
          {"tensors", std::move(tensors)}};
}

Json run_json(const ExplainedRun& run) {
  const Report& report = run.report;
  const TierReport& hbm = report.tier(Tier::kHbm);
  Json machine = Json::array();
  for (const Effect& effect : run.help.machine) machine.push_back(effect_json(effect));
  Json json = {{"strategy", report.strategy},
               {"point", point_json(report)},
               {"fits", report.fits()},
               {"step_time_s", seconds(report.step_time)},
               {"hbm_capacity_bytes", hbm.capacity.count},
               {"hbm_live_peak_bytes", hbm.peak.count},
               {"hbm_peak_bytes", hbm.peak_reserved.count},
               {"peak", peak_json(hbm.peak_moment)},
               {"bottleneck", report.bottleneck},
               {"changes_tried", run.help.tried},
               {"fastest", answer_json(run.help.fastest)},
               {"least_hbm", answer_json(run.help.smallest)},
               {"machine", std::move(machine)}};
  if (report.placement) json["placement"] = placement_json(*report.placement);
  if (!run.explanation) return json;
  json["into_the_first_block"] = group_json(run.explanation->before);
  Json blocks = Json::array();
  for (const ExplainedBlocks& each : run.explanation->blocks) {
    Json group = {{"first", each.first}, {"last", each.last}};
    group.update(group_json(each));
    blocks.push_back(std::move(group));
  }
  json["blocks"] = std::move(blocks);
  return json;
}

}  // namespace

std::string_view name_of_fate(remat::Drawn fate) {
  static constexpr std::array<std::string_view, 4> kNames = {"gone", "kept", "made_again", "moved"};
  return kNames[static_cast<std::size_t>(fate)];
}

std::string explanation_json(std::span<const ExplainedScenario> scenarios) {
  Json all = Json::array();
  for (const ExplainedScenario& scenario : scenarios) {
    Json runs = Json::array();
    for (const ExplainedRun& run : scenario.runs) runs.push_back(run_json(run));
    all.push_back({{"tidemark", kVersion}, {"scenario", scenario.name}, {"runs", std::move(runs)}});
  }
  const Json& root = all.size() == 1 ? all[0] : all;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tidemark::tools
