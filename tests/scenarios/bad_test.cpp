// Every file of tests/bad is refused with the one diagnostic that its first line announces.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"

namespace tidemark::scenarios {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> bad_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(test::source_file("tests/bad"))) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string announced(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::string prefix = "# expect: ";
  return line.starts_with(prefix) ? line.substr(prefix.size()) : "no line '# expect: ...'";
}

// "12:11: error: message", or "error: message" where there is no place; "name.json:12:11: ..." for
// a place in a file that the scenario names.
std::string found(const Diagnostic& diagnostic) {
  const Mark& mark = diagnostic.mark;
  std::string place;
  if (mark.line > 0) place = std::to_string(mark.line) + ":" + std::to_string(mark.column) + ": ";
  const fs::path file = mark.source ? mark.source->name : std::string();
  const bool named = file.extension() == ".json" || file.extension() == ".yml";
  if (named) place.insert(0, file.filename().string() + ":");
  std::string first_line = render(diagnostic);
  first_line = first_line.substr(0, first_line.find('\n'));
  return place + first_line.substr(first_line.find("error: "));
}

std::vector<std::string> load_and_fail(const std::string& path) {
  std::vector<std::string> all;
  try {
    load(path);
  } catch (const ScenarioError& error) {
    for (const Diagnostic& each : error.diagnostics()) all.push_back(found(each));
  }
  return all;
}

TEST_CASE("every bad scenario is refused with the diagnostic that it announces, and no other") {
  const std::vector<fs::path> files = bad_files();
  CHECK(files.size() >= 100);
  for (const fs::path& path : files) {
    INFO(path.string());
    const std::string expected = announced(path);
    const std::vector<std::string> diagnostics = load_and_fail(path.string());
    REQUIRE(diagnostics.size() == 1);
    CHECK(diagnostics[0] == expected);
  }
}

}  // namespace
}  // namespace tidemark::scenarios
