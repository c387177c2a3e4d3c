#include "tools/plot/axis.hpp"

#include "tests/support/catch.hpp"

using namespace tidemark::tools::plot;

namespace {

std::vector<std::string> labels(double least, double most, std::size_t about) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks(least, most, about)) out.push_back(tick.label);
  return out;
}

}  // namespace

TEST_CASE("ticks stand at round numbers") {
  // 155 / 4 is 38.75: the next round step is 50.
  CHECK(labels(0, 155, 4) == std::vector<std::string>{"0", "50", "100", "150"});
  CHECK(labels(0, 1, 5) == std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(labels(0, 0.05, 5) ==
        std::vector<std::string>{"0.00", "0.01", "0.02", "0.03", "0.04", "0.05"});
  CHECK(labels(0, 40'000, 4) == std::vector<std::string>{"0", "10000", "20000", "30000", "40000"});
}

TEST_CASE("ticks need not begin at zero") {
  CHECK(labels(0.93, 1.31, 4) == std::vector<std::string>{"1.0", "1.1", "1.2", "1.3"});
}

TEST_CASE("a scale without extent has one tick") {
  CHECK(labels(3, 3, 4) == std::vector<std::string>{"3"});
}

TEST_CASE("a scale may run backward") {
  const Scale up{0, 10, 200, 100};
  CHECK(up(0) == 200);
  CHECK(up(10) == 100);
  CHECK(up(5) == 150);
}

TEST_CASE("units leave one to three digits before the point") {
  CHECK(std::string(byte_unit(1e9).name) == "GB");
  CHECK(std::string(byte_unit(0.99e9).name) == "MB");
  CHECK(std::string(time_unit(1).name) == "s");
  CHECK(std::string(time_unit(0.5).name) == "ms");
  CHECK(std::string(time_unit(2e-5).name) == "us");
}

TEST_CASE("text is cut at blanks by its width") {
  const Measure letters = [](std::string_view text, double, bool) {
    return static_cast<double>(text.size());
  };
  CHECK(fold("one two three", 8, false, 7, letters) ==
        std::vector<std::string>{"one two", "three"});
  CHECK(fold("one two three", 8, false, 6, letters) ==
        std::vector<std::string>{"one", "two", "three"});
  CHECK(fold("unbreakable", 8, false, 3, letters) == std::vector<std::string>{"unbreakable"});
}
