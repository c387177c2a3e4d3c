#pragma once
// A validator of JSON Schema draft 7, as far as the schemas here go. It knows each keyword or
// refuses the schema: nothing is passed over in silence. Left out: `format`, `$id`, references to
// other documents.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace tidemark::test {

class JsonSchema {
 public:
  using Json = nlohmann::json;

  explicit JsonSchema(Json root) : root_(std::move(root)) {}

  // What is wrong, "/path/of/value: keyword"; empty: nothing.
  std::vector<std::string> faults(const Json& value) const {
    std::vector<std::string> found;
    check(root_, value, "", found);
    return found;
  }
  bool accepts(const Json& value) const { return faults(value).empty(); }

 private:
  using Faults = std::vector<std::string>;

  static bool is_type(const std::string& type, const Json& value) {
    if (type == "integer") {
      return value.is_number_integer() ||
             (value.is_number_float() &&
              value.get<double>() ==
                  static_cast<double>(static_cast<long long>(value.get<double>())));
    }
    if (type == "number") return value.is_number();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "array") return value.is_array();
    if (type == "object") return value.is_object();
    throw std::logic_error("unknown type " + type);
  }

  const Json& resolve(const std::string& reference) const {
    if (!reference.starts_with("#")) throw std::logic_error("reference " + reference);
    return root_.at(Json::json_pointer(reference.substr(1)));
  }

  bool fits(const Json& schema, const Json& value) const {
    Faults none;
    check(schema, value, "", none);
    return none.empty();
  }

  std::size_t count_of(const Json& schemas, const Json& value) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(schemas, [&](const Json& schema) { return fits(schema, value); }));
  }

  // Those of the alternative that has fewest.
  void add_nearest(const Json& schemas, const Json& value, const std::string& at,
                   Faults& faults) const {
    Faults nearest;
    for (const Json& schema : schemas) {
      Faults found;
      check(schema, value, at, found);
      if (nearest.empty() || found.size() < nearest.size()) nearest = std::move(found);
    }
    faults.insert(faults.end(), nearest.begin(), nearest.end());
  }

  void check(const Json& schema, const Json& value, const std::string& at, Faults& faults) const {
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) faults.push_back(at + ": false");
      return;
    }
    if (schema.contains("$ref")) return check(resolve(schema["$ref"]), value, at, faults);
    for (const auto& [keyword, argument] : schema.items()) {
      static const std::set<std::string> kNotes = {
          "$schema", "$comment", "title", "description", "default", "examples", "definitions"};
      if (kNotes.contains(keyword)) continue;
      if (keyword == "then" || keyword == "else") continue;  // with `if`
      const bool known = check_any(keyword, argument, schema, value, at, faults) ||
                         check_number(keyword, argument, value, at, faults) ||
                         check_array(keyword, argument, value, at, faults) ||
                         check_object(keyword, argument, schema, value, at, faults);
      if (!known) throw std::logic_error("unknown keyword " + keyword);
    }
  }

  static void require(bool met, const std::string& at, const std::string& keyword, Faults& faults) {
    if (!met) faults.push_back(at + ": " + keyword);
  }

  bool check_any(const std::string& keyword, const Json& argument, const Json& schema,
                 const Json& value, const std::string& at, Faults& faults) const {
    bool met = true;
    if (keyword == "type") {
      met = argument.is_string() ? is_type(argument, value)
                                 : std::ranges::any_of(argument, [&](const Json& type) {
                                     return is_type(type, value);
                                   });
    } else if (keyword == "enum") {
      met = std::ranges::find(argument, value) != argument.end();
    } else if (keyword == "const") {
      met = value == argument;
    } else if (keyword == "anyOf") {
      if (count_of(argument, value) == 0) add_nearest(argument, value, at, faults);
    } else if (keyword == "oneOf") {
      met = count_of(argument, value) == 1;
    } else if (keyword == "not") {
      met = !fits(argument, value);
    } else if (keyword == "allOf") {
      for (const Json& each : argument) check(each, value, at, faults);
    } else if (keyword == "if") {
      const char* branch = fits(argument, value) ? "then" : "else";
      if (schema.contains(branch)) check(schema[branch], value, at, faults);
    } else if (keyword == "pattern") {
      met = !value.is_string() ||
            std::regex_search(value.get<std::string>(), std::regex(argument.get<std::string>()));
    } else {
      return false;
    }
    require(met, at, keyword, faults);
    return true;
  }

  static bool check_number(const std::string& keyword, const Json& argument, const Json& value,
                           const std::string& at, Faults& faults) {
    if (keyword == "minimum") {
      require(!value.is_number() || value >= argument, at, keyword, faults);
    } else if (keyword == "maximum") {
      require(!value.is_number() || value <= argument, at, keyword, faults);
    } else {
      return false;
    }
    return true;
  }

  bool check_array(const std::string& keyword, const Json& argument, const Json& value,
                   const std::string& at, Faults& faults) const {
    if (keyword == "items") {
      if (!value.is_array()) return true;
      for (std::size_t i = 0; i < value.size(); ++i) {
        check(argument, value[i], at + "/" + std::to_string(i), faults);
      }
    } else if (keyword == "minItems") {
      require(!value.is_array() || value.size() >= argument.get<std::size_t>(), at, keyword,
              faults);
    } else if (keyword == "uniqueItems") {
      const std::set<Json> different(value.is_array() ? value.begin() : value.end(), value.end());
      require(!value.is_array() || different.size() == value.size(), at, keyword, faults);
    } else {
      return false;
    }
    return true;
  }

  bool check_object(const std::string& keyword, const Json& argument, const Json& schema,
                    const Json& value, const std::string& at, Faults& faults) const {
    if (keyword == "required") {
      for (const Json& name : argument) {
        require(!value.is_object() || value.contains(name.get<std::string>()), at,
                "required " + name.get<std::string>(), faults);
      }
    } else if (keyword == "properties") {
      for (const auto& [name, each] : argument.items()) {
        if (value.is_object() && value.contains(name)) {
          check(each, value[name], at + "/" + name, faults);
        }
      }
    } else if (keyword == "additionalProperties") {
      const Json none = Json::object();
      const Json& known = schema.contains("properties") ? schema["properties"] : none;
      if (!value.is_object()) return true;
      for (const auto& [name, each] : value.items()) {
        if (!known.contains(name)) check(argument, each, at + "/" + name, faults);
      }
    } else if (keyword == "propertyNames") {
      if (!value.is_object()) return true;
      for (const auto& [name, each] : value.items()) {
        check(argument, Json(name), at + "/" + name, faults);
      }
    } else {
      return false;
    }
    return true;
  }

  Json root_;
};

// The same schema, where objects have no names that it does not list.
inline nlohmann::json closed(nlohmann::json schema) {
  if (schema.is_object() && schema.contains("properties") && schema.contains("required") &&
      !schema.contains("additionalProperties")) {
    schema["additionalProperties"] = false;
  }
  if (schema.is_structured()) {
    for (auto& each : schema) each = closed(each);
  }
  return schema;
}

}  // namespace tidemark::test
