#pragma once
// Parts of the result JSON that other JSON has as well, by the same names.

#include <nlohmann/json.hpp>

#include "tools/changes.hpp"
#include "tools/report.hpp"

namespace tidemark::tools {

nlohmann::ordered_json peak_json(const Peak& peak);
nlohmann::ordered_json change_json(const Change& change);
// Swept keys and their values: a number or true stays one, a word is text.
nlohmann::ordered_json point_json(const Report& report);

}  // namespace tidemark::tools
