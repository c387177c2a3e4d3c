#pragma once

#include <string>

#include "scenarios/scenario.hpp"

namespace tidemark::scenarios {

// One run as a scenario of its own, every value written out: loading it gives the same run (save
// `point`, which has become part of the values).
std::string resolved_yaml(const RunSpec& run);

}  // namespace tidemark::scenarios
