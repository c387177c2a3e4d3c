#include "hardware/embedded.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"

namespace tidemark {

std::span<const EmbeddedFile> embedded_samples();  // tests/hardware/embedded_samples

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("every device file is embedded, byte for byte, sorted by name") {
  std::vector<std::string> on_disk;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_file("hardware/devices"))) {
    if (entry.path().extension() == ".yaml") on_disk.push_back(entry.path().stem().string());
  }
  std::sort(on_disk.begin(), on_disk.end());
  std::vector<std::string> embedded;
  for (const EmbeddedFile& file : device_files()) {
    INFO(file.name);
    embedded.emplace_back(file.name);
    CHECK(file.text ==
          read(test::source_file("hardware/devices/") + std::string(file.name) + ".yaml"));
  }
  CHECK(embedded == on_disk);
  CHECK_FALSE(embedded.empty());
}

TEST_CASE("embedding keeps quotes, UTF-8, long files and empty files as they are") {
  std::string big;  // as tests/CMakeLists.txt makes it
  for (int i = 0; i < 5000; ++i) big += "0123456789abcde\n";
  const auto files = embedded_samples();
  REQUIRE(files.size() == 3);
  CHECK(files[0].name == "big");
  CHECK(files[0].text.size() == 80'000);
  CHECK(files[0].text == big);
  CHECK(files[1].name == "empty");
  CHECK(files[1].text.empty());
  CHECK(files[2].name == "hostile");
  CHECK(files[2].text == read(test::source_file("tests/hardware/embedded_samples/hostile.txt")));
  CHECK(files[2].text.find("na\xC3\xAFve \xE2\x9C\x93 \xF0\x9F\x9A\x80 \"#") !=
        std::string_view::npos);
  CHECK(files[2].text.find("tab\t\r\n") != std::string_view::npos);
}

}  // namespace
}  // namespace tidemark
