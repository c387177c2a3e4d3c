#pragma once

#include <string>
#include <string_view>

namespace tidemark::tools {

inline constexpr std::string_view kStandardOutput = "-";

// To standard output where the target is "-", otherwise to a file that is whole or not there
// (atomic_file.hpp). Throws UserError when it cannot be written.
void write_output(const std::string& target, std::string_view text);

}  // namespace tidemark::tools
