#include "tools/schema/option_schema.hpp"

#include <charconv>
#include <optional>

#include "hardware/ensure.hpp"
#include "hardware/unit_table.hpp"

namespace tidemark::tools {
namespace {

const UnitKind* units_of(OptionKind kind) {
  switch (kind) {
    case OptionKind::kBytes:
      return &size_units();
    case OptionKind::kBandwidth:
      return &bandwidth_units();
    case OptionKind::kFlopRate:
      return &flop_rate_units();
    case OptionKind::kTime:
      return &time_units();
    case OptionKind::kFrequency:
      return &frequency_units();
    default:
      return nullptr;
  }
}

// Names of units have no sign of a regular expression but a slash, which is none in JSON Schema.
Schema quantity_schema(const UnitKind& kind, bool may_be_zero) {
  std::string units;
  for (const Unit& unit : kind.units) {
    units += units.empty() ? "" : "|";
    units += unit.name;
  }
  const std::string positive = may_be_zero ? "" : "(?=[^a-zA-Z]*[1-9])";  // a digit other than 0
  Schema text = {
      {"type", "string"},
      {"pattern", "^[ \\t]*" + positive + "(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?[ \\t]*(" +
                      units + ")[ \\t]*$"},
      {"examples", Schema::array({kind.example})}};
  if (!may_be_zero) return text;
  return {{"anyOf", Schema::array({std::move(text), {{"enum", Schema::array({0, "0"})}}})}};
}

std::optional<Schema> as_number(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return Schema::parse(text, nullptr, false);
}

Schema preset_value(const OptionSpec& option) {
  switch (option.kind) {
    case OptionKind::kInteger:
    case OptionKind::kNumber:
    case OptionKind::kFlag:
      return Schema::parse(option.preset);
    default:
      return option.preset;
  }
}

Schema value_schema(const OptionSpec& option) {
  if (const UnitKind* units = units_of(option.kind)) {
    return quantity_schema(*units, option.least <= 0);
  }
  std::vector<std::string> choices(option.choices.begin(), option.choices.end());
  switch (option.kind) {
    case OptionKind::kInteger: {
      Schema schema = {{"type", "integer"}, {"minimum", option.least}};
      if (option.most < std::int64_t{1} << 60) schema["maximum"] = option.most;
      return schema;
    }
    case OptionKind::kNumber:
      return {
          {"type", "number"}, {"minimum", option.least_number}, {"maximum", option.most_number}};
    case OptionKind::kFlag:
      return {{"type", "boolean"}};
    case OptionKind::kChoice:
      return one_of(choices);
    case OptionKind::kNames: {
      const Schema word = one_of(choices);
      return {{"anyOf",
               Schema::array({word, {{"type", "array"}, {"items", word}, {"uniqueItems", true}}})}};
    }
    default:
      ensure(option.kind == OptionKind::kText, "a section has a schema of its own");
      return text_schema();
  }
}

}  // namespace

Schema text_schema() { return {{"type", Schema::array({"string", "number", "boolean"})}}; }

Schema one_of(const std::vector<std::string>& names) {
  Schema values = Schema::array();
  for (const std::string& name : names) {
    values.push_back(name);
    if (const auto number = as_number(name)) values.push_back(*number);
  }
  return {{"enum", std::move(values)}};
}

Schema option_schema(const OptionSpec& option) {
  Schema schema = value_schema(option);
  schema["description"] = option.text;
  if (!option.preset.empty()) schema["default"] = preset_value(option);
  return schema;
}

}  // namespace tidemark::tools
