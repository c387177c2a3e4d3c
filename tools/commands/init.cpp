#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "tools/commands/command.hpp"
#include "tools/output.hpp"
#include "tools/starter.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {

AddCommand add_init;

namespace {

struct InitArguments {
  StarterChoices choices;
  std::string out = std::string(kStandardOutput);
};

// The same choices as a line to be pasted: what was left out is left out.
std::string command_line(const StarterChoices& choices) {
  std::string line = fmt::format("tidemark init --model {} --gpu {}", choices.model, choices.gpu);
  const auto word = [&](const char* option, const std::string& value) {
    if (!value.empty()) line += fmt::format(" {} {}", option, value);
  };
  const auto number = [&](const char* option, std::optional<std::int64_t> value) {
    if (value) line += fmt::format(" {} {}", option, *value);
  };
  word("--host", choices.host);
  word("--pcie", choices.pcie);
  word("--ssd", choices.ssd);
  number("--drives", choices.drives);
  number("--micro-batch", choices.micro_batch);
  number("--micro-batches", choices.micro_batches);
  number("--sequence", choices.sequence);
  word("--precision", choices.precision);
  word("--optimizer", choices.optimizer);
  return line;
}

ExitStatus init(const InitArguments& arguments) {
  const std::string text = starter_text(arguments.choices, command_line(arguments.choices));
  std::error_code none;
  if (arguments.out != kStandardOutput && std::filesystem::exists(arguments.out, none)) {
    throw UserError("--out: '" + arguments.out + "' is there already");
  }
  write_output(arguments.out, text);
  return ExitStatus::kOk;
}

}  // namespace

void add_init(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("init", "write a scenario to begin with, explained");
  const auto arguments = std::make_shared<InitArguments>();
  StarterChoices& choices = arguments->choices;
  const auto word = [&](const char* option, std::string& target, const char* text) {
    return command.add_option(option, target, text)->type_name("NAME");
  };
  const auto number = [&](const char* option, std::optional<std::int64_t>& target,
                          const char* text) {
    command.add_option(option, target, text)->type_name("N")->check([](const std::string& given) {
      const bool counts = std::strtoll(given.c_str(), nullptr, 10) >= 1;
      return counts ? std::string() : given + " is less than 1";
    });
  };
  word("--model", choices.model, "what is trained: tidemark list models")->required();
  word("--gpu", choices.gpu, "on which card: tidemark list hardware")->required();
  word("--host", choices.host, "the machine around it; what the card usually sits in");
  word("--pcie", choices.pcie, "the link between them; that of the card");
  word("--ssd", choices.ssd, "the drive; what the card usually comes with");
  number("--drives", choices.drives, "how many of them; 1");
  number("--micro-batch", choices.micro_batch, "sequences at once; 1");
  number("--micro-batches", choices.micro_batches, "passes before each optimizer step; 1");
  number("--sequence", choices.sequence, "tokens a sequence; 2048, if the model takes as many");
  word("--precision", choices.precision, "bf16-mixed, or another of tidemark list keys");
  word("--optimizer", choices.optimizer, "adamw, or another of tidemark list keys");
  command
      .add_option("--out", arguments->out,
                  "the file to write, which must not be there; standard output unless stated")
      ->type_name("FILE")
      ->check(names_a_file);
  command.footer(
      "Examples:\n"
      "  tidemark init --model llama-3-8b --gpu rtx-4090 --out mine.yaml\n"
      "  tidemark init --model gpt2-1.5b --gpu a100-40gb-pcie --micro-batch 8 --drives 4");
  command.callback([arguments, &action] { action = [arguments] { return init(*arguments); }; });
}

}  // namespace tidemark::tools
