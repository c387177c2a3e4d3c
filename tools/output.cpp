#include "tools/output.hpp"

#include <cerrno>
#include <cstdio>
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

}  // namespace tidemark::tools
