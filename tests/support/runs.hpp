#pragma once
// The run of a scenario that a test writes down.

#include <memory>
#include <string>
#include <utility>

#include "scenarios/load.hpp"

namespace tidemark::support {

// The first strategy at the first point.
inline scenarios::RunSpec run_of(std::string text) {
  return scenarios::load(std::make_shared<const scenarios::Source>(
                             scenarios::Source{"test.yaml", std::move(text)}))
      .runs.front();
}

}  // namespace tidemark::support
