#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "hardware/decimal.hpp"
#include "hardware/embedded.hpp"
#include "hardware/quantity.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/parse.hpp"
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

struct Topic {
  const char* name;
  const char* summary;
  std::span<const EmbeddedFile> (*files)();
};

constexpr Topic kTopics[] = {
    {"model", "the sizes of a network, and where they stand", model_files},
    {"hardware", "the figures of a GPU, host, link or drive, each with its source", device_files},
};

const EmbeddedFile& find_entry(const Topic& topic, std::string_view name) {
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

// How a scenario names it.
std::string usage(const Topic& topic, const std::string& kind, std::string_view name) {
  if (kind.empty()) return fmt::format("model: {}", name);
  if (kind == "gpu") return fmt::format("{}: {}", topic.name, name);
  return fmt::format("{}: {{base: GPU, {}: {}}}", topic.name, kind, name);
}

std::string entry_text(const Topic& topic, const EmbeddedFile& file) {
  scenarios::Diagnostics diagnostics;
  const auto source = std::make_shared<const scenarios::Source>(
      scenarios::Source{std::string(file.name), std::string(file.text)});
  const scenarios::Value entry = scenarios::parse(source, diagnostics);
  const std::string kind = text_of(entry.find("kind"));

  // Of a model, one source has everything.
  const bool of_model = kind.empty();
  TextTable table(
      {{"key", Align::kLeft}, {"value"}, {of_model ? "" : "source", Align::kLeft, kSourceWidth}});
  add_figures(table, entry, "");
  std::string out = fmt::format("{}: {}\n\n", file.name, text_of(entry.find("description")));
  out += table.render(kTerminalWidth) + '\n';
  const std::string common = text_of(entry.find("source"));
  if (!common.empty()) out += fmt::format("source: {}\n", common);
  if (of_model) {
    const std::int64_t parameters = count_parameters(std::string(file.name));
    out += fmt::format("parameters: {}, {} in 16 bits\n", format_count(parameters),
                       format_bytes(Bytes(2 * parameters)));
  }
  out += fmt::format("in a scenario: {}\n", usage(topic, kind, file.name));
  return out;
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("show", "a catalogue entry, with the source of it all");
  command.require_subcommand(1);
  for (const Topic& topic : kTopics) {
    CLI::App& shown = *command.add_subcommand(topic.name, topic.summary);
    const auto name = std::make_shared<std::string>();
    const auto as_file = std::make_shared<bool>(false);
    shown.add_option("NAME", *name, "as the first column of tidemark list has it")->required();
    shown.add_flag("--yaml", *as_file, "the file itself, to begin one of your own with");
    shown.callback([&topic, &action, name, as_file] {
      action = [&topic, name, as_file] {
        const EmbeddedFile& file = find_entry(topic, *name);
        write_output(std::string(kStandardOutput),
                     *as_file ? std::string(file.text) : entry_text(topic, file));
        return ExitStatus::kOk;
      };
    });
  }
  command.footer(
      "Examples:\n"
      "  tidemark show model llama-3-8b\n"
      "  tidemark show hardware rtx-4090\n"
      "  tidemark show hardware nvme-pcie4 --yaml > my-drive.yaml");
}

}  // namespace tidemark::tools
