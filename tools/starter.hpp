#pragma once
// A scenario to begin with: a few choices of the user's, everything else filled in and explained.

#include <cstdint>
#include <optional>
#include <string>

namespace tidemark::tools {

// What is empty or nullopt is left to the scenario's defaults.
struct StarterChoices {
  std::string model;  // of the catalogue; has to be stated
  std::string gpu;    // of the catalogue; has to be stated
  std::string host;
  std::string pcie;
  std::string ssd;
  std::optional<std::int64_t> drives;
  std::optional<std::int64_t> micro_batch;
  std::optional<std::int64_t> micro_batches;
  std::optional<std::int64_t> sequence;
  std::string precision;
  std::string optimizer;
};

// The text of a scenario that loads. `command` is what the user asked with, for its first comment.
// Throws UserError for a model or a device that there is not, ScenarioError for choices that do not
// go together, at their place in the text.
std::string starter_text(const StarterChoices& choices, const std::string& command);

// Trainable elements of a model, as a scenario names it: "llama-3-8b", "{hf_config: config.json}";
// paths are from the working folder. Throws ScenarioError.
std::int64_t count_parameters(const std::string& model);

}  // namespace tidemark::tools
