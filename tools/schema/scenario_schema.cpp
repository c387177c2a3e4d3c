#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/policies/policy.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/options.hpp"
#include "scenarios/presets.hpp"
#include "scenarios/sections.hpp"
#include "sim/allocators/table.hpp"
#include "tools/schema/option_schema.hpp"
#include "tools/schema/schema.hpp"

namespace tidemark::tools {
namespace {

using scenarios::Section;

Schema definition(std::string_view name) {
  return {{"$ref", "#/definitions/" + std::string(name)}};
}

std::vector<std::string> devices(std::string_view kind) {
  scenarios::Diagnostics diagnostics;
  std::vector<std::string> names;
  for (const scenarios::CatalogueEntry& entry : scenarios::Catalogue(diagnostics).devices()) {
    if (entry.kind == kind) names.push_back(entry.name);
  }
  return names;
}

// A name of the catalogue or a file (scenarios::names_user_file()).
Schema or_file(Schema names) {
  return {{"anyOf",
           Schema::array({std::move(names), {{"type", "string"}, {"pattern", "/|\\.ya?ml$"}}})}};
}

Schema device_schema(std::string_view kind) { return or_file(one_of(devices(kind))); }

Schema model_names() {
  scenarios::Diagnostics diagnostics;
  std::vector<std::string> names;
  for (const scenarios::CatalogueEntry& entry : scenarios::Catalogue(diagnostics).models()) {
    names.push_back(entry.name);
  }
  return one_of(names);
}

template <class Row>
Schema names_of(std::span<const Row> rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return one_of(names);
}

// Options whose value is text to the loader and a name out of a table to the user.
std::map<std::string, Schema, std::less<>> known_names() {
  return {{"model.base", or_file(model_names())},
          {"hardware.base", device_schema("gpu")},
          {"hardware.host.base", device_schema("host")},
          {"hardware.ssd.base", device_schema("ssd")},
          {"hardware.pcie.base", device_schema("pcie")},
          {"allocator.kind", names_of(sim::allocator_kinds())},
          {"checkpoint.policy", names_of(policies())},
          {"offload.preset", names_of(scenarios::presets())}};
}

class ScenarioSchema {
 public:
  Schema build() {
    for (const Section& section : scenarios::sections()) add_section(section);
    Schema strategy = top_sections();
    strategy["name"] = name_schema("what the strategy is called");
    definitions_["strategy"] = object(std::move(strategy), "what is varied beside the others");
    definitions_["strategy"]["required"] = Schema::array({"name"});
    definitions_["sweep"] = sweep();

    Schema root = top_sections();
    root["name"] = name_schema("what the scenario is called; default: the file's name");
    root["strategies"] = {
        {"type", "array"},
        {"items", definition("strategy")},
        {"minItems", 1},
        {"description", "runs that are compared: each may set any key of the sections anew"}};
    root["sweep"] = definition("sweep");
    Schema schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                     {"$comment", "Written by `tidemark schema scenario`: tools/approve.sh"},
                     {"title", "Tidemark scenario"}};
    schema.update(object(std::move(root), "One step of training, played with several strategies"));
    schema["required"] = Schema::array({"strategies"});
    schema["allOf"] =
        Schema::array({stated_somewhere("model"), stated_somewhere("hardware"), whole_model()});
    schema["definitions"] = std::move(definitions_);
    return schema;
  }

 private:
  static Schema object(Schema properties, std::string_view description) {
    return {{"type", "object"},
            {"description", description},
            {"properties", std::move(properties)},
            {"additionalProperties", false}};
  }

  static Schema name_schema(std::string_view description) {
    Schema schema = text_schema();
    schema["pattern"] = "[^ \\t]";
    schema["description"] = description;
    return schema;
  }

  static Schema top_sections() {
    Schema properties = Schema::object();
    for (const Section& section : scenarios::sections()) {
      if (section.name.find('.') == std::string_view::npos) {
        properties[std::string(section.name)] = definition(section.name);
      }
    }
    return properties;
  }

  // A scenario's model is based on another or states each of these; a strategy's need not.
  static Schema whole_model() {
    Schema required = Schema::array();
    for (const std::string_view key : scenarios::keys_of_every_model()) required.push_back(key);
    const Schema based = {{"anyOf", Schema::array({{{"required", Schema::array({"base"})}},
                                                   {{"required", Schema::array({"hf_config"})}}})}};
    return {{"properties",
             {{"model", {{"if", based}, {"else", {{"required", std::move(required)}}}}}}}};
  }

  // By the scenario, by every strategy, or by the sweep.
  static Schema stated_somewhere(const std::string& section) {
    const Schema required = {{"required", Schema::array({section})}};
    const Schema by_strategies = {{"properties", {{"strategies", {{"items", required}}}}}};
    const Schema no_key = {{"propertyNames", {{"not", {{"pattern", "^" + section + "($|\\.)"}}}}}};
    const Schema by_sweep = {{"required", Schema::array({"sweep"})},
                             {"properties", {{"sweep", {{"not", no_key}}}}}};
    return {{"anyOf", Schema::array({required, by_strategies, by_sweep})}};
  }

  Schema option(const Section& section, const OptionSpec& row) const {
    const std::string path = std::string(section.name) + "." + std::string(row.name);
    if (scenarios::find_section(path) != nullptr) return definition(path);
    Schema schema = option_schema(row);
    const auto known = names_.find(path);
    if (known == names_.end()) return schema;
    Schema named = known->second;
    for (const char* key : {"description", "default"}) {
      if (schema.contains(key)) named[key] = schema[key];
    }
    return named;
  }

  void add_section(const Section& section) {
    Schema properties = Schema::object();
    for (const OptionSpec& row : section.options) {
      properties[std::string(row.name)] = option(section, row);
    }
    Schema mapping = object(std::move(properties), section.summary);
    if (section.name == "checkpoint") add_policies(mapping);
    if (section.name == "model") {
      mapping["not"] = {{"required", Schema::array({"base", "hf_config"})}};
    }
    Schema& definition = definitions_[std::string(section.name)];
    if (section.short_key.empty()) {
      definition = std::move(mapping);
      return;
    }
    Schema shorthand = mapping["properties"][std::string(section.short_key)];
    definition = {{"description", section.summary},
                  {"anyOf", Schema::array({std::move(shorthand), std::move(mapping)})}};
  }

  // A policy has options of its own. Where none is named (a strategy that changes one option of the
  // scenario's policy) those of all are possible.
  static void add_policies(Schema& mapping) {
    Schema rules = Schema::array();
    Schema& properties = mapping["properties"];
    std::map<std::string, Schema> meanings;
    for (const Policy& policy : policies()) {
      Schema allowed = Schema::array();
      for (const OptionSpec& row : scenarios::options_of("checkpoint")) {
        const bool of_tensors = row.name == "keep_dropout";
        const bool either = policy.segments != nullptr && policy.drops != nullptr;
        const bool idle =
            row.name != "policy" && !either && of_tensors == (policy.segments != nullptr);
        if (!idle) allowed.push_back(row.name);
      }
      Schema values = Schema::object();
      for (const OptionSpec& row : policy.options) {
        allowed.push_back(row.name);
        const Schema schema = option_schema(row);
        values[std::string(row.name)] = schema;
        Schema& all = meanings[std::string(row.name)];
        if (all.is_null()) all = Schema::array();
        if (std::find(all.begin(), all.end(), schema) == all.end()) all.push_back(schema);
      }
      Schema then = {{"propertyNames", {{"enum", std::move(allowed)}}}};
      if (!values.empty()) then["properties"] = std::move(values);
      rules.push_back({{"if",
                        {{"required", Schema::array({"policy"})},
                         {"properties", {{"policy", {{"const", policy.name}}}}}}},
                       {"then", std::move(then)}});
    }
    for (auto& [name, all] : meanings) {
      properties[name] = all.size() == 1 ? all[0] : Schema{{"anyOf", all}};
    }
    mapping["allOf"] = std::move(rules);
  }

  // Dotted keys with lists of values.
  Schema sweep() const {
    Schema properties = Schema::object();
    const auto add = [&](const std::string& key, const std::string& what) {
      properties[key] = {
          {"type", "array"}, {"items", definition(what)}, {"minItems", 1}, {"uniqueItems", true}};
    };
    for (const Section& section : scenarios::sections()) {
      const std::string name(section.name);
      add(name, name);
      const bool has_short_form = !section.short_key.empty();
      const std::string mapping = name + (has_short_form ? "/anyOf/1" : "");
      const Schema& definition = definitions_[name];
      const Schema& keys = has_short_form ? definition["anyOf"][1] : definition;
      for (const auto& [key, value] : keys["properties"].items()) {
        if (scenarios::find_section(name + "." + key) != nullptr) continue;  // comes by itself
        add(name + "." + key, mapping + "/properties/" + key);
      }
    }
    Schema schema = object(std::move(properties),
                           "every combination of these values is run: dotted keys, lists");
    return schema;
  }

  std::map<std::string, Schema, std::less<>> names_ = known_names();
  Schema definitions_ = Schema::object();
};

}  // namespace

std::string scenario_schema() { return ScenarioSchema().build().dump(2) + "\n"; }

}  // namespace tidemark::tools
