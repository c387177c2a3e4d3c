#pragma once
// The models and devices that Tidemark knows by name: graph/models/*.yaml and
// hardware/devices/*.yaml, compiled in.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/embedded.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/value.hpp"

namespace tidemark {

// graph/models/*.yaml, sorted by name.
std::span<const EmbeddedFile> model_files();

namespace scenarios {

struct CatalogueEntry {
  std::string name;
  std::string kind;  // "model", "gpu", "host", "ssd", "pcie"
  std::string description;
};

// Parses a file when it is first asked for.
class Catalogue {
 public:
  explicit Catalogue(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  // What a `model:` mapping would say. Null, and reported at `mark`: there is no such model.
  const Value* model(const std::string& name, const Mark& mark);

  // What a `hardware:` mapping would say for a "gpu"; what its part would say for "host", "ssd" and
  // "pcie". Null, and reported at `mark`: there is no such device.
  const Value* device(const std::string& kind, const std::string& name, const Mark& mark);

  // Of a device that there is.
  std::string description(const std::string& name);

  std::vector<CatalogueEntry> models();
  std::vector<CatalogueEntry> devices();

 private:
  const Value& file(const std::string& folder, const EmbeddedFile& file);

  Diagnostics& diagnostics_;
  std::map<std::string, Value> files_;    // as they stand, by "folder/name.yaml"
  std::map<std::string, Value> entries_;  // as sections of a scenario
};

}  // namespace scenarios
}  // namespace tidemark
