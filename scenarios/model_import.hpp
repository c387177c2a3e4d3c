#pragma once
// `model: {hf_config: config.json, ...}`: the file that it names, under the keys beside it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/model.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/hf_config.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

struct ImportedModel {
  Value model;                  // the section without hf_config
  std::optional<Value> window;  // HfModel::window
};

// Reads each file once.
class ModelImport {
 public:
  explicit ModelImport(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  // The section as it is where it names no file. A path is relative to the file that names it, and
  // to the working folder where --set does. Nothing: the file is no use, which has been reported.
  std::optional<ImportedModel> import(const Value& section);

  // The files that were asked for.
  std::vector<std::string> files() const;

 private:
  struct File {
    std::string unreadable;  // why there is nothing to read; empty: there is
    HfModel model;
    std::vector<Diagnostic> faults;  // reported at each use, so that no run comes from the file
  };
  const File& file(const std::string& path);

  Diagnostics& diagnostics_;
  std::map<std::string, File> files_;
};

// Reports a sequence that only fits into the model's positions without its sliding window.
void check_window(const ImportedModel& imported, const ModelConfig& model,
                  const TrainingConfig& training, Diagnostics& diagnostics);

}  // namespace tidemark::scenarios
