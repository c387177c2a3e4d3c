#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <string_view>

#include "hardware/decimal.hpp"
#include "scenarios/suggest.hpp"
#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/user_error.hpp"
#include "tools/validation/validation.hpp"

namespace tidemark::tools {

AddCommand add_validate_model;

namespace {

struct ValidateModelArguments {
  std::vector<std::string> sources;
  std::string json;
  bool csv = false;
  bool markdown = false;
};

void refuse_unknown(const std::vector<std::string>& wanted) {
  std::vector<std::string_view> known;
  for (const EmbeddedFile& file : measured_files()) known.push_back(file.name);
  for (const std::string& name : wanted) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw UserError(
        fmt::format("unknown source {}: {}", in_quotes(name), scenarios::suggestion(name, known)));
  }
}

ExitStatus validate_model(const ValidateModelArguments& arguments) {
  refuse_unknown(arguments.sources);
  Comparison comparison;
  comparison.sources = measured_sources(arguments.sources);
  Progress progress(comparison.sources.size());
  std::size_t finished = 0;
  for (const MeasuredSource& source : comparison.sources) {
    const std::vector<ComparedFigure> figures = compare(source);
    comparison.figures.insert(comparison.figures.end(), figures.begin(), figures.end());
    progress.finished(++finished);
  }
  if (!arguments.json.empty()) write_output(arguments.json, validation_json(comparison));
  if (arguments.json == kStandardOutput) return ExitStatus::kOk;
  const auto write = arguments.csv        ? validation_csv
                     : arguments.markdown ? validation_markdown
                                          : validation_text;
  write_output(std::string(kStandardOutput), write(comparison));
  return ExitStatus::kOk;
}

}  // namespace

void add_validate_model(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("validate-model", "hold the simulation against published measurements");
  auto arguments = std::make_shared<ValidateModelArguments>();
  command.add_option("--source", arguments->sources, "only this source; may be repeated")
      ->type_name("NAME");
  add_file_option(command, "--json", arguments->json,
                  "write every figure as JSON; - for standard output");
  CLI::Option* csv = command.add_flag("--csv", arguments->csv, "print a line a figure as CSV");
  command.add_flag("--markdown", arguments->markdown, "print the tables as Markdown")
      ->excludes(csv);
  command.footer(
      "Examples:\n"
      "  tidemark validate-model\n"
      "  tidemark validate-model --source torchtune --source litgpt-thunder\n"
      "  tidemark validate-model --csv > figures.csv");
  command.callback(
      [arguments, &action] { action = [arguments] { return validate_model(*arguments); }; });
}

}  // namespace tidemark::tools
