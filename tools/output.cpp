#include "tools/output.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
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

void refuse_same_target(const std::string& one, const std::string& other,
                        std::string_view options) {
  if (one.empty() || one != other) return;
  if (one == kStandardOutput) {
    throw UserError(std::string(options) + " cannot both go to standard output");
  }
  throw UserError(std::string(options) + " cannot both be written to '" + one + "'");
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
