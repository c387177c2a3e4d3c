#pragma once

#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace tidemark::tools {

inline constexpr std::string_view kStandardOutput = "-";

// To standard output where the target is "-", otherwise to a file that is whole or not there
// (atomic_file.hpp). Throws UserError when it cannot be written.
void write_output(const std::string& target, std::string_view text);

// Throws UserError where an output would take the place of a file that is read.
void refuse_overwriting(std::string_view option, const std::string& target,
                        std::span<const std::string> inputs);

// An option that names what is written: a file, kStandardOutput, or nothing.
struct Output {
  std::string_view option;  // "--json"
  std::string target;
};

// Throws UserError where two of them name the same target.
void refuse_same_target(std::span<const Output> outputs);

// Whether one of them is standard output: then nothing else goes there.
bool takes_standard_output(std::span<const Output> outputs);

// Checks an output option's argument as CLI11 wants it: the complaint, or nothing.
std::string names_a_file(const std::string& text);

// An option `name` for a file that is written, or "-" for standard output.
void add_file_option(CLI::App& command, const std::string& name, std::string& target,
                     const std::string& description);

}  // namespace tidemark::tools
