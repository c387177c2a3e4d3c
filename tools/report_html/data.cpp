#include "tools/report_html/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/op_kind.hpp"
#include "tidemark/version.hpp"
#include "tools/analysis/figures.hpp"
#include "tools/analysis/sensitivity.hpp"
#include "tools/front.hpp"
#include "tools/parallel.hpp"
#include "tools/plot/style.hpp"
#include "tools/report_html/levels.hpp"
#include "tools/report_html/packed.hpp"
#include "tools/report_html/step_columns.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {
namespace {

using Json = nlohmann::ordered_json;

// Parts of the step in the picture that compares runs.
constexpr std::size_t kOverviewBuckets = 300;
// Runs with more instances than this, all together, are not played again with each figure of the
// machine improved: that takes some fifteen steps a run.
constexpr std::size_t kMostInstancesToImprove = 40'000;
constexpr int kModuleCount = static_cast<int>(Module::kOptimizer) + 1;

template <class Names>
Json list_of(const Names& names) {
  Json list = Json::array();
  for (const std::string_view name : names) list.push_back(name);
  return list;
}

Json look_json(plot::Paint paint) {
  // As shapes.js draws them.
  static constexpr std::array<const char*, 7> kHatches = {"none",   "up",      "down", "cross",
                                                          "across", "upright", "dots"};
  const plot::Color& fill = paint.fill;
  return {{"color", fmt::format("#{:02x}{:02x}{:02x}", fill.red, fill.green, fill.blue)},
          {"hatch", kHatches[static_cast<std::size_t>(paint.hatch)]}};
}

// The fills of categories and causes.
Json looks() {
  Json categories = Json::array();
  for (int c = 0; c < kCategoryCount; ++c) {
    categories.push_back(look_json(plot::paint_of(static_cast<Category>(c))));
  }
  Json causes = Json::array();
  for (int c = 0; c < sim::kStallCauseCount; ++c) {
    causes.push_back(look_json(plot::paint_of(static_cast<sim::StallCause>(c))));
  }
  return {{"categories", std::move(categories)},
          {"causes", std::move(causes)},
          {"busy", look_json(plot::kComputePaint)},
          {"recompute", look_json(plot::kRecomputePaint)}};
}

// What the numbers of enums mean.
Json words() {
  Json categories = Json::array();
  for (int c = 0; c < kCategoryCount; ++c) {
    categories.push_back(spoken(static_cast<Category>(c)));
  }
  Json causes = Json::array();
  for (int c = 0; c < sim::kStallCauseCount; ++c) {
    causes.push_back(spoken(static_cast<sim::StallCause>(c)));
  }
  Json resources = Json::array();
  for (int r = 0; r < kResourceCount; ++r) resources.push_back(spoken(static_cast<Resource>(r)));
  Json modules = Json::array();
  for (int m = 0; m < kModuleCount; ++m) modules.push_back(spoken(static_cast<Module>(m)));
  return {{"tiers", Json::array({"HBM", "host memory", "SSD"})},
          {"categories", std::move(categories)},
          {"streams", list_of(kStreamNames)},
          {"phases", list_of(kPhaseNames)},
          {"causes", std::move(causes)},
          {"resources", std::move(resources)},
          {"modules", std::move(modules)},
          {"looks", looks()}};
}

template <class Quantities>
Json counts_of(const Quantities& quantities) {
  Json list = Json::array();
  for (const auto& quantity : quantities) list.push_back(quantity.count);
  return list;
}

template <std::size_t kSize>
Json counts_of(const std::array<SimTime, kSize>& times) {
  Json list = Json::array();
  for (const SimTime time : times) list.push_back(time.count());
  return list;
}

// The level over time, for pictures of several runs: packed times, levels, both as differences.
std::string overview(const PlayedStep& step, Tier tier) {
  std::vector<LevelPoint> all = levels_of(step.program, step.whole(), tier);
  // What is there before the step comes buffer by buffer: its sum is where the picture begins.
  const auto initial = std::ranges::count_if(step.program.buffers, [&](const Buffer& buffer) {
    return buffer.initial && buffer.tier == tier;
  });
  if (initial > 1) all.erase(all.begin(), all.begin() + initial - 1);
  const std::vector<LevelPoint> kept = downsample(all, step.whole().end, kOverviewBuckets);
  std::vector<std::int64_t> times, levels;
  for (const LevelPoint& point : kept) {
    times.push_back(point.time.count());
    levels.push_back(point.level.count);
  }
  PackedColumns columns;
  columns.add(differences(times));
  columns.add(differences(levels));
  return columns.base64();
}

// What the allocator had taken from the driver over time, with what is set aside beside it: packed
// times and bytes; null without a caching allocator.
Json reserved_of(const OutRun& run, const PlayedStep& step, Tier tier) {
  if (tier != Tier::kHbm || !run.report->allocator.keeps_cache) return nullptr;
  const sim::Result& result = step.whole();
  const Bytes beside = run.report->tier(tier).peak_reserved -
                       result.allocators[static_cast<std::size_t>(tier)].end.reserved_peak;
  std::vector<std::int64_t> times, levels;
  for (const sim::ReservedLevel& level : result.reserved) {
    if (level.tier != tier) continue;
    times.push_back(level.time.count());
    levels.push_back((level.reserved + beside).count);
  }
  PackedColumns columns;
  columns.add(differences(times));
  columns.add(differences(levels));
  return columns.base64();
}

Json tier_of(const OutRun& run, const PlayedStep& step, Tier tier) {
  const TierReport& report = run.report->tier(tier);
  const Peak& peak = report.peak_moment;
  return {{"capacity", report.capacity.count},
          {"peak", report.peak.count},
          {"reserved", report.peak_reserved.count},
          {"first_step_peak", report.first_step_peak.count},
          {"peak_time", peak.time.count()},
          {"peak_at", peak.op.empty() ? "the step starts at its peak"
                                      : place(name_of(peak.phase), peak.layer, peak.op)},
          {"by_category", counts_of(peak.by_category)},
          {"overview", overview(step, tier)},
          {"reserved_levels", reserved_of(run, step, tier)}};
}

// Bytes that forward keeps for backward, by block (-1: outside) and by the part that made them:
// [layer, module, bytes], of the first micro-batch.
Json saved_by_layer(const StepGraph& graph) {
  std::uint32_t end = 0;  // of the first forward
  while (end < graph.op_count() && graph.ops[end].phase == Phase::kForward) ++end;
  std::map<std::pair<int, int>, Bytes> sums;
  for (const Tensor& tensor : graph.tensors) {
    if (!tensor.saved || tensor.initial() || index(tensor.producer) >= end) continue;
    sums[{tensor.layer, static_cast<int>(graph.op(tensor.producer).module)}] += tensor.bytes;
  }
  Json list = Json::array();
  for (const auto& [where, bytes] : sums) {
    list.push_back({where.first, where.second, bytes.count});
  }
  return list;
}

// What each figure of the machine being 10 % better would do: those that change the step.
Json effects_json(const std::vector<Effect>& effects) {
  Json list = Json::array();
  for (const Effect& effect : effects) {
    if (effect.saves == SimTime(0)) continue;
    list.push_back({{"figure", effect.figure->words},
                    {"from", text_of(effect.from)},
                    {"to", text_of(effect.to)},
                    {"saves", effect.saves.count()}});
  }
  return list;
}

// Of each run; empty where that would take long.
std::vector<std::vector<Effect>> effects_of_all(const OutInput& input) {
  std::size_t instances = 0;
  for (const OutRun& run : input.runs) {
    instances += run.steps->steady().program.instances.size();
  }
  if (instances > kMostInstancesToImprove) return {};
  std::vector<std::vector<Effect>> effects(input.runs.size());
  run_parallel(effects.size(), [&](std::size_t i) { effects[i] = effects_of(*input.runs[i].spec); },
               {});
  return effects;
}

Json run_of(const OutRun& run) {
  const Report& report = *run.report;
  const PlayedStep step = run.steps->steady();
  const bool missed = report.placement && !report.placement->met;
  const auto budget = missed ? std::optional(report.placement->budget) : run.budget;
  Json tiers = Json::array();
  for (std::size_t t = 0; t < kTierCount; ++t) {
    tiers.push_back(tier_of(run, step, static_cast<Tier>(t)));
  }
  return {{"label", run.label},
          {"machine", run.spec->machine.name},
          {"fits", report.fits()},
          {"bottleneck", report.bottleneck},
          {"step", report.step_time.count()},
          {"bound", report.lower_bound.count()},
          {"busy", report.compute_busy.count()},
          {"recompute", report.recompute.count()},
          {"recompute_bound", run.bound ? Json(run.bound->count()) : Json(nullptr)},
          {"budget", budget ? Json(budget->count) : Json(nullptr)},
          {"missed", missed},
          {"work", work_of(run.spec->point)},
          {"stalls", counts_of(report.stalls)},
          {"critical_path", counts_of(report.critical_path)},
          {"tokens_per_s", report.tokens_per_second},
          {"mfu", report.mfu},
          {"caching", report.allocator.keeps_cache},
          {"tiers", std::move(tiers)},
          {"saved", saved_by_layer(step.graph)},
          {"events", step.whole().memory.size()},
          {"instances", step.program.instances.size()},
          {"columns", step_columns(step)}};
}

// As \u003c, so that no text of a scenario ends the script or begins a comment.
std::string without_angle_brackets(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string report_data(const OutInput& input) {
  Json runs = Json::array();
  const std::vector<std::vector<Effect>> effects = effects_of_all(input);
  for (std::size_t i = 0; i < input.runs.size(); ++i) {
    Json run = run_of(input.runs[i]);
    run["effects"] = effects.empty() ? Json(nullptr) : effects_json(effects[i]);
    runs.push_back(std::move(run));
  }
  const Json data = {{"tidemark", kVersion},
                     {"title", input.title},
                     {"words", words()},
                     {"runs", std::move(runs)}};
  return without_angle_brackets(data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace tidemark::tools
