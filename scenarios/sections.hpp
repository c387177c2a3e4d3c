#pragma once
// One function a section of a scenario: from its tree, through its table, to the plain data of the
// lower floors. Each reports what is wrong and returns what it could read.

#include <span>
#include <string_view>

#include "graph/model.hpp"
#include "graph/offload.hpp"
#include "hardware/machine.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

// That a model without a base has to state.
std::span<const std::string_view> keys_of_every_model();
ModelConfig read_model(const Value& section, Catalogue& catalogue, Diagnostics& diagnostics);
// sequence is 0 where it is not stated.
TrainingConfig read_training(const Value& section, Diagnostics& diagnostics);
Kernels read_kernels(const Value& section, Diagnostics& diagnostics);
Machine read_hardware(const Value& section, Catalogue& catalogue, Diagnostics& diagnostics);
AllocatorChoice read_allocator(const Value& section, Diagnostics& diagnostics);
// `optimizer: {to: host, fraction: 0.5}` written as `optimizer: host, fraction: 0.5`; the same of
// gradients. What is flat already comes back as it is.
Value flatten_offload(const Value& section, Diagnostics& diagnostics);
// The checkpoint policy of the preset that a run's tree names goes under what the tree has in
// `checkpoint`.
void add_preset_checkpoint(Value& tree);
Offload read_offload(const Value& section, Diagnostics& diagnostics);

// The policy by name, its options in the order of its table, and the segments of `layers` blocks.
struct CheckpointChoice {
  std::string policy;
  std::vector<PolicyOption> options;
  Checkpointing checkpointing;
  bool keep_last = false;
};
CheckpointChoice read_checkpoint(const Value& section, std::int64_t layers,
                                 Diagnostics& diagnostics);

}  // namespace tidemark::scenarios
