#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hardware/decimal.hpp"
#include "hardware/embedded.hpp"
#include "hardware/ensure.hpp"
#include "hardware/quantity.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/model_import.hpp"
#include "scenarios/parse.hpp"
#include "scenarios/sections.hpp"
#include "scenarios/suggest.hpp"
#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/starter.hpp"
#include "tools/text_table.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {

AddCommand add_show;

namespace {

constexpr std::size_t kSourceWidth = 56;  // leaves room for the longest key and value

struct ShownTopic {
  const char* name;
  const char* summary;
  std::span<const EmbeddedFile> (*files)();
};

constexpr ShownTopic kShownTopics[] = {
    {"model", "the sizes of a network, and where they stand", model_files},
    {"hardware", "the figures of a GPU, host, link or drive, each with its source", device_files},
};

const EmbeddedFile& find_entry(const ShownTopic& topic, std::string_view name) {
  std::vector<std::string_view> known;
  for (const EmbeddedFile& file : topic.files()) {
    if (file.name == name) return file;
    known.push_back(file.name);
  }
  throw UserError(fmt::format("unknown {} {}: {}", topic.name, in_quotes(name),
                              scenarios::suggestion(name, known)));
}

std::string text_of(const scenarios::Value* value) {
  return value != nullptr && value->is_scalar() ? value->text : std::string();
}

// A row a figure; those of a section inside have its name before them: "runtime.context".
void add_figures(TextTable& table, const scenarios::Value& section, const std::string& prefix) {
  for (const scenarios::Entry& entry : section.entries) {
    if (entry.key == "kind" || entry.key == "description" || entry.key == "source") continue;
    const std::string key = prefix + entry.key;
    if (entry.value.find("value") != nullptr) {
      table.add_row({key, text_of(entry.value.find("value")), text_of(entry.value.find("source"))});
    } else if (entry.key == "defaults") {
      for (const scenarios::Entry& part : entry.value.entries) {
        table.add_row({part.key, text_of(&part.value), "what it usually comes with"});
      }
    } else if (entry.value.is_mapping()) {
      add_figures(table, entry.value, key + ".");
    } else {
      table.add_row({key, text_of(&entry.value), ""});
    }
  }
}

bool of_models(const ShownTopic& topic) { return topic.files == model_files; }

std::string in_yaml_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

// How a scenario names it.
std::string usage(const ShownTopic& topic, const std::string& kind, std::string_view name) {
  if (name.ends_with(".json")) return fmt::format("model: {{hf_config: {}}}", name);
  if (kind == "gpu" || of_models(topic)) return fmt::format("{}: {}", topic.name, name);
  return fmt::format("{}: {{base: GPU, {}: {}}}", topic.name, kind, name);
}

std::string parameters_text(std::string_view name) {
  const std::string quoted = in_yaml_quotes(name);
  const std::int64_t parameters =
      count_parameters(name.ends_with(".json") ? fmt::format("{{hf_config: {}}}", quoted) : quoted);
  return fmt::format("parameters: {}, {} in 16 bits\n", format_count(parameters),
                     format_bytes(Bytes(2 * parameters)));
}

std::string entry_text(const ShownTopic& topic, std::string_view name,
                       const scenarios::Value& entry, const std::string& kind) {
  const bool sources = !of_models(topic);  // of a model, one source has everything
  TextTable table(
      {{"key", Align::kLeft}, {"value"}, {sources ? "source" : "", Align::kLeft, kSourceWidth}});
  add_figures(table, entry, "");
  const std::string description = text_of(entry.find("description"));
  std::string out = fmt::format("{}{}{}\n\n", name, description.empty() ? "" : ": ", description);
  out += table.render(kTerminalWidth) + '\n';
  const std::string common = text_of(entry.find("source"));
  if (!common.empty()) out += fmt::format("source: {}\n", common);
  if (of_models(topic)) out += parameters_text(name);
  out += fmt::format("in a scenario: {}\n", usage(topic, kind, name));
  return out;
}

std::string entry_text(const ShownTopic& topic, const EmbeddedFile& file) {
  scenarios::Diagnostics diagnostics;
  const auto source = std::make_shared<const scenarios::Source>(
      scenarios::Source{std::string(file.name), std::string(file.text)});
  const scenarios::Value entry = scenarios::parse(source, diagnostics);
  return entry_text(topic, file.name, entry, text_of(entry.find("kind")));
}

// What a scenario has where it names a file: no text that a relative path would be beside of.
scenarios::Value scalar(const std::string& text, const std::string& where) {
  scenarios::Value value;
  value.kind = scenarios::Value::Kind::kScalar;
  value.text = text;
  value.quoted = true;
  value.mark.source = std::make_shared<const scenarios::Source>(scenarios::Source{where, "", 0});
  return value;
}

// A device file is read as a scenario that names it would read it, so that what is wrong is told.
void check_device(const std::string& path, const std::string& kind) {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  const std::string where = "show hardware " + path;
  scenarios::Value section = scalar(path, where);
  if (kind != "gpu") {
    const scenarios::Value part = std::exchange(section, {});
    section.kind = scenarios::Value::Kind::kMapping;
    section.mark = part.mark;
    section.entries = {{"base", part.mark, scalar("a100-80gb-sxm", where)},
                       {kind, part.mark, part}};
  }
  scenarios::read_hardware(section, catalogue, diagnostics);
  diagnostics.throw_if_any();
}

// A file of the user's: whatever a scenario may name.
std::string file_text(const ShownTopic& topic, const std::string& path,
                      const std::shared_ptr<const scenarios::Source>& source) {
  scenarios::Diagnostics diagnostics;
  if (path.ends_with(".json")) {
    scenarios::ModelImport import(diagnostics);
    scenarios::Value section;
    section.kind = scenarios::Value::Kind::kMapping;
    section.entries.push_back({"hf_config", {}, scalar(path, "show model " + path)});
    const std::optional<scenarios::ImportedModel> imported = import.import(section);
    diagnostics.throw_if_any();
    ensure(imported.has_value(), "a config.json without faults is a model");
    return entry_text(topic, path, imported->model, "");
  }
  const scenarios::Value entry = scenarios::parse(source, diagnostics);
  diagnostics.throw_if_any();
  std::string kind = text_of(entry.find("kind"));
  if (kind.empty() && !of_models(topic)) kind = "gpu";
  if (!of_models(topic)) check_device(path, kind);
  return entry_text(topic, path, entry, kind);
}

std::string shown(const ShownTopic& topic, const std::string& name, bool as_file) {
  const bool json = of_models(topic) && name.ends_with(".json");
  if (!json && !scenarios::names_user_file(name)) {
    const EmbeddedFile& file = find_entry(topic, name);
    return as_file ? std::string(file.text) : entry_text(topic, file);
  }
  const auto source = scenarios::read_source(name, of_models(topic) ? "a model" : "a device");
  return as_file ? source->text : file_text(topic, name, source);
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("show", "a catalogue entry, with the source of it all");
  command.require_subcommand(1);
  for (const ShownTopic& topic : kShownTopics) {
    CLI::App& shown_topic = *command.add_subcommand(topic.name, topic.summary);
    const auto name = std::make_shared<std::string>();
    const auto as_file = std::make_shared<bool>(false);
    shown_topic
        .add_option("NAME", *name,
                    "as the first column of tidemark list has it, or a file: ./mine.yaml")
        ->required();
    shown_topic.add_flag("--yaml", *as_file, "the file itself, to begin one of your own with");
    shown_topic.callback([&topic, &action, name, as_file] {
      action = [&topic, name, as_file] {
        write_output(std::string(kStandardOutput), shown(topic, *name, *as_file));
        return ExitStatus::kOk;
      };
    });
  }
  command.footer(
      "Examples:\n"
      "  tidemark show model llama-3-8b\n"
      "  tidemark show hardware rtx-4090\n"
      "  tidemark show hardware nvme-pcie4 --yaml > my-drive.yaml\n"
      "  tidemark show hardware ./my-drive.yaml");
}

}  // namespace tidemark::tools
