#pragma once
// Scenarios from literals, for the tests of this folder.

#include <memory>
#include <string>
#include <vector>

#include "scenarios/load.hpp"

namespace tidemark::scenarios {

inline std::shared_ptr<const Source> source_of(const std::string& text) {
  return std::make_shared<const Source>(Source{"test.yaml", text, 0});
}

inline Scenario load_text(const std::string& text, const std::vector<Override>& overrides = {},
                          const LoadLimits& limits = {}) {
  return load(source_of(text), overrides, limits);
}

// The rendered diagnostics of a text that must not load; "loaded" when it does.
inline std::string errors_of(const std::string& text, const std::vector<Override>& overrides = {},
                             const LoadLimits& limits = {}) {
  try {
    load_text(text, overrides, limits);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "loaded";
}

inline const std::string kStart = "model: gpt-7b\nhardware: a100-80gb-sxm\n";
inline const std::string kOneStrategy = "strategies: [{name: one}]\n";

}  // namespace tidemark::scenarios
