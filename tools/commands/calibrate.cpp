#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scenarios/catalogue.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/load.hpp"
#include "scenarios/parse.hpp"
#include "scenarios/sections.hpp"
#include "tools/calibration/fit.hpp"
#include "tools/calibration/report.hpp"
#include "tools/calibration/simulated_csv.hpp"
#include "tools/calibration/timings.hpp"
#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {

AddCommand add_calibrate;

namespace {

struct CalibrateArguments {
  std::string file;
  std::string hardware = "a100-80gb-sxm";
  std::string out;
  std::string json;
  std::string csv;
  bool simulate = false;
  SimulatedCsvOptions simulated;
  FitOptions options;
};

Machine read_machine(const std::string& name) {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  scenarios::Value section;
  section.kind = scenarios::Value::Kind::kScalar;
  section.text = name;
  section.mark.source =
      std::make_shared<const scenarios::Source>(scenarios::Source{"--hardware " + name, "", 0});
  Machine machine = scenarios::read_hardware(section, catalogue, diagnostics);
  diagnostics.throw_if_any();
  return machine;
}

// "timings.csv: error: what", of the table as a whole.
[[noreturn]] void refuse_table(const std::shared_ptr<const scenarios::Source>& source,
                               const std::string& what) {
  scenarios::Mark mark;
  mark.source = source;
  throw scenarios::ScenarioError({scenarios::Diagnostic(mark, what)}, 0);
}

Fit fit_with_progress(const std::shared_ptr<const scenarios::Source>& source, const Machine& base,
                      const std::vector<Timing>& timings, const CalibrateArguments& arguments) {
  FitOptions options = arguments.options;
  Progress progress("steps simulated");
  options.simulated = [&](std::size_t steps) { progress.finished(steps); };
  try {
    return fit(base, timings, options);
  } catch (const FitError& error) {
    refuse_table(source, error.what());
  }
}

ExitStatus calibrate(const CalibrateArguments& arguments) {
  if (!arguments.simulate && scenarios::names_user_file(arguments.hardware)) {
    throw UserError(
        "--hardware: expected a name of the catalogue, on which a machine file stands; with "
        "--simulate it may be a file");
  }
  const auto outputs = std::to_array<Output>(
      {{"--out", arguments.out}, {"--json", arguments.json}, {"--csv", arguments.csv}});
  refuse_same_target(outputs);
  for (const Output& output : outputs) {
    refuse_overwriting(output.option, output.target, std::span(&arguments.file, 1));
  }
  const Machine base = read_machine(arguments.hardware);
  const auto source = scenarios::read_source(arguments.file, "a table of timings");
  if (arguments.simulate) {
    const std::string table = simulated_csv(source, base, arguments.simulated);
    write_output(arguments.out.empty() ? std::string(kStandardOutput) : arguments.out, table);
    return ExitStatus::kOk;
  }
  std::vector<std::string> inputs;
  const std::vector<Timing> timings = read_timings(source, &inputs);
  if (timings.empty()) {
    refuse_table(source, "no timings below the line that names the columns");
  }
  for (const Output& output : outputs) refuse_overwriting(output.option, output.target, inputs);
  const Fit result = fit_with_progress(source, base, timings, arguments);
  const std::string file = machine_file(
      result, arguments.hardware,
      fmt::format("tidemark calibrate {}, {} rows", arguments.file, result.used.size()));
  if (!arguments.out.empty()) write_output(arguments.out, file);
  if (!arguments.json.empty()) write_output(arguments.json, fit_json(result));
  if (!arguments.csv.empty()) write_output(arguments.csv, fit_csv(result));
  if (takes_standard_output(outputs)) return ExitStatus::kOk;
  std::string text = fit_text(result);
  if (!arguments.out.empty()) text += fmt::format("\nwrote {}\n", arguments.out);
  write_output(std::string(kStandardOutput), text);
  return ExitStatus::kOk;
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "calibrate", "fit a machine's figures to times that you measured on yours");
  auto arguments = std::make_shared<CalibrateArguments>();
  command.add_option("FILE", arguments->file, "CSV of kernel, copy and step times")->required();
  command
      .add_option("--hardware", arguments->hardware,
                  "the machine that it starts from; figures that are not fitted stay")
      ->type_name("BASE")
      ->capture_default_str();
  command.add_option("--out", arguments->out, "write a machine file; - for standard output")
      ->type_name("FILE.yaml|-");
  add_file_option(command, "--json", arguments->json,
                  "write the figures and the rows as JSON; - for standard output in the place of "
                  "the text");
  add_file_option(command, "--csv", arguments->csv,
                  "write a line a row as CSV; - for standard output in the place of the text");
  command
      .add_option("--fit", arguments->options.keys,
                  "fit only this figure, gpu.stream_efficiency; may be repeated")
      ->type_name("KEY");
  command
      .add_option("--hold-out", arguments->options.hold_out,
                  "keep back every Nth row of a kind, to check the fit; 0: none")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  CLI::Option* simulate = command.add_flag("--simulate", arguments->simulate,
                                           "fit nothing: print FILE with the times that --hardware "
                                           "would take, which may be a file here");
  for (const char* of_a_fit : {"--json", "--csv", "--fit", "--hold-out"}) {
    simulate->excludes(command.get_option(of_a_fit));
  }
  command
      .add_option("--noise", arguments->simulated.noise,
                  "with --simulate: relative standard deviation of a random factor on each time")
      ->type_name("SHARE")
      ->needs(simulate)
      ->check([](const std::string& text) {  // CLI::Range lets nan pass
        const double share = std::strtod(text.c_str(), nullptr);
        return share >= 0 && share <= 1 ? std::string() : text + " is no share from 0 to 1";
      });
  command.add_option("--seed", arguments->simulated.seed, "of that noise")
      ->type_name("N")
      ->needs(simulate)
      ->capture_default_str();
  command.footer(
      "Examples:\n"
      "  tidemark calibrate scenarios/timings.csv\n"
      "  tidemark calibrate mine.csv --hardware rtx-4090 --out my-gpu.yaml\n"
      "  tidemark calibrate mine.csv --fit gpu.stream_efficiency --fit gpu.launch_latency\n"
      "  tidemark calibrate mine.csv --hardware ./my-gpu.yaml --simulate     (what it takes "
      "there)\n"
      "\n"
      "Columns, in any order (cells that say nothing of a row's kind stay empty):\n"
      "  kind       matmul, stream, copy, drive, update, step\n"
      "  m n k      of a matmul; batch: default 1; dtype: bf16, fp16, fp32, tf32\n"
      "  bytes      of a stream: read and written together; of a copy or a drive: moved\n"
      "  direction  of a copy: h2d, d2h; of a drive: read, write\n"
      "  parameters of an update: one AdamW on the CPU, bf16-mixed\n"
      "  scenario   of a step: a file, whose first strategy was run\n"
      "  time       with its unit: 512 us");
  command.callback(
      [arguments, &action] { action = [arguments] { return calibrate(*arguments); }; });
}

}  // namespace tidemark::tools
