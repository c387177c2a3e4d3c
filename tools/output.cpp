#include "tools/output.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "tools/atomic_file.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {

void write_output(const std::string& target, std::string_view text) {
  if (target != kStandardOutput) {
    write_file(target, text);
    return;
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw UserError("cannot write to standard output: " + std::generic_category().message(errno));
  }
}

namespace {

// However it is spelt.
std::string where(const std::string& target) {
  if (target == kStandardOutput) return target;
  std::error_code none;
  const std::filesystem::path path =
      std::filesystem::weakly_canonical(std::filesystem::absolute(target, none), none);
  return none ? target : path.string();
}

}  // namespace

void refuse_same_target(std::span<const Output> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Output& one = outputs[i];
    if (one.target.empty()) continue;
    for (const Output& other : outputs.subspan(i + 1)) {
      if (other.target.empty() || where(one.target) != where(other.target)) continue;
      const std::string options =
          std::string(one.option) + " and " + std::string(other.option) + " cannot both ";
      if (one.target == kStandardOutput) throw UserError(options + "go to standard output");
      throw UserError(options + "be written to '" + one.target + "'");
    }
  }
}

bool takes_standard_output(std::span<const Output> outputs) {
  return std::ranges::any_of(outputs,
                             [](const Output& output) { return output.target == kStandardOutput; });
}

void refuse_overwriting(std::string_view option, const std::string& target,
                        std::span<const std::string> inputs) {
  if (target.empty() || target == kStandardOutput) return;
  for (const std::string& input : inputs) {
    std::error_code none;
    if (std::filesystem::equivalent(target, input, none) && !none) {
      throw UserError(std::string(option) + ": '" + target + "' is what the command reads");
    }
  }
}

std::string names_a_file(const std::string& text) { return text.empty() ? "names no file" : ""; }

void add_file_option(CLI::App& command, const std::string& name, std::string& target,
                     const std::string& description) {
  command.add_option(name, target, description)->type_name("FILE|-")->check(names_a_file);
}

}  // namespace tidemark::tools
