#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "scenarios/parse.hpp"

namespace tidemark::scenarios {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  Mark whole;
  whole.source = std::make_shared<const Source>(Source{path, {}, 0});
  std::vector<Diagnostic> diagnostics;
  diagnostics.emplace_back(whole, message);
  throw ScenarioError(std::move(diagnostics), 0);
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, const std::string& what,
                                     std::string& reason) {
  const auto fail = [&](std::string why) {
    reason = std::move(why);
    return std::nullopt;
  };
  struct stat status {};
  if (path.find('\0') != std::string::npos) return fail("not a file name");
  if (::stat(path.c_str(), &status) != 0) {
    return fail(std::string("cannot read: ") + std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) return fail("cannot read: it is a folder, not " + what);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(std::string("cannot read: ") + std::strerror(errno));
  std::string text(kMostFileBytes + 1, '\0');  // one more, to notice what is too long
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return fail(std::string("cannot read: ") + std::strerror(errno));
  if (text.size() > kMostFileBytes) {
    return fail("too long for " + what + ": more than " + std::to_string(kMostFileBytes) +
                " bytes");
  }
  return text;
}

std::shared_ptr<const Source> read_source(const std::string& path, const std::string& what) {
  std::string reason;
  std::optional<std::string> text = read_file(path, what, reason);
  if (!text) refuse(path, reason);
  return std::make_shared<const Source>(Source{path, std::move(*text), 0});
}

}  // namespace tidemark::scenarios
