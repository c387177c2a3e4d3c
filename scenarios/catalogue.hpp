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

// Whether it is a path, not a name: a catalogue has no slashes in its names, and no extension.
bool names_user_file(std::string_view name);

// Parses a file when it is first asked for.
class Catalogue {
 public:
  explicit Catalogue(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  // What a `model:` mapping would say, from the catalogue or, for a name that is
  // names_user_file(), from a file of the user's; that is found as below, and may have a `base` of
  // its own, from the catalogue. Null, and reported at `mark`: there is no such model.
  const Value* model(const std::string& name, const Mark& mark);

  // What a `hardware:` mapping would say for a "gpu"; what its part would say for "host", "ssd" and
  // "pcie". Null, and reported at `mark`: there is no such device.
  const Value* device(const std::string& kind, const std::string& name, const Mark& mark);

  // The same from a file of the user's, for a name that names_user_file(). A relative one is looked
  // for beside the file that names it. It may have a `base` of its own, from the catalogue.
  const Value* device_file(const std::string& kind, const std::string& name, const Mark& mark);

  // Of a device that there is; empty where a user's file states none.
  std::string description(const std::string& name, const Mark& mark);

  // Files of the user's that were asked for.
  std::vector<std::string> user_files() const;

  std::vector<CatalogueEntry> models();
  std::vector<CatalogueEntry> devices();

 private:
  const Value& file(const std::string& folder, const EmbeddedFile& file);
  const Value* user_file(const std::string& name, const Mark& mark,
                         std::string_view section = "hardware");
  const Value* model_file(const std::string& name, const Mark& mark);

  Diagnostics& diagnostics_;
  std::map<std::string, Value> files_;       // as they stand, by "folder/name.yaml"
  std::map<std::string, Value> entries_;     // as sections of a scenario
  std::map<std::string, Value> user_files_;  // by path; null: it could not be read
};

}  // namespace scenarios
}  // namespace tidemark
