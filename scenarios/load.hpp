#pragma once
// From a file to checked runs.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/diagnostic.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

// One --set key=value: laid over every run last, after strategies and sweep.
struct Override {
  std::string key;    // "training.micro_batch"
  std::string value;  // a line of YAML
};

struct LoadLimits {
  std::optional<Bytes> memory = {};  // that lowering and simulating may take; nothing: not checked
  std::int64_t runs = 10'000;        // points of the sweep x strategies
  std::vector<std::string> strategies = {};  // only runs of these are read; empty: all
};

// Throws ScenarioError with everything that is wrong.
Scenario load(const std::string& path, const std::vector<Override>& overrides = {},
              const LoadLimits& limits = {});

// The same from a text that is already there.
Scenario load(const std::shared_ptr<const Source>& source,
              const std::vector<Override>& overrides = {}, const LoadLimits& limits = {});

// The same from a document that has been parsed, whose faults up to here `diagnostics` has.
Scenario load(const Value& document, Diagnostics& diagnostics,
              const std::vector<Override>& overrides = {}, const LoadLimits& limits = {});

}  // namespace tidemark::scenarios
