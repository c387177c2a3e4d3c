// Beside tools/formats/json.cpp: tests hold what that writes against this.

#include <nlohmann/json.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "graph/category.hpp"
#include "graph/program.hpp"
#include "sim/account.hpp"
#include "sim/result.hpp"
#include "tools/analysis/limits.hpp"
#include "tools/report.hpp"
#include "tools/schema/schema.hpp"

namespace tidemark::tools {
namespace {

using Json = nlohmann::ordered_json;

Json typed(const char* type, std::string_view description) {
  return {{"type", type}, {"description", description}};
}

Json text(std::string_view description) { return typed("string", description); }
Json flag(std::string_view description) { return typed("boolean", description); }
Json real(std::string_view description) { return typed("number", description); }

// Bytes, FLOPs, counts: never negative, whole.
Json whole(std::string_view description) {
  Json schema = typed("integer", description);
  schema["minimum"] = 0;
  return schema;
}

Json seconds_of(std::string_view description) {
  Json schema = typed("number", description);
  schema["minimum"] = 0;
  return schema;
}

Json word(std::span<const std::string_view> words, std::string_view description) {
  Json schema = {{"enum", Json::array()}, {"description", description}};
  for (const std::string_view each : words) schema["enum"].push_back(each);
  return schema;
}

Json or_none(Json schema) {
  if (schema.contains("type")) {
    schema["type"] = Json::array({schema["type"], "null"});
  } else if (schema.contains("enum")) {
    schema["enum"].push_back(nullptr);
  } else {
    schema = {{"anyOf", Json::array({std::move(schema), {{"type", "null"}}})}};
  }
  return schema;
}

Json list(Json items, std::string_view description) {
  return {{"type", "array"}, {"description", description}, {"items", std::move(items)}};
}

Json reference(std::string_view definition) {
  return {{"$ref", "#/definitions/" + std::string(definition)}};
}

// All of its names are there, save `optional` ones.
Json object(Json properties, std::string_view description, Json optional = Json::object()) {
  Json required = Json::array();
  for (const auto& [name, schema] : properties.items()) required.push_back(name);
  properties.update(optional);
  return {{"type", "object"},
          {"description", description},
          {"properties", std::move(properties)},
          {"required", std::move(required)}};
}

// One value a name.
Json each(std::span<const std::string_view> names, const Json& value,
          std::string_view description) {
  Json properties = Json::object();
  for (const std::string_view name : names) properties[std::string(name)] = value;
  return object(std::move(properties), description);
}

constexpr std::string_view kLayer = "block, counted from 0; null: outside the blocks";

Json alive() {
  return object({{"name", text("tensor or buffer")},
                 {"bytes", whole("")},
                 {"category", word(kCategoryNames, "what the bytes are for")},
                 {"made_by", or_none(text("op or transfer; null: there before the step"))},
                 {"freed_by", or_none(text("op or transfer; null: there after the step"))},
                 {"layer", or_none(whole(kLayer))}},
                "a buffer that was alive at the peak");
}

Json peak() {
  Json categories = Json::object();
  for (const std::string_view name : kCategoryNames) {
    categories[std::string(name)] = whole("bytes");
  }
  return object(
      {{"time_s", seconds_of("since the beginning of the step")},
       {"phase", or_none(word(kPhaseNames, "of the op that allocated"))},
       {"op", or_none(text("what allocated; null: the step starts at its peak"))},
       {"layer", or_none(whole(kLayer))},
       {"by_category", object({}, "those that are not 0; they add up to peak_bytes", categories)},
       {"largest", list(reference("alive"), "largest first")}},
      "the first moment at which the tier held the most");
}

Json tier() {
  const Json parts = each(sim::kStepPartNames, whole("bytes"), "by part of the step");
  Json live_after = parts, phase_peaks = parts;
  live_after["description"] = "once the last op of the part has finished";
  phase_peaks["description"] = "most at once during the part";
  return object(
      {{"capacity_bytes", whole("")},
       {"peak_bytes", whole("most that lived at once")},
       {"peak_reserved_bytes", whole("taken from the driver, the context included; without an "
                                     "allocator equal to peak_bytes")},
       {"start_bytes", whole("before the step")},
       {"end_bytes", whole("after the step")},
       {"live_after", std::move(live_after)},
       {"phase_peaks", std::move(phase_peaks)},
       {"first_step_peak_bytes", whole("of the step that makes the optimizer states")},
       {"saved_per_layer_bytes",
        whole("HBM: what a block keeps from forward to backward, median over blocks")},
       {"peak", reference("peak")}},
      "what one tier of memory held in a steady step");
}

Json figures_properties() {
  return {{"allocated_peak_bytes", whole("rounded, where the allocator rounds")},
          {"active_peak_bytes", whole("allocated or waiting for another stream")},
          {"reserved_peak_bytes", whole("taken from the driver")},
          {"inactive_split_peak_bytes", whole("free, in segments that are in use")},
          {"fragmentation_at_peak_bytes", whole("reserved and not allocated at the peak")},
          {"driver_allocations", whole("")},
          {"driver_frees", whole("")},
          {"retries", whole("cache freed and tried again")},
          {"driver_time_s", seconds_of("")}};
}

Json allocator() {
  Json first = object(figures_properties(), "of the first step");
  Json properties = {{"kind", text("`tidemark list allocators`")}};
  properties.update(figures_properties());
  properties["first_step"] = std::move(first);
  return object(std::move(properties), "the allocator of HBM in a steady step");
}

Json rank() {
  static constexpr auto kTraffic =
      std::to_array<std::string_view>({"pcie_h2d", "pcie_d2h", "nvme_read", "nvme_write", "dram"});
  return object(
      {{"rank", whole("")},
       {"stage", whole("")},
       {"tiers", each(kTierNames, reference("tier"), "by tier of memory")},
       {"allocator", reference("allocator")},
       {"compute",
        object(
            {{"busy_s", seconds_of("kernels ran")},
             {"matmul_s", seconds_of("of busy_s: matmul and attention kernels")},
             {"recompute_s", seconds_of("of busy_s")},
             {"recompute_unread_s", seconds_of("of recompute_s: nothing reads what that makes")},
             {"recompute_last_segment_s",
              seconds_of("of recompute_s: of the last segment, replayed right after its forward")},
             {"stall_s", each(sim::kStallCauseNames, seconds_of(""),
                              "why the GPU stood still; with busy_s it adds up to step_time_s")}},
            "the GPU's stream of kernels")},
       {"traffic_bytes", each(kTraffic, whole("bytes"), "moved over each link in a step")},
       {"days_to_rated_writes",
        or_none(real("of the drives, training all day; null: no writes, no rating"))}},
      "one GPU with its host");
}

Json out_of_memory() {
  return object({{"tier", word(kTierNames, "")},
                 {"op", or_none(text("null: what stands there before the step does not fit"))},
                 {"phase", or_none(word(kPhaseNames, ""))},
                 {"layer", or_none(whole(kLayer))},
                 {"requested_bytes", whole("")},
                 {"free_bytes", whole("")},
                 {"needed_bytes", whole("most that the allocator would reserve, without limits")},
                 {"needed_live_bytes", whole("most that would live")},
                 {"buffer", text("what was to be allocated")},
                 {"first_step", flag("it is the first step that does not fit")},
                 {"message", or_none(text("what PyTorch would say"))},
                 {"allocator_settings",
                  or_none(object({{"ideal_fits", flag("without rounding and pieces it fits")},
                                  {"tried", whole("settings that were played")},
                                  {"fits", or_none(text("the one that makes it fit"))}},
                                 "other settings of the allocator; null: none were tried"))}},
                "where the run ended for want of memory; its other figures are those of a run "
                "without limits");
}

Json change() {
  return object({{"words", text("")},
                 {"yaml", list(text("a line"), "to be pasted into a scenario")},
                 {"set", list(text("KEY=VALUE of --set"), "")},
                 {"alters_training", flag("what is learnt is not the same")}},
                "");
}

Json remedy() {
  return object({{"changes", list(reference("change"), "made together")},
                 {"fits", flag("")},
                 {"short_of", or_none(word(kTierNames, "where it does not fit"))},
                 {"peak_bytes", whole("")},
                 {"saves_bytes", typed("integer", "of the peak")},
                 {"step_time_s", seconds_of("")},
                 {"costs_s", real("beside the run as it is")},
                 {"alters_training", flag("")}},
                "changes that were simulated");
}

Json placement() {
  return object(
      {{"budget_bytes", whole("of HBM, as the scenario states it")},
       {"peak_bytes", whole("of HBM, of the plan in the end, as simulated")},
       {"met", flag("false: no plan of the policy stays within the budget")},
       {"simulations", whole("of both steps, to correct the planner's estimate")},
       {"planned_for_bytes", whole("the budget that the planner got in the end")},
       {"method",
        or_none(text(
            "which planner the policy took, where it has several; of dtr: at run time, or ahead "
            "of time"))},
       {"recompute_s", seconds_of("of the plan, as the planner counts it")},
       {"cost_s", or_none(seconds_of("of ilp that moves: recompute and waits for copies, as its "
                                     "program counts them"))},
       {"bound_s", or_none(seconds_of("no plan within the budget recomputes for less; "
                                      "beside a cost_s: no choice of the program costs "
                                      "less"))},
       {"gap", or_none(real("(recompute_s, or cost_s, - bound_s) / that"))},
       {"moved_to_host_bytes",
        whole("of activations, in a step, by hybrid, or ilp with move: host")},
       {"moved_to_ssd_bytes", whole("likewise")}},
      "how a policy that plans for a budget came to its plan");
}

Json run() {
  const Json search = object({{"tier", word(kTierNames, "")},
                              {"needed_bytes", whole("")},
                              {"simulations", whole("")},
                              {"additions", whole("to the first remedy, simulated")},
                              {"pairs", whole("of changes that were simulated")},
                              {"triples", whole("of changes that were simulated")},
                              {"grown", whole("sets made of the one that needed least, simulated")},
                              {"left_out", whole("combinations that were not")}},
                             "how the remedies were found");
  return object(
      {{"strategy", text("its name")},
       {"point", typed("object", "values of the swept keys, by dotted key")},
       {"fits", flag("the first and every later step stay within each tier's capacity")},
       {"out_of_memory", or_none(reference("out_of_memory"))},
       {"step_time_s", seconds_of("of a steady step")},
       {"step_time_lower_bound_s", seconds_of("what no order of transfers beats")},
       {"update_delay_steps", whole("between gradients and the update with them")},
       {"tokens_per_s", seconds_of("")},
       {"model_flops", whole("matmuls of forward and backward, a step")},
       {"hardware_flops", whole("matmuls that run, recompute included, a step")},
       {"mfu", real("model_flops over what the GPU's peak would do in the step; 0 to 1")},
       {"parameters", whole("trainable elements")},
       {"bottleneck", text("one sentence")},
       {"critical_path", each(kResourceNames, seconds_of(""), "they add up to step_time_s")},
       {"ranks", list(reference("rank"), "")}},
      "one strategy at one point of the sweep",
      {{"placement", reference("placement")},
       {"remedies", list(reference("remedy"), "--why-not-fit: what makes it fit, best first")},
       {"faster_remedy", or_none(reference("remedy"))},
       {"single_changes", list(reference("remedy"), "what each change does alone")},
       {"remedy_search", search}});
}

Json scenario() {
  return object(
      {{"tidemark", text("version of the program")},
       {"schema", {{"const", kResultVersion}, {"description", "version of these names"}}},
       {"scenario", text("its name")},
       {"runs", list(reference("run"), "points of the sweep, strategies within a point")}},
      "the runs of one scenario");
}

}  // namespace

std::string result_schema() {
  const Json schema = {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"$comment", "Written by `tidemark schema result`: tools/approve.sh"},
      {"title", "Tidemark result, version " + std::to_string(kResultVersion)},
      {"description",
       "What `tidemark run --json` writes. Units stand in the names; bytes and FLOPs are whole "
       "numbers. Names may be added within a version, so readers must let others through."},
      {"anyOf", Json::array({reference("scenario"),
                             list(reference("scenario"), "where several scenarios were run")})},
      {"definitions",
       {{"scenario", scenario()},
        {"run", run()},
        {"rank", rank()},
        {"tier", tier()},
        {"peak", peak()},
        {"alive", alive()},
        {"allocator", allocator()},
        {"out_of_memory", out_of_memory()},
        {"placement", placement()},
        {"remedy", remedy()},
        {"change", change()}}}};
  return schema.dump(2) + "\n";
}

}  // namespace tidemark::tools
