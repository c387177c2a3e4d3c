#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "graph/policies/policy.hpp"
#include "hardware/embedded.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/options.hpp"
#include "scenarios/presets.hpp"
#include "sim/allocators/table.hpp"
#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/text_table.hpp"

namespace tidemark::tools {

AddCommand add_list;

namespace {

constexpr std::size_t kWidth = 100;

std::string catalogue_text(std::span<const scenarios::CatalogueEntry> entries, bool with_kind) {
  std::vector<TextColumn> columns = {{"name", Align::kLeft}};
  if (with_kind) columns.push_back({"kind", Align::kLeft});
  columns.push_back({"description", Align::kLeft, 70});
  TextTable table(std::move(columns));
  for (const scenarios::CatalogueEntry& entry : entries) {
    std::vector<std::string> cells = {entry.name};
    if (with_kind) cells.push_back(entry.kind);
    cells.push_back(entry.description);
    table.add_row(std::move(cells));
  }
  return table.render(kWidth);
}

std::string models() {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  return catalogue_text(catalogue.models(), false);
}

std::string hardware() {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  return catalogue_text(catalogue.devices(), true);
}

std::string option_text(const OptionSpec& option) {
  std::string text = fmt::format("{}: {}", option.name, option.text);
  if (!option.choices.empty()) {
    text += " (";
    for (std::size_t i = 0; i < option.choices.size(); ++i) {
      text += fmt::format("{}{}", i > 0 ? " | " : "", option.choices[i]);
    }
    text += ')';
  }
  if (!option.preset.empty()) text += fmt::format(", {} unless stated", option.preset);
  return text;
}

std::string policies_text() {
  TextTable table({{"name", Align::kLeft}, {"what it recomputes", Align::kLeft, 70}});
  for (const Policy& policy : policies()) {
    table.add_row({std::string(policy.name), std::string(policy.summary)});
    for (const OptionSpec& option : policy.options) table.add_detail(option_text(option));
  }
  return table.render(kWidth);
}

std::string allocators() {
  TextTable table({{"name", Align::kLeft}, {"how it hands out HBM", Align::kLeft, 70}});
  for (const sim::AllocatorKind& kind : sim::allocator_kinds()) {
    table.add_row({std::string(kind.name), std::string(kind.summary)});
    for (const sim::AllocatorSetting& setting : kind.settings) {
      table.add_detail(fmt::format("{}: {}, {} unless stated", setting.name, setting.text,
                                   setting.default_value));
    }
  }
  return table.render(kWidth);
}

std::string presets_text() {
  TextTable table({{"preset", Align::kLeft}, {"described by", Align::kLeft, 70}});
  for (const scenarios::Preset& preset : scenarios::presets()) {
    const std::size_t end = preset.summary.find('\n');
    table.add_row({std::string(preset.name), std::string(preset.paper)});
    table.add_detail(std::string(preset.summary.substr(0, end)));
    table.add_detail(std::string(preset.summary.substr(end + 1)));
    std::string settings;
    if (!preset.checkpoint.empty()) {
      settings = fmt::format("sets checkpoint: {} (unless that is written)", preset.checkpoint);
    }
    for (const scenarios::PresetSetting& setting : preset.settings) {
      settings +=
          fmt::format("{}{}: {}", settings.empty() ? "sets " : ", ", setting.key, setting.value);
    }
    table.add_detail(settings);
  }
  return table.render(kWidth);
}

// Every key of a scenario by section.
std::string keys() {
  TextTable table({{"section", Align::kLeft}, {"", Align::kLeft, 70}});
  for (const scenarios::Section& section : scenarios::sections()) {
    table.add_row({std::string(section.name), std::string(section.summary)});
    for (const OptionSpec& option : section.options) table.add_detail(option_text(option));
  }
  return table.render(kWidth);
}

std::string options_text(const scenarios::Section& section) {
  std::string out;
  for (const OptionSpec& option : section.options) {
    for (const std::string& line : wrap(option_text(option), kWidth - 4))
      out += "    " + line + '\n';
  }
  return out;
}

// What a strategy is made of.
std::string strategies() {
  std::string out =
      "A strategy has a name and any of the sections of its scenario; these decide what it keeps,\n"
      "recomputes and moves.\n\ncheckpoint: POLICY, or {policy: POLICY, OPTION: VALUE}\n\n";
  out += policies_text();
  if (const scenarios::Section* offload = scenarios::find_section("offload")) {
    out += fmt::format("\noffload: PRESET, or a mapping that says {}\n\n", offload->summary);
    out += presets_text() + '\n';
    out += options_text(*offload);
  }
  for (const char* name : {"offload.activations", "offload.parameters"}) {
    const scenarios::Section* moved = scenarios::find_section(name);
    if (moved == nullptr) continue;
    out += fmt::format("\n{}: PLACE, or a mapping: {}\n\n", name, moved->summary);
    out += options_text(*moved);
  }
  return out;
}

// The names of a topic in the order of its table.
using Names = std::vector<std::string>;

Names model_names() {
  Names names;
  for (const EmbeddedFile& file : model_files()) names.emplace_back(file.name);
  return names;
}

Names device_names() {
  Names names;
  for (const EmbeddedFile& file : device_files()) names.emplace_back(file.name);
  return names;
}

template <class Row>
Names names_of(std::span<const Row> rows) {
  Names names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return names;
}

struct Topic {
  const char* name;
  const char* summary;
  std::string (*text)();
  Names (*names)();
};

constexpr auto kTopics = std::to_array<Topic>({
    {"models", "networks that `model:` may name", models, model_names},
    {"hardware", "GPUs, hosts, links and drives that `hardware:` may name", hardware, device_names},
    {"policies", "what `checkpoint:` may name", policies_text, [] { return names_of(policies()); }},
    {"strategies", "what a strategy may say; presets that `offload:` may name", strategies,
     [] { return names_of(scenarios::presets()); }},
    {"allocators", "what `allocator:` may name", allocators,
     [] { return names_of(sim::allocator_kinds()); }},
    {"keys", "every key of a scenario, with its default; its sections", keys,
     [] { return names_of(scenarios::sections()); }},
});

// Every topic with its names.
std::string topics_text() {
  TextTable table({{"topic", Align::kLeft}, {"", Align::kLeft}});
  for (const Topic& topic : kTopics) {
    table.add_row({topic.name, topic.summary});
    std::string names;
    for (const std::string& name : topic.names()) names += (names.empty() ? "" : ", ") + name;
    table.add_detail(names);
  }
  return table.render(kWidth) + "\ntidemark list TOPIC explains each of them\n";
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("list", "show the names that a scenario may use");
  command.require_subcommand(0, 1);
  for (const Topic& topic : kTopics) {
    CLI::App& listed = *command.add_subcommand(topic.name, topic.summary);
    listed.callback([&topic, &action] {
      action = [&topic] {
        write_output(std::string(kStandardOutput), topic.text());
        return ExitStatus::kOk;
      };
    });
  }
  // Called after the topic's own, if one was named.
  command.callback([&command, &action] {
    if (!command.get_subcommands().empty()) return;
    action = [] {
      write_output(std::string(kStandardOutput), topics_text());
      return ExitStatus::kOk;
    };
  });
  command.footer(
      "Examples:\n"
      "  tidemark list                    every topic with its names\n"
      "  tidemark list models\n"
      "  tidemark list hardware | grep h100");
}

}  // namespace tidemark::tools
