#include "tools/atomic_file.hpp"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tools/user_error.hpp"

namespace fs = std::filesystem;
using tidemark::tools::UserError;
using tidemark::tools::write_file;

namespace {

// An empty folder of this test alone, gone when the test ends.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "tidemark-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string refusal(const std::string& path, std::string_view text) {
  try {
    write_file(path, text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// No file can grow above `bytes`, as on a disk with that much room.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace

TEST_CASE("a file is written whole, and replaces what was there") {
  const Folder folder;
  const std::string path = folder.file("runs.json");
  write_file(path, "first");
  CHECK(read(path) == "first");
  write_file(path, "second, and longer");
  CHECK(read(path) == "second, and longer");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a symbolic link stays one, and what it leads to is written") {
  const Folder folder;
  write_file(folder.file("there"), "before");
  fs::create_symlink("there", folder.file("link"));
  fs::create_symlink(folder.file("link"), folder.file("link to it"));
  fs::create_symlink("not there", folder.file("dangling"));
  write_file(folder.file("link to it"), "after");
  write_file(folder.file("dangling"), "new");
  CHECK(read(folder.file("there")) == "after");
  CHECK(read(folder.file("not there")) == "new");
  for (const char* link : {"link", "link to it", "dangling"}) {
    CHECK(fs::is_symlink(folder.file(link)));
  }
  CHECK(folder.entries() == 5);
}

TEST_CASE("a write that fails half way leaves the old file and nothing else") {
  const Folder folder;
  const std::string path = folder.file("runs.json");
  write_file(path, "old");
  std::string message;
  {
    const SmallDisk disk(1000);
    message = refusal(path, std::string(5000, 'x'));
  }
  CHECK(message == "cannot write '" + path + "': File too large");
  CHECK(read(path) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a full device is reported") {
  CHECK(refusal("/dev/full", "text") == "cannot write '/dev/full': No space left on device");
}

TEST_CASE("a folder, a missing folder and a file in the place of a folder are refused") {
  const Folder folder;
  const std::string here = folder.file("");
  CHECK(refusal(here, "text") == "cannot write '" + here + "': it is a folder");
  const std::string missing = folder.file("none/runs.json");
  CHECK(refusal(missing, "text") == "cannot write '" + missing + "': No such file or directory");
  write_file(folder.file("file"), "text");
  const std::string below = folder.file("file/runs.json");
  CHECK(refusal(below, "text") == "cannot write '" + below + "': Not a directory");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a temporary file that a killed run left behind does not stand in the way") {
  const Folder folder;
  const std::string path = folder.file("runs.json");
  std::ofstream(path + ".tidemark-" + std::to_string(::getpid())) << "half";
  write_file(path, "whole");
  CHECK(read(path) == "whole");
  CHECK(folder.entries() == 1);
}
