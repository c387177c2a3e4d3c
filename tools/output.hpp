#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tidemark::tools {

inline constexpr std::string_view kStandardOutput = "-";

// To standard output where the target is "-", otherwise to a file that is whole or not there
// (atomic_file.hpp). Throws UserError when it cannot be written.
void write_output(const std::string& target, std::string_view text);

// Throws UserError where an output would take the place of a file that is read.
void refuse_overwriting(std::string_view option, const std::string& target,
                        std::span<const std::string> inputs);

// Throws UserError where --json and --csv name the same target.
void refuse_same_target(const std::string& json, const std::string& csv);

// Checks an output option's argument as CLI11 wants it: the complaint, or nothing.
inline std::string names_a_file(const std::string& text) {
  return text.empty() ? "names no file" : "";
}

}  // namespace tidemark::tools
