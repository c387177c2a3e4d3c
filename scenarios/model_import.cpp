#include "scenarios/model_import.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "scenarios/options.hpp"
#include "scenarios/parse.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 100;  // at most kMostFileBytes each are held in memory
constexpr int kOrder = 500'000;          // faults after the scenario's, before the catalogue's

std::string resolve(const Value& path) {
  const Source* from = path.mark.source.get();
  const bool in_file = from != nullptr && !from->text.empty();  // --set has no text
  return in_file ? (fs::path(from->name).parent_path() / path.text).string() : path.text;
}

// JSON is YAML, as far as yaml-cpp reads it; but not everything in YAML is JSON.
bool starts_with_brace(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

}  // namespace

const ModelImport::File& ModelImport::file(const std::string& path) {
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  File& read = files_[path];
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_fifo(status) || fs::is_socket(status) || fs::is_character_file(status)) {
    read.unreadable = "cannot read: it is no regular file";
    return read;
  }
  std::optional<std::string> text = read_file(path, "a config.json", read.unreadable);
  if (!text) return read;
  if (!starts_with_brace(*text)) {
    read.unreadable = "not a config.json: it does not start with {";
    return read;
  }
  const int order = kOrder + static_cast<int>(files_.size());
  const auto source = std::make_shared<const Source>(Source{path, std::move(*text), order});
  Diagnostics faults;
  const Value root = parse(source, faults);
  if (faults.size() == 0) read.model = read_hf_config(root, faults);
  try {
    faults.throw_if_any();
  } catch (const ScenarioError& error) {
    read.faults = error.diagnostics();
  }
  return read;
}

std::vector<std::string> ModelImport::files() const {
  std::vector<std::string> names;
  for (const auto& [path, read] : files_) names.push_back(path);
  return names;
}

std::optional<ImportedModel> ModelImport::import(const Value& section) {
  const Value* named = section.find("hf_config");
  if (named == nullptr) return ImportedModel{section, std::nullopt};
  if (const Value* base = section.find("base")) {
    diagnostics_.error(base->mark, "base: hf_config describes the whole model already");
    return std::nullopt;
  }
  if (!read_value(*named, find_option(options_of("model"), "hf_config"), diagnostics_)) {
    return std::nullopt;
  }
  const std::string path = resolve(*named);
  if (files_.size() >= kMostFiles && !files_.contains(path)) {
    diagnostics_.error(named->mark,
                       "hf_config: more than " + std::to_string(kMostFiles) + " different files");
    return std::nullopt;
  }
  const File& from = file(path);
  if (!from.unreadable.empty()) {
    diagnostics_.error(named->mark, "hf_config: " + from.unreadable, "looked at " + path);
    return std::nullopt;
  }
  for (const Diagnostic& fault : from.faults) {
    diagnostics_.error(fault.mark, fault.message, fault.hint);
  }
  if (!from.faults.empty()) return std::nullopt;
  Value beside = section;
  std::erase_if(beside.entries, [](const Entry& entry) { return entry.key == "hf_config"; });
  Value model = merge(from.model.keys, beside, "model");
  model.mark = section.mark;
  return ImportedModel{std::move(model), from.model.window};
}

void check_window(const ImportedModel& imported, const ModelConfig& model,
                  const TrainingConfig& training, Diagnostics& diagnostics) {
  if (!imported.window) return;
  const std::string& window = imported.window->text;
  if (std::to_string(model.max_positions) != window) return;  // positions were written beside
  if (training.sequence <= model.max_positions) return;
  diagnostics.error(imported.window->mark,
                    "sliding_window is " + window + ": attention over a part of the " +
                        std::to_string(training.sequence) + " tokens is not modelled",
                    "a shorter training.sequence, or model.max_positions for full attention");
}

}  // namespace tidemark::scenarios
