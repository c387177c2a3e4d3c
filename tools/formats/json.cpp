// The result JSON. Programs rely on its names: extend it, do not rename. Units stand in the names;
// counts of bytes and FLOPs are integers.

#include <nlohmann/json.hpp>

#include "tidemark/version.hpp"
#include "tools/formats/format.hpp"
#include "tools/formats/json_parts.hpp"
#include "tools/placement_json.hpp"
#include "tools/schema/schema.hpp"

namespace tidemark::tools {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json layer_or_null(std::int16_t layer) { return layer < 0 ? Json(nullptr) : Json(layer); }

Json per_phase(const PerPart& bytes) {
  Json json = Json::object();
  for (std::size_t p = 0; p < bytes.size(); ++p) {
    json[std::string(sim::kStepPartNames[p])] = bytes[p].count;
  }
  return json;
}

Json tier_json(const TierReport& tier) {
  return {{"capacity_bytes", tier.capacity.count},
          {"peak_bytes", tier.peak.count},
          {"peak_reserved_bytes", tier.peak_reserved.count},
          {"start_bytes", tier.start.count},
          {"end_bytes", tier.end.count},
          {"live_after", per_phase(tier.live_after)},
          {"phase_peaks", per_phase(tier.phase_peaks)},
          {"first_step_peak_bytes", tier.first_step_peak.count},
          {"saved_per_layer_bytes", tier.saved_per_layer.count},
          {"peak", peak_json(tier.peak_moment)}};
}

Json figures_json(const AllocatorFigures& figures) {
  return {{"allocated_peak_bytes", figures.allocated_peak.count},
          {"active_peak_bytes", figures.active_peak.count},
          {"reserved_peak_bytes", figures.reserved_peak.count},
          {"inactive_split_peak_bytes", figures.inactive_split_peak.count},
          {"fragmentation_at_peak_bytes", figures.fragmentation_at_peak.count},
          {"driver_allocations", figures.driver_allocations},
          {"driver_frees", figures.driver_frees},
          {"retries", figures.retries},
          {"driver_time_s", seconds(figures.driver_time)}};
}

// Of HBM in a steady step; what only the first step shows stands in "first_step".
Json allocator_json(const AllocatorReport& allocator) {
  Json json = {{"kind", allocator.kind}};
  json.update(figures_json(allocator.steady));
  json["first_step"] = figures_json(allocator.first_step);
  return json;
}

Json positive_or_null(double number) { return number > 0 ? Json(number) : Json(nullptr); }

Json rank_json(const Report& report) {
  Json tiers = Json::object();
  for (std::size_t t = 0; t < report.tiers.size(); ++t) {
    tiers[std::string(kTierNames[t])] = tier_json(report.tiers[t]);
  }
  Json stalls = Json::object();
  for (std::size_t c = 0; c < report.stalls.size(); ++c) {
    stalls[std::string(sim::kStallCauseNames[c])] = seconds(report.stalls[c]);
  }
  Json traffic = Json::object();
  for (const LinkKind kind : {LinkKind::kPcieH2d, LinkKind::kPcieD2h, LinkKind::kNvmeRead,
                              LinkKind::kNvmeWrite, LinkKind::kDram}) {
    const auto row = static_cast<std::size_t>(kind);
    traffic[std::string(kLinkNames[row])] = report.traffic[row].count;
  }
  return {{"rank", 0},
          {"stage", 0},
          {"tiers", std::move(tiers)},
          {"allocator", allocator_json(report.allocator)},
          {"compute",
           {{"busy_s", seconds(report.compute_busy)},
            {"matmul_s", seconds(report.matmul)},
            {"recompute_s", seconds(report.recompute)},
            {"recompute_unread_s", seconds(report.waste.unread)},
            {"recompute_last_segment_s", seconds(report.waste.last_segment)},
            {"stall_s", std::move(stalls)}}},
          {"traffic_bytes", std::move(traffic)},
          {"days_to_rated_writes", positive_or_null(report.days_to_rated_writes)}};
}

// "fits" is to be added to the run's settings; null: none of the settings tried makes it fit.
Json settings_json(const std::optional<SettingsSearch>& search) {
  if (!search) return nullptr;
  return {{"ideal_fits", search->ideal_fits},
          {"tried", search->tried},
          {"fits", or_null(search->fits)}};
}

Json out_of_memory_json(const Report& report) {
  if (report.fits()) return nullptr;
  const OutOfMemoryReport& oom = *report.out_of_memory;
  return {{"tier", kTierNames[static_cast<std::size_t>(oom.tier)]},
          {"op", or_null(oom.op)},
          {"phase", oom.op.empty() ? Json(nullptr) : Json(name_of(oom.phase))},
          {"layer", layer_or_null(oom.layer)},
          {"requested_bytes", oom.requested.count},
          {"free_bytes", oom.free.count},
          {"needed_bytes", oom.needed.count},
          {"needed_live_bytes", oom.needed_live.count},
          {"buffer", oom.buffer},
          {"first_step", oom.first_step},
          {"message", or_null(oom.message)},
          {"allocator_settings", settings_json(oom.settings)}};
}

Json remedy_json(const Remedy& remedy) {
  Json changes = Json::array();
  for (const Change& change : remedy.changes) changes.push_back(change_json(change));
  return {
      {"changes", std::move(changes)},
      {"fits", remedy.fits},
      {"short_of", remedy.short_of ? Json(kTierNames[static_cast<std::size_t>(*remedy.short_of)])
                                   : Json(nullptr)},
      {"peak_bytes", remedy.peak.count},
      {"saves_bytes", remedy.saves.count},
      {"step_time_s", seconds(remedy.step_time)},
      {"costs_s", seconds(remedy.costs)},
      {"alters_training", remedy.alters_training()}};
}

Json remedy_list(const std::vector<Remedy>& remedies) {
  Json list = Json::array();
  for (const Remedy& remedy : remedies) list.push_back(remedy_json(remedy));
  return list;
}

// "remedies" are those that fit, best first, "faster_remedy" the first with one change more;
// "single_changes" what each does alone.
void add_remedies(const Remedies& remedies, Json& run) {
  run["remedies"] = remedy_list(remedies.answers);
  run["faster_remedy"] = remedies.faster ? remedy_json(*remedies.faster) : Json(nullptr);
  run["single_changes"] = remedy_list(remedies.alone);
  run["remedy_search"] = {{"tier", kTierNames[static_cast<std::size_t>(remedies.tier)]},
                          {"needed_bytes", remedies.needed.count},
                          {"simulations", remedies.simulations},
                          {"additions", remedies.additions},
                          {"pairs", remedies.pairs},
                          {"triples", remedies.triples},
                          {"grown", remedies.grown},
                          {"left_out", remedies.left_out}};
}

// Seconds; they add up to step_time_s.
Json critical_path_json(const ByResource& path) {
  Json json = Json::object();
  for (std::size_t r = 0; r < path.size(); ++r) {
    json[std::string(kResourceNames[r])] = seconds(path[r]);
  }
  return json;
}

Json run_json(const Report& report) {
  Json json = {{"strategy", report.strategy},
               {"point", point_json(report)},
               {"fits", report.fits()},
               {"out_of_memory", out_of_memory_json(report)},
               {"step_time_s", seconds(report.step_time)},
               {"step_time_lower_bound_s", seconds(report.lower_bound)},
               {"update_delay_steps", report.update_delay},
               {"tokens_per_s", report.tokens_per_second},
               {"model_flops", report.model_flops.count},
               {"hardware_flops", report.hardware_flops.count},
               {"mfu", report.mfu},
               {"parameters", report.parameters},
               {"bottleneck", report.bottleneck},
               {"critical_path", critical_path_json(report.critical_path)},
               {"ranks", Json::array({rank_json(report)})}};
  if (report.placement) json["placement"] = placement_json(*report.placement);
  if (report.remedies) add_remedies(*report.remedies, json);
  return json;
}

Json scenario_json(const ScenarioReports& scenario) {
  Json runs = Json::array();
  for (const Report& report : scenario.runs) runs.push_back(run_json(report));
  return {{"tidemark", kVersion},
          {"schema", kResultVersion},
          {"scenario", scenario.name},
          {"runs", std::move(runs)}};
}

}  // namespace

Json peak_json(const Peak& peak) {
  Json categories = Json::object();
  for (std::size_t c = 0; c < peak.by_category.size(); ++c) {
    if (peak.by_category[c].count != 0) {
      categories[std::string(kCategoryNames[c])] = peak.by_category[c].count;
    }
  }
  Json largest = Json::array();
  for (const Alive& alive : peak.largest) {
    largest.push_back({{"name", alive.name},
                       {"bytes", alive.bytes.count},
                       {"category", name_of(alive.category)},
                       {"made_by", or_null(alive.made_by)},
                       {"freed_by", or_null(alive.freed_by)},
                       {"layer", layer_or_null(alive.layer)}});
  }
  return {{"time_s", seconds(peak.time)},
          {"phase", peak.op.empty() ? Json(nullptr) : Json(name_of(peak.phase))},
          {"op", or_null(peak.op)},
          {"layer", layer_or_null(peak.layer)},
          {"by_category", std::move(categories)},
          {"largest", std::move(largest)}};
}

Json change_json(const Change& change) {
  Json set = Json::array();
  for (const scenarios::Override& each : change.overrides) {
    set.push_back(each.key + "=" + each.value);
  }
  return {{"words", change.words},
          {"yaml", as_yaml(std::span(&change, 1))},
          {"set", std::move(set)},
          {"alters_training", change.alters_training}};
}

Json point_json(const Report& report) {
  Json point = Json::object();
  for (const auto& [key, value] : report.point) point[key] = Json::parse(value, nullptr, false);
  for (const auto& [key, value] : report.point) {
    if (point[key].is_discarded()) point[key] = value;
  }
  return point;
}

// One scenario is one object; several are an array of them.
std::string json(std::span<const ScenarioReports> scenarios, const FormatOptions&) {
  Json all = Json::array();
  for (const ScenarioReports& scenario : scenarios) all.push_back(scenario_json(scenario));
  const Json& root = all.size() == 1 ? all[0] : all;
  // Names come from users' files; the loader lets only UTF-8 through.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tidemark::tools
