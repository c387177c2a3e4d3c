#include "tools/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "tools/user_error.hpp"

namespace tidemark::tools {
namespace {

// A file that is deleted again unless it was given its final name. Where the file system can, it
// has no name at all until it is whole, so that a killed run leaves nothing.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string target)
      : target_(std::move(target)),
        path_(fmt::format("{}.tidemark-{}", target_, ::getpid())),
        descriptor_(open_unnamed()) {
    if (descriptor_ >= 0) return;
    named_ = true;
    descriptor_ = create();
    if (descriptor_ < 0 && errno == EEXIST) {  // left by a killed run that had our process id
      ::unlink(path_.c_str());
      descriptor_ = create();
    }
    if (descriptor_ < 0) fail(errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (named_ && !renamed_) ::unlink(path_.c_str());
  }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void take_final_name() {
    if (::fsync(descriptor_) != 0) fail(errno);
    if (!named_) give_name();
    const int status = ::close(descriptor_);
    descriptor_ = -1;
    if (status != 0) fail(errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail(errno);
    renamed_ = true;
  }

 private:
  int open_unnamed() const {
    const std::size_t slash = target_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
    return ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  }
  void give_name() {
    const std::string open_file = fmt::format("/proc/self/fd/{}", descriptor_);
    const auto link = [&] {
      return ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW);
    };
    int status = link();
    if (status != 0 && errno == EEXIST) {  // left by a killed run that had our process id
      ::unlink(path_.c_str());
      status = link();
    }
    if (status != 0) fail(errno);
    named_ = true;
  }
  int create() const {
    return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  [[noreturn]] void fail(int error) const {
    throw UserError(
        fmt::format("cannot write '{}': {}", target_, std::generic_category().message(error)));
  }

  std::string target_;
  std::string path_;
  int descriptor_;
  bool named_ = false;
  bool renamed_ = false;
};

// What a symbolic link leads to, which need not be there; a loop of links stays what it is.
std::string behind_links(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // as Linux follows
  fs::path at = path;
  std::error_code none;
  for (int i = 0; i < kMostLinks && fs::is_symlink(at, none); ++i) {
    at = at.parent_path() / fs::read_symlink(at, none);
  }
  return at.string();
}

}  // namespace

void write_file(const std::string& path, std::string_view text) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    throw UserError(fmt::format("cannot write '{}': it is a folder", path));
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) {
    throw UserError(
        fmt::format("cannot write '{}': {}", path, std::generic_category().message(errno)));
  }
  // A device or a pipe has no folder to be renamed in: /dev/stdout, /dev/null, a process
  // substitution.
  if (exists && !S_ISREG(status.st_mode)) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    const bool opened = file != nullptr;
    const bool written = opened && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = opened && std::fclose(file) == 0;
    if (!written || !closed) {
      throw UserError(
          fmt::format("cannot write '{}': {}", path, std::generic_category().message(errno)));
    }
    return;
  }
  TemporaryFile file(behind_links(path));
  file.write(text);
  file.take_final_name();
}

}  // namespace tidemark::tools
