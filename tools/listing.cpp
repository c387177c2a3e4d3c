#include "tools/listing.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "graph/policies/policy.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/options.hpp"
#include "scenarios/presets.hpp"
#include "sim/allocators/table.hpp"
#include "tidemark/version.hpp"
#include "tools/csv_cell.hpp"

namespace tidemark::tools {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<ListedRow>;

Rows catalogue_rows(std::span<const scenarios::CatalogueEntry> entries) {
  Rows rows;
  for (const scenarios::CatalogueEntry& entry : entries) {
    rows.push_back({entry.kind, entry.name, entry.description, {}, {}, {}});
  }
  return rows;
}

Rows model_rows() {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  return catalogue_rows(catalogue.models());
}

Rows device_rows() {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  return catalogue_rows(catalogue.devices());
}

std::vector<ListedOption> options_of(std::span<const OptionSpec> specs) {
  std::vector<ListedOption> options;
  for (const OptionSpec& spec : specs) {
    options.push_back({std::string(spec.name),
                       std::string(spec.text),
                       {spec.choices.begin(), spec.choices.end()},
                       std::string(spec.preset)});
  }
  return options;
}

Rows allocator_rows() {
  Rows rows;
  for (const sim::AllocatorKind& kind : sim::allocator_kinds()) {
    ListedRow row{"allocator", std::string(kind.name), std::string(kind.summary), {}, {}, {}};
    for (const sim::AllocatorSetting& setting : kind.settings) {
      row.options.push_back({std::string(setting.name),
                             std::string(setting.text),
                             {},
                             std::string(setting.default_value)});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

ListedRow section_row(const scenarios::Section& section) {
  return {"section", std::string(section.name),  std::string(section.summary), {},
          {},        options_of(section.options)};
}

Rows section_rows() {
  Rows rows;
  for (const scenarios::Section& section : scenarios::sections()) {
    rows.push_back(section_row(section));
  }
  return rows;
}

// The presets, and the sections that they set.
Rows strategy_rows() {
  Rows rows = preset_rows();
  for (const char* name : {"offload", "offload.activations", "offload.parameters"}) {
    rows.push_back(section_row(*scenarios::find_section(name)));
  }
  return rows;
}

constexpr auto kTopics = std::to_array<Topic>({
    {"models", "networks that `model:` may name", "name", "description", model_rows},
    {"hardware", "GPUs, hosts, links and drives that `hardware:` may name", "name", "description",
     device_rows},
    {"policies", "what `checkpoint:` may name", "name", "what it recomputes", policy_rows},
    {"strategies", "what a strategy may say; presets that `offload:` may name", "preset",
     "described by", strategy_rows},
    {"allocators", "what `allocator:` may name", "name", "how it hands out HBM", allocator_rows},
    {"keys", "every key of a scenario, with its default; its sections", "section", "",
     section_rows},
});

Json topic_json(const Topic& topic) {
  Json rows = Json::array();
  for (const ListedRow& row : topic.rows()) {
    Json json = {{"kind", row.kind}, {"name", row.name}, {"description", row.description}};
    if (!row.source.empty()) json["source"] = row.source;
    if (!row.sets.empty()) json["sets"] = row.sets;
    Json options = Json::array();
    for (const ListedOption& option : row.options) {
      options.push_back({{"name", option.name},
                         {"text", option.text},
                         {"choices", option.choices},
                         {"default", option.preset.empty() ? Json() : Json(option.preset)}});
    }
    json["options"] = std::move(options);
    rows.push_back(std::move(json));
  }
  return {{"tidemark", kVersion},
          {"topic", topic.name},
          {"summary", topic.summary},
          {"rows", std::move(rows)}};
}

}  // namespace

std::span<const Topic> topics() { return kTopics; }

std::vector<ListedRow> policy_rows() {
  Rows rows;
  for (const Policy& policy : policies()) {
    rows.push_back({"policy",
                    std::string(policy.name),
                    std::string(policy.summary),
                    {},
                    {},
                    options_of(policy.options)});
  }
  return rows;
}

std::vector<ListedRow> preset_rows() {
  Rows rows;
  for (const scenarios::Preset& preset : scenarios::presets()) {
    ListedRow row{"preset",
                  std::string(preset.name),
                  std::string(preset.summary),
                  std::string(preset.paper),
                  {},
                  {}};
    if (!preset.checkpoint.empty()) {
      row.sets = fmt::format("checkpoint: {} (unless that is written)", preset.checkpoint);
    }
    for (const scenarios::PresetSetting& setting : preset.settings) {
      row.sets += fmt::format("{}{}: {}", row.sets.empty() ? "" : ", ", setting.key, setting.value);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string listing_json(std::span<const Topic> listed) {
  Json all = Json::array();
  for (const Topic& topic : listed) all.push_back(topic_json(topic));
  const Json& root = all.size() == 1 ? all[0] : all;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string listing_csv(std::span<const Topic> listed) {
  std::string out = "topic,kind,name,option,text,choices,default\n";
  for (const Topic& topic : listed) {
    for (const ListedRow& row : topic.rows()) {
      const std::string start = fmt::format("{},{},{},", topic.name, row.kind, csv_cell(row.name));
      out += fmt::format("{},{},,\n", start, csv_cell(row.description));
      for (const ListedOption& option : row.options) {
        out += fmt::format("{}{},{},{},{}\n", start, csv_cell(option.name), csv_cell(option.text),
                           csv_cell(fmt::format("{}", fmt::join(option.choices, " | "))),
                           csv_cell(option.preset));
      }
    }
  }
  return out;
}

}  // namespace tidemark::tools
