// Files that cannot be read as scenarios.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "scenarios/load.hpp"
#include "scenarios/parse.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

namespace fs = std::filesystem;

std::string error_of(const std::string& path) {
  try {
    load(path);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "loaded";
}

// A folder of its own, removed at the end.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(fs::temp_directory_path() / (name + "." + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string name() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST_CASE("a file that is not there is refused by name") {
  CHECK(error_of("/no/such/file.yaml") ==
        "/no/such/file.yaml: error: cannot read: No such file or directory");
  CHECK(error_of("").find("error: cannot read") != std::string::npos);
}

TEST_CASE("a folder is not a scenario") {
  const Folder folder("tidemark_source_folder");
  CHECK(error_of(folder.name()) ==
        folder.name() + ": error: cannot read: it is a folder, not a scenario");
}

TEST_CASE("a file without permission is refused") {
  const Folder folder("tidemark_source_permission");
  const std::string path = folder.file("secret.yaml", "model: gpt-7b\n");
  ::chmod(path.c_str(), 0);
  if (::access(path.c_str(), R_OK) == 0) return;  // the superuser may read it all the same
  CHECK(error_of(path) == path + ": error: cannot read: Permission denied");
}

TEST_CASE("an empty file is an empty scenario") {
  const Folder folder("tidemark_source_empty");
  const std::string path = folder.file("empty.yaml", "");
  CHECK(error_of(path) == path + ": error: the file is empty");
}

TEST_CASE("a file of a mebibyte is read, one of a byte more is refused") {
  const Folder folder("tidemark_source_long");
  const std::string most = folder.file("most.yaml", std::string(kMostFileBytes, '#'));
  CHECK(error_of(most) == most + ": error: the file is empty");
  const std::string over = folder.file("over.yaml", std::string(kMostFileBytes + 1, '#'));
  CHECK(error_of(over) == over + ": error: too long for a scenario: more than 1048576 bytes");
}

TEST_CASE("a device that never ends is refused, not read") {
  CHECK(error_of("/dev/zero") ==
        "/dev/zero: error: too long for a scenario: more than 1048576 bytes");
}

}  // namespace
}  // namespace tidemark::scenarios
