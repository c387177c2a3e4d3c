#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/options.hpp"
#include "tools/commands/command.hpp"
#include "tools/listing.hpp"
#include "tools/output.hpp"
#include "tools/text_table.hpp"

namespace tidemark::tools {

AddCommand add_list;

namespace {

std::string option_text(const ListedOption& option) {
  std::string text = fmt::format("{}: {}", option.name, option.text);
  if (!option.choices.empty()) text += fmt::format(" ({})", fmt::join(option.choices, " | "));
  if (!option.preset.empty()) text += fmt::format(", {} unless stated", option.preset);
  return text;
}

// A line a row, and below it its options; rows of several kinds say which.
std::string rows_text(std::span<const ListedRow> rows, const char* names,
                      const char* descriptions) {
  const bool with_kind = std::ranges::any_of(
      rows, [&](const ListedRow& row) { return row.kind != rows.front().kind; });
  std::vector<TextColumn> columns = {{names, Align::kLeft}};
  if (with_kind) columns.push_back({"kind", Align::kLeft});
  columns.push_back({descriptions, Align::kLeft, 70});
  TextTable table(std::move(columns));
  for (const ListedRow& row : rows) {
    std::vector<std::string> cells = {row.name};
    if (with_kind) cells.push_back(row.kind);
    cells.push_back(row.description);
    table.add_row(std::move(cells));
    for (const ListedOption& option : row.options) table.add_detail(option_text(option));
  }
  return table.render(kTerminalWidth);
}

std::string presets_text() {
  TextTable table({{"preset", Align::kLeft}, {"described by", Align::kLeft, 70}});
  for (const ListedRow& row : preset_rows()) {
    table.add_row({row.name, row.source});
    const std::size_t end = row.description.find('\n');
    table.add_detail(row.description.substr(0, end));
    table.add_detail(row.description.substr(end + 1));
    table.add_detail("sets " + row.sets);
  }
  return table.render(kTerminalWidth);
}

// What a strategy is made of.
std::string strategies_text(std::span<const ListedRow> rows) {
  std::string out =
      "A strategy has a name and any of the sections of its scenario; these decide what it keeps,\n"
      "recomputes and moves.\n\ncheckpoint: POLICY, or {policy: POLICY, OPTION: VALUE}\n\n";
  out += rows_text(policy_rows(), "name", "what it recomputes");
  for (const ListedRow& row : rows) {
    if (row.kind != "section") continue;
    const bool offload = row.name == "offload";
    out += fmt::format(
        "\n{}: {}{}\n\n", row.name,
        offload ? "PRESET, or a mapping that says " : "PLACE, or a mapping: ", row.description);
    if (offload) out += presets_text() + '\n';
    for (const ListedOption& option : row.options) {
      for (const std::string& line : wrap(option_text(option), kTerminalWidth - 4)) {
        out += "    " + line + '\n';
      }
    }
  }
  return out;
}

// Strategies are of several parts; a table is all that there is to the others.
bool is_strategies(const Topic& topic) { return std::string_view(topic.name) == "strategies"; }

std::string text_of(const Topic& topic) {
  const std::vector<ListedRow> rows = topic.rows();
  return is_strategies(topic) ? strategies_text(rows)
                              : rows_text(rows, topic.names, topic.descriptions);
}

// Every topic with its names.
std::string topics_text() {
  TextTable table({{"topic", Align::kLeft}, {"", Align::kLeft}});
  for (const Topic& topic : topics()) {
    table.add_row({topic.name, topic.summary});
    std::string names;
    for (const ListedRow& row : topic.rows()) {
      if (is_strategies(topic) && row.kind != "preset") continue;
      names += (names.empty() ? "" : ", ") + row.name;
    }
    table.add_detail(names);
  }
  return table.render(kTerminalWidth) + "\ntidemark list TOPIC explains each of them\n";
}

struct ListArguments {
  std::string json;
  std::string csv;
};

ExitStatus list(const Topic* topic, const ListArguments& arguments) {
  const auto outputs =
      std::to_array<Output>({{"--json", arguments.json}, {"--csv", arguments.csv}});
  refuse_same_target(outputs);
  const std::span<const Topic> listed = topic == nullptr ? topics() : std::span(topic, 1);
  if (!arguments.json.empty()) write_output(arguments.json, listing_json(listed));
  if (!arguments.csv.empty()) write_output(arguments.csv, listing_csv(listed));
  if (takes_standard_output(outputs)) return ExitStatus::kOk;
  write_output(std::string(kStandardOutput), topic == nullptr ? topics_text() : text_of(*topic));
  return ExitStatus::kOk;
}

void add_files(CLI::App& command, ListArguments& arguments) {
  add_file_option(command, "--json", arguments.json,
                  "write the rows as JSON; - for standard output in the place of the text");
  add_file_option(command, "--csv", arguments.csv,
                  "write a line a row and a line an option as CSV; - for standard output in the "
                  "place of the text");
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("list", "show the names that a scenario may use");
  command.require_subcommand(0, 1);
  auto arguments = std::make_shared<ListArguments>();
  add_files(command, *arguments);
  for (const Topic& topic : topics()) {
    CLI::App& listed = *command.add_subcommand(topic.name, topic.summary);
    add_files(listed, *arguments);
    listed.callback([&topic, arguments, &action] {
      action = [&topic, arguments] { return list(&topic, *arguments); };
    });
  }
  // Called after the topic's own, if one was named.
  command.callback([&command, arguments, &action] {
    if (!command.get_subcommands().empty()) return;
    action = [arguments] { return list(nullptr, *arguments); };
  });
  command.footer(
      "Examples:\n"
      "  tidemark list                    every topic with its names\n"
      "  tidemark list models\n"
      "  tidemark list hardware | grep h100\n"
      "  tidemark list policies --csv policies.csv");
}

}  // namespace tidemark::tools
