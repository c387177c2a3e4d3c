#pragma once
// Scenarios that import a config.json from a literal, for the tests of that.

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "graph/lower.hpp"
#include "scenarios/load.hpp"
#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {

namespace fs = std::filesystem;

inline const std::string kHardware = "hardware: h200\n" + kOneStrategy;

// A folder with a config.json and a scenario beside it, removed at the end.
class Folder {
 public:
  explicit Folder(const std::string& json)
      : path_(fs::temp_directory_path() / ("tidemark_hf_config." + std::to_string(::getpid()))) {
    fs::create_directories(path_);
    write("config.json", json);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

inline RunSpec run_of(const std::string& model, const std::string& more = {}) {
  const Scenario scenario = load_text("model: " + model + "\n" + more + kHardware);
  REQUIRE(scenario.runs.size() == 1);
  return scenario.runs[0];
}

inline RunSpec run_of_json(const std::string& json, const std::string& beside = {},
                           const std::string& more = {}) {
  const Folder folder(json);
  return run_of("{hf_config: " + folder.path("config.json") + beside + "}", more);
}

// Messages only; "loaded" where there are none.
inline std::vector<std::string> faults_of(const std::string& json, const std::string& beside = {},
                                          const std::string& more = {}) {
  const Folder folder(json);
  std::vector<std::string> messages;
  try {
    load_text("model: {hf_config: " + folder.path("config.json") + beside + "}\n" + more +
              kHardware);
  } catch (const ScenarioError& error) {
    for (const Diagnostic& each : error.diagnostics()) {
      messages.push_back(std::to_string(each.mark.line) + ":" + std::to_string(each.mark.column) +
                         " " + each.message);
    }
  }
  return messages;
}

inline std::string fault_of(const std::string& json, const std::string& beside = {},
                            const std::string& more = {}) {
  const std::vector<std::string> all = faults_of(json, beside, more);
  return all.empty() ? "loaded" : all.size() == 1 ? all[0] : std::to_string(all.size()) + " faults";
}

inline std::string refusal_of(const std::string& path,
                              const std::vector<Override>& overrides = {}) {
  try {
    load(path, overrides);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "loaded";
}

inline std::int64_t parameters_of(const ModelConfig& model) {
  LoweringInput input;
  input.model = model;
  input.training.sequence = 16;
  return lower(input).parameter_count;
}

}  // namespace tidemark::scenarios
