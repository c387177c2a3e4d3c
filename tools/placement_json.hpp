#pragma once

#include <nlohmann/json.hpp>

#include "tools/placement_note.hpp"

namespace tidemark::tools {

// Without the planning time, which differs from run to run.
nlohmann::ordered_json placement_json(const PlacementNote& note);

}  // namespace tidemark::tools
