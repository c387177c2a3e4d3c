#include "scenarios/catalogue.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "hardware/decimal.hpp"
#include "hardware/ensure.hpp"
#include "scenarios/options.hpp"
#include "scenarios/parse.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/suggest.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

constexpr const char* kModels = "graph/models";
constexpr const char* kDevices = "hardware/devices";
constexpr int kUserOrder = 400'000;  // faults of a user's files come after those of the scenario
constexpr int kOrder = 1'000'000;    // faults of the catalogue come after those of the scenario

Value empty_mapping(const Mark& mark) {
  Value value;
  value.kind = Value::Kind::kMapping;
  value.mark = mark;
  return value;
}

bool has_row(std::string_view section, std::string_view key) {
  return std::ranges::find(options_of(section), key, &OptionSpec::name) !=
         options_of(section).end();
}

std::string text_at(const Value& file, std::string_view key) {
  const Value* found = file.find(key);
  return found != nullptr && found->is_scalar() ? found->text : std::string();
}

// Without what describes the entry; {value: X, source: Y} becomes X. Other keys beside a value are
// reported.
Value figures_of(const Value& file, Diagnostics& diagnostics, const std::string& name = "") {
  if (const Value* value = file.find("value")) {
    Reader reader(file, name.empty() ? "a figure" : "the figure " + name, diagnostics);
    for (const char* known : {"value", "source"}) reader.find(known);
    reader.finish();
    return *value;
  }
  if (!file.is_mapping()) return file;
  Value figures = empty_mapping(file.mark);
  for (const Entry& entry : file.entries) {
    if (entry.key == "source") continue;
    if (name.empty() && (entry.key == "kind" || entry.key == "description")) continue;
    figures.entries.push_back(
        {entry.key, entry.mark, figures_of(entry.value, diagnostics, in_quotes(entry.key))});
  }
  return figures;
}

// Puts entries side by side, each of which may be written once.
void add_entries(Value& mapping, const std::vector<Entry>& entries, Diagnostics& diagnostics) {
  for (const Entry& entry : entries) {
    if (mapping.find(entry.key) != nullptr) {
      diagnostics.error(entry.mark, in_quotes(entry.key) + " is written twice",
                        "beside the other keys, and in a section of its own");
      continue;
    }
    mapping.entries.push_back(entry);
  }
}

// A GPU's figures, sorted into the sections of `hardware:`. Its file has the figures of the chip
// and of its memory side by side, and `defaults` names the machine that it usually sits in.
Value hardware_of(const Value& figures, Diagnostics& diagnostics) {
  Value hardware = empty_mapping(figures.mark);
  Value gpu = empty_mapping(figures.mark);
  Value hbm = empty_mapping(figures.mark);
  for (const Entry& entry : figures.entries) {
    const bool whole = entry.value.is_mapping();
    if (has_row("hardware.gpu", entry.key)) {
      add_entries(gpu, {entry}, diagnostics);
    } else if (has_row("hardware.hbm", entry.key)) {
      add_entries(hbm, {entry}, diagnostics);
    } else if (entry.key == "defaults") {
      if (whole) {
        add_entries(hardware, entry.value.entries, diagnostics);
      } else {
        diagnostics.error(
            entry.value.mark,
            "defaults: expected host, ssd and pcie with names, found " + describe(entry.value));
      }
    } else if ((entry.key == "gpu" || entry.key == "hbm") && whole) {
      // Written as below `hardware:`.
      add_entries(entry.key == "gpu" ? gpu : hbm, entry.value.entries, diagnostics);
    } else {
      add_entries(hardware, {entry}, diagnostics);
    }
  }
  if (!gpu.entries.empty()) add_entries(hardware, {{"gpu", figures.mark, gpu}}, diagnostics);
  if (!hbm.entries.empty()) add_entries(hardware, {{"hbm", figures.mark, hbm}}, diagnostics);
  return hardware;
}

// A relative path is meant from the file that it stands in; --set options have no file.
std::string path_of(const std::string& name, const Mark& mark) {
  const Source* from = mark.source.get();
  const bool in_file = from != nullptr && !from->text.empty();
  return in_file ? (std::filesystem::path(from->name).parent_path() / name).string() : name;
}

const EmbeddedFile* find_file(std::span<const EmbeddedFile> files, std::string_view name) {
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace

bool names_user_file(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".yaml") ||
         name.ends_with(".yml");
}

const Value& Catalogue::file(const std::string& folder, const EmbeddedFile& file) {
  const std::string path = folder + "/" + std::string(file.name) + ".yaml";
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  const auto source = std::make_shared<const Source>(Source{path, std::string(file.text), kOrder});
  return files_.emplace(path, parse(source, diagnostics_)).first->second;
}

const Value* Catalogue::model_file(const std::string& name, const Mark& mark) {
  const Value* found = user_file(name, mark, "model");
  if (found == nullptr) return nullptr;
  const std::string stated = text_at(*found, "kind");
  if (!stated.empty() && stated != "model") {
    diagnostics_.error(mark, in_quotes(name) + " describes a " + stated + ", not a model");
    return nullptr;
  }
  const std::string key = "model " + path_of(name, mark);
  const auto entry = entries_.find(key);
  if (entry != entries_.end()) return &entry->second;
  Value figures = figures_of(*found, diagnostics_);
  if (const Value* base = figures.find("base"); base != nullptr && base->is_scalar()) {
    if (names_user_file(base->text)) {
      diagnostics_.error(base->mark, "the base of a model file is in the catalogue");
      return nullptr;
    }
    const Value* below = model(base->text, base->mark);
    if (below == nullptr) return nullptr;
    figures = merge(*below, figures, "model");
    std::erase_if(figures.entries, [](const Entry& each) { return each.key == "base"; });
  }
  return &entries_.emplace(key, std::move(figures)).first->second;
}

const Value* Catalogue::model(const std::string& name, const Mark& mark) {
  if (names_user_file(name)) return model_file(name, mark);
  const EmbeddedFile* found = find_file(model_files(), name);
  if (found == nullptr) {
    std::vector<std::string_view> known;
    for (const EmbeddedFile& each : model_files()) known.push_back(each.name);
    diagnostics_.error(mark, "unknown model " + in_quotes(name), suggestion(name, known));
    return nullptr;
  }
  const auto entry = entries_.find("model " + name);
  if (entry != entries_.end()) return &entry->second;
  Value figures = figures_of(file(kModels, *found), diagnostics_);
  return &entries_.emplace("model " + name, std::move(figures)).first->second;
}

const Value* Catalogue::device(const std::string& kind, const std::string& name, const Mark& mark) {
  const EmbeddedFile* found = find_file(device_files(), name);
  if (found == nullptr || text_at(file(kDevices, *found), "kind") != kind) {
    std::vector<std::string_view> known;
    for (const EmbeddedFile& each : device_files()) {
      if (text_at(file(kDevices, each), "kind") == kind) known.push_back(each.name);
    }
    diagnostics_.error(mark,
                       "unknown " + (kind == "gpu" ? "hardware" : kind) + " " + in_quotes(name),
                       suggestion(name, known));
    return nullptr;
  }
  const auto entry = entries_.find(kind + " " + name);
  if (entry != entries_.end()) return &entry->second;
  Value figures = figures_of(file(kDevices, *found), diagnostics_);
  if (kind == "gpu") figures = hardware_of(figures, diagnostics_);
  return &entries_.emplace(kind + " " + name, std::move(figures)).first->second;
}

const Value* Catalogue::user_file(const std::string& name, const Mark& mark,
                                  std::string_view section) {
  const std::string path = path_of(name, mark);
  const auto known = user_files_.find(path);
  if (known != user_files_.end()) return known->second.is_mapping() ? &known->second : nullptr;
  Value& read = user_files_[path];
  const std::string what = section == "model" ? "a model" : "a device";
  std::string reason;
  std::optional<std::string> text = read_file(path, what, reason);
  if (!text) {
    diagnostics_.error(mark, reason, "looked at " + path);
    return nullptr;
  }
  const int order = kUserOrder + static_cast<int>(user_files_.size());
  read = parse(std::make_shared<const Source>(Source{path, std::move(*text), order}), diagnostics_);
  if (read.is_mapping()) return &read;
  if (read.kind != Value::Kind::kNull) {
    diagnostics_.error(read.mark, what + " is a mapping, as below " + std::string(section) + ":");
  }
  return nullptr;
}

const Value* Catalogue::device_file(const std::string& kind, const std::string& name,
                                    const Mark& mark) {
  const Value* found = user_file(name, mark);
  if (found == nullptr) return nullptr;
  const std::string stated = text_at(*found, "kind");
  if (!stated.empty() && stated != kind) {
    diagnostics_.error(mark, in_quotes(name) + " describes a " + stated + ", not a " + kind);
    return nullptr;
  }
  const std::string key = kind + " " + path_of(name, mark);
  const auto entry = entries_.find(key);
  if (entry != entries_.end()) return &entry->second;
  Value figures = figures_of(*found, diagnostics_);
  if (kind == "gpu") figures = hardware_of(figures, diagnostics_);
  return &entries_.emplace(key, std::move(figures)).first->second;
}

std::vector<std::string> Catalogue::user_files() const {
  std::vector<std::string> names;
  for (const auto& [path, read] : user_files_) names.push_back(path);
  return names;
}

std::string Catalogue::description(const std::string& name, const Mark& mark) {
  if (names_user_file(name)) {
    const Value* read = user_file(name, mark);
    return read != nullptr ? text_at(*read, "description") : std::string();
  }
  const EmbeddedFile* found = find_file(device_files(), name);
  ensure(found != nullptr, "only known devices are described");
  return text_at(file(kDevices, *found), "description");
}

std::vector<CatalogueEntry> Catalogue::models() {
  std::vector<CatalogueEntry> entries;
  for (const EmbeddedFile& each : model_files()) {
    const Value& text = file(kModels, each);
    entries.push_back({std::string(each.name), "model", text_at(text, "description")});
  }
  return entries;
}

std::vector<CatalogueEntry> Catalogue::devices() {
  std::vector<CatalogueEntry> entries;
  for (const EmbeddedFile& each : device_files()) {
    const Value& text = file(kDevices, each);
    entries.push_back(
        {std::string(each.name), text_at(text, "kind"), text_at(text, "description")});
  }
  return entries;
}

}  // namespace tidemark::scenarios
