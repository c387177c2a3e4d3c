#include "tools/manual/command_tree.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "graph/policies/policy.hpp"
#include "hardware/embedded.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/options.hpp"
#include "tools/out/out.hpp"

namespace tidemark::tools {
namespace {

using Words = std::vector<std::string>;

Words names_in(std::span<const EmbeddedFile> files) {
  Words names;
  for (const EmbeddedFile& file : files) names.emplace_back(file.name);
  return names;
}

Words device_names_of(std::string_view kind) {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  Words names;
  for (const scenarios::CatalogueEntry& entry : catalogue.devices()) {
    if (entry.kind == kind) names.push_back(entry.name);
  }
  return names;
}

Words choices_of(std::string_view section, std::string_view name) {
  for (const OptionSpec& option : scenarios::options_of(section)) {
    if (option.name == name) return {option.choices.begin(), option.choices.end()};
  }
  return {};
}

Words out_file_names() {
  Words names;
  for (const OutFile& file : out_files()) names.emplace_back(file.name);
  return names;
}

// Options whose values are names of a table: too many for their help, not for a shell.
struct NamedValues {
  const char* path;
  const char* option;
  Words (*names)();
  bool or_file = false;
};

constexpr auto kNamedValues = std::to_array<NamedValues>({
    {"show model", "NAME", [] { return names_in(model_files()); }, true},
    {"show hardware", "NAME", [] { return names_in(device_files()); }, true},
    {"init", "--model", [] { return names_in(model_files()); }},
    {"init", "--gpu", [] { return device_names_of("gpu"); }},
    {"init", "--host", [] { return device_names_of("host"); }},
    {"init", "--pcie", [] { return device_names_of("pcie"); }},
    {"init", "--ssd", [] { return device_names_of("ssd"); }},
    {"init", "--precision", [] { return choices_of("training", "precision"); }},
    {"init", "--optimizer", [] { return choices_of("training", "optimizer"); }},
    {"run", "--out-files", out_file_names},
    {"compare", "--out-files", out_file_names},
    {"calibrate", "--hardware", [] { return device_names_of("gpu"); }},
    {"compare", "--policies",
     [] {
       Words names;
       for (const Policy& policy : policies()) names.emplace_back(policy.name);
       return names;
     }},
});

// CLI11 adds the choices of a checked option to its type: "KIND:{timeline,pareto}".
void split_type(const std::string& type, ManualOption& option) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  option.value = type.substr(0, std::min(type.find(':'), open));
  if (open == std::string::npos || close == std::string::npos) return;
  std::size_t begin = open + 1;
  while (begin < close) {
    const std::size_t end = std::min(type.find(',', begin), close);
    option.choices.push_back(type.substr(begin, end - begin));
    begin = end + 1;
  }
}

ManualOption describe_option(const std::string& path, const CLI::Option& option) {
  ManualOption out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.text = option.get_description();
  const bool positional = out.names.empty();
  if (option.get_items_expected_max() > 0) {
    split_type(option.get_type_name(), out);
    out.is_file = out.value.find("FILE") != std::string::npos;
    out.is_list = out.value.ends_with(",…");
  }
  if (positional) out.value = option.get_name(true, false);
  for (const NamedValues& row : kNamedValues) {
    if (path != row.path) continue;
    const std::string_view name = row.option;
    const bool same = positional ? out.value == name : std::ranges::count(out.names, name) > 0;
    if (!same) continue;
    out.choices = row.names();
    out.is_file = row.or_file;
  }
  if (positional && out.choices.empty()) out.is_file = true;
  return out;
}

void add_commands(const CLI::App& app, const std::string& path, std::vector<ManualCommand>& out) {
  ManualCommand command;
  command.path = path;
  command.text = app.get_description();
  command.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    command.options.push_back(describe_option(path, *option));
  }
  std::vector<const CLI::App*> below;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_group().empty()) continue;
    below.push_back(each);
    command.below.push_back(each->get_name());
  }
  out.push_back(std::move(command));
  for (const CLI::App* each : below) {
    add_commands(*each, path.empty() ? each->get_name() : path + " " + each->get_name(), out);
  }
}

}  // namespace

std::vector<ManualCommand> command_tree(const CLI::App& app) {
  std::vector<ManualCommand> commands;
  add_commands(app, "", commands);
  return commands;
}

}  // namespace tidemark::tools
