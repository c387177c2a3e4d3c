#pragma once
// A scenario as editors hand it to a JSON Schema: scalars as YAML 1.2's core schema reads them.

#include <nlohmann/json.hpp>

#include <regex>
#include <string>

#include "scenarios/value.hpp"

namespace tidemark::test {

inline nlohmann::json scalar_as_json(const std::string& text) {
  static const std::regex kWhole("[-+]?[0-9]{1,18}");
  static const std::regex kOther("0o[0-7]+|0x[0-9a-fA-F]+");
  static const std::regex kReal("[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?");
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (std::regex_match(text, kWhole)) return std::stoll(text);
  if (std::regex_match(text, kOther)) {
    return std::stoll(text.substr(2), nullptr, text[1] == 'x' ? 16 : 8);
  }
  if (std::regex_match(text, kReal)) return std::strtod(text.c_str(), nullptr);
  return text;
}

inline nlohmann::json as_json(const scenarios::Value& value) {
  using Kind = scenarios::Value::Kind;
  nlohmann::json json;  // null
  if (value.kind == Kind::kScalar) {
    return value.quoted ? nlohmann::json(value.text) : scalar_as_json(value.text);
  }
  if (value.kind == Kind::kSequence) json = nlohmann::json::array();
  if (value.kind == Kind::kMapping) json = nlohmann::json::object();
  for (const scenarios::Value& item : value.items) json.push_back(as_json(item));
  for (const scenarios::Entry& entry : value.entries) json[entry.key] = as_json(entry.value);
  return json;
}

}  // namespace tidemark::test
