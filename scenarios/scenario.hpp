#pragma once
// One scenario, fully specified: every default filled in, every quantity a strong type.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/model.hpp"
#include "graph/offload.hpp"
#include "graph/policies/policy.hpp"
#include "hardware/machine.hpp"

namespace tidemark::scenarios {

// How HBM is handed out; settings as users write them for the framework's own allocator.
struct AllocatorChoice {
  std::string kind = "ideal";
  std::string settings;
};

// One strategy at one point of the sweep: everything that a run needs.
struct RunSpec {
  std::string strategy;
  std::vector<std::pair<std::string, std::string>> point;  // swept key and its value as written
  ModelConfig model;
  TrainingConfig training;
  Kernels kernels;
  Checkpointing checkpointing;
  std::string checkpoint_policy = "none";
  std::vector<PolicyOption> checkpoint_options;  // the policy's own, in the order of its table
  bool keep_last = false;  // the last segment was left out of checkpointing.segments
  Offload offload;
  Machine machine;
  AllocatorChoice allocator;
};

struct Scenario {
  std::string name;
  std::string file;
  std::vector<std::string> inputs;      // every file that was read for it, the scenario's first
  std::vector<std::string> strategies;  // names in the order of the file, those not read included
  std::vector<RunSpec> runs;  // points outermost, strategies in the order of the file within each
};

}  // namespace tidemark::scenarios
