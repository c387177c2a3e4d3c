#pragma once
// From a row of an option table to the JSON Schema of its value.

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "graph/option.hpp"

namespace tidemark::tools {

using Schema = nlohmann::ordered_json;

// Of any word that YAML reads as text, as a number or as true or false: the loader takes them all
// as they are written.
Schema text_schema();

// One of `names`. A name that YAML takes for a number ("1.13") may be one.
Schema one_of(const std::vector<std::string>& names);

// What an option's value has to be, its text and its default. Not for sections.
Schema option_schema(const OptionSpec& option);

}  // namespace tidemark::tools
