#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string>

#include "tools/commands/command.hpp"
#include "tools/out/out.hpp"

namespace tidemark::tools {

std::shared_ptr<ScenarioArguments> add_scenario_arguments(CLI::App& command) {
  auto arguments = std::make_shared<ScenarioArguments>();
  command.add_option("SCENARIO", arguments->files, "scenario files (YAML)")->required();
  command
      .add_option("--strategy", arguments->strategies,
                  "only the strategy of this name; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--set", arguments->overrides,
                  "put this in the place of what the scenario says, "
                  "such as training.micro_batch=4; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  return arguments;
}

void add_out_option(CLI::App& command, OutArguments& arguments) {
  std::string files;
  for (const OutFile& file : out_files()) {
    files += fmt::format("{}{} ({})", files.empty() ? "" : ", ", file.name, file.summary);
  }
  CLI::Option* const folder =
      command
          .add_option("--out", arguments.folder,
                      fmt::format("write into a folder, made if missing: {}", files))
          ->type_name("FOLDER")
          ->check([](const std::string& text) { return text.empty() ? "names no folder" : ""; });
  command
      .add_option("--out-files", arguments.files,
                  "only these of them, separated by commas: trace.json,timeline.csv; of compare "
                  "those of single runs are written for the front alone unless they are named here")
      ->delimiter(',')
      ->type_name("NAME,…")
      ->allow_extra_args(false)
      ->needs(folder);
}

}  // namespace tidemark::tools
