#include "scenarios/diagnostic.hpp"

#include <memory>
#include <string>

#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

TEST_CASE("a diagnostic shows place, message, source line, caret and hint") {
  const auto source = std::make_shared<const Source>(
      Source{"scenarios/llama.yaml", "checkpoint:\n  policy: sqroot\n", 0});
  const Diagnostic diagnostic{
      {source, 2, 11, 6}, "unknown policy 'sqroot'", "did you mean 'sqrt'? known: none, sqrt"};
  CHECK(render(diagnostic) ==
        "scenarios/llama.yaml:2:11: error: unknown policy 'sqroot'\n"
        "    2 |   policy: sqroot\n"
        "      |           ^~~~~~ did you mean 'sqrt'? known: none, sqrt");
}

TEST_CASE("a diagnostic of a whole file has no place, and its hint stands in the line") {
  const auto source = std::make_shared<const Source>(Source{"a.yaml", "", 0});
  CHECK(render({{source}, "cannot read", ""}) == "a.yaml: error: cannot read");
  CHECK(render({{source}, "cannot read", "is it there?"}) ==
        "a.yaml: error: cannot read; is it there?");
}

TEST_CASE("the caret stands below its character after tabs and characters of several bytes") {
  // Column 7 in bytes: tab, a, e-acute (two bytes), b, blank, then x.
  const auto source = std::make_shared<const Source>(Source{"a",
                                                            "\ta\xC3\xA9"
                                                            "b x\n",
                                                            0});
  CHECK(render({{source, 1, 7, 1}, "m", ""}) ==
        "a:1:7: error: m\n    1 | \ta\xC3\xA9"
        "b x\n      | \t    ^");
}

TEST_CASE("the underline ends with the line") {
  const auto source = std::make_shared<const Source>(Source{"a", "key\nnext\n", 0});
  CHECK(render({{source, 1, 2, 100}, "m", ""}) == "a:1:2: error: m\n    1 | key\n      |  ^~");
}

TEST_CASE("of a long line only the surroundings of the place are shown") {
  const auto source = std::make_shared<const Source>(Source{"a", std::string(100'000, 'x'), 0});
  const std::string text = render({{source, 1, 50'000, 1}, "m", ""});
  CHECK(text.size() < 400);
  CHECK(text.find("...xxx") != std::string::npos);
}

TEST_CASE("all faults of a file come in one run, in order of place") {
  const std::string text = errors_of(
      "model: gpt-7b\n"
      "strategies: [{name: one}, {nam: two}]\n"
      "hardware: {base: h200, hbm: {capacity: 80}}\n"
      "training: {micro_batch: 0, precision: fp17}\n");
  const char* in_order[] = {"test.yaml:2:27: error: missing key 'name'",
                            "test.yaml:2:28: error: unknown key 'nam'",
                            "test.yaml:3:40: error: capacity: '80' has no unit",
                            "test.yaml:4:25: error: micro_batch: must be at least 1",
                            "test.yaml:4:39: error: unknown precision 'fp17'"};
  std::size_t at = 0;
  for (const char* each : in_order) {
    INFO(text);
    at = text.find(each, at);
    REQUIRE(at != std::string::npos);
  }
}

TEST_CASE("at most 20 faults are shown, and the number of the others") {
  std::string text = kStart;
  for (int i = 0; i < 25; ++i) text += "wrong" + std::to_string(i) + ": 1\n";
  try {
    load_text(text + kOneStrategy);
    FAIL("loaded");
  } catch (const ScenarioError& error) {
    CHECK(error.diagnostics().size() == 20);
    CHECK(error.diagnostics()[0].message == "unknown key 'wrong0'");
    CHECK(error.diagnostics()[19].message == "unknown key 'wrong19'");
    CHECK(std::string(error.what()).ends_with("and 5 more errors"));
  }
}

TEST_CASE("a fault that every strategy inherits is told once") {
  const std::string text = errors_of(
      kStart + "training: {micro_batch: 0}\nstrategies: [{name: a}, {name: b}, {name: c}]\n");
  CHECK(text.find("micro_batch", text.find("error:") + 40) != std::string::npos);  // source line
  CHECK(text.find("error:") == text.rfind("error:"));
}

TEST_CASE("control characters from escapes in quotes never reach the terminal") {
  const std::string text = errors_of("model: \"\\e[31mred\"\nhardware: h200\n" + kOneStrategy);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("unknown model '?[31mred'") != std::string::npos);
}

}  // namespace
}  // namespace tidemark::scenarios
