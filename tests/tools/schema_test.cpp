// Schema and loader say the same of the same files, as far as a schema can say it.

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/load.hpp"
#include "scenarios/options.hpp"
#include "scenarios/parse.hpp"
#include "scenarios/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/yaml_json.hpp"
#include "tools/schema/option_schema.hpp"
#include "tools/schema/schema.hpp"

using namespace tidemark;
using namespace tidemark::tools;
using test::JsonSchema;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// What a schema cannot say of a scenario; tests/bad/README.md explains them.
constexpr auto kBeyond = std::to_array<std::string_view>(
    {"another file", "a rule between keys", "a rule between strategies", "a sum",
     "the range of a quantity", "the spelling of a number", "the text of a setting"});

std::vector<fs::path> yaml_files(const char* folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(test::source_file(folder))) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Of a bad file that a schema lets through: why, from the comment that is its last line.
std::string beyond_a_schema(const fs::path& path) {
  const std::string text = contents(path);
  const std::string mark = "# beyond a schema: ";
  const std::size_t at = text.rfind(mark);
  if (at == std::string::npos) return {};
  return text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
}

// Nothing where it is not one YAML document of plain data.
std::optional<Json> read_as_editors_do(const fs::path& path) {
  scenarios::Diagnostics diagnostics;
  try {
    const scenarios::Value value =
        scenarios::parse(scenarios::read_source(path.string()), diagnostics);
    if (diagnostics.size() > 0) return std::nullopt;
    return test::as_json(value);
  } catch (const scenarios::ScenarioError&) {
    return std::nullopt;
  }
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

const JsonSchema& of_scenarios() {
  static const JsonSchema kSchema(Json::parse(scenario_schema()));
  return kSchema;
}

Json with(std::string_view extra) {
  scenarios::Diagnostics diagnostics;
  const auto source = std::make_shared<scenarios::Source>(scenarios::Source{
      "test",
      "model: gpt-7b\nhardware: a100-80gb-sxm\nstrategies: [{name: one}]\n" + std::string(extra)});
  return test::as_json(scenarios::parse(source, diagnostics));
}

bool accepts(std::string_view extra) { return of_scenarios().accepts(with(extra)); }

}  // namespace

TEST_CASE("the schemas in tools/schema are what the command prints: if not, run tools/approve.sh") {
  CHECK(contents(test::source_file("tools/schema/scenario.schema.json")) == scenario_schema());
  CHECK(contents(test::source_file("tools/schema/result.schema.json")) == result_schema());
}

TEST_CASE("the schema accepts every shipped scenario, and each names it in its first line") {
  const std::string first =
      "# yaml-language-server: $schema=../tools/schema/scenario.schema.json\n";
  for (const fs::path& path : yaml_files("scenarios")) {
    INFO(path.string());
    CHECK(contents(path).starts_with(first));
    const auto json = read_as_editors_do(path);
    REQUIRE(json.has_value());
    CHECK(joined(of_scenarios().faults(*json)).empty());
  }
}

TEST_CASE("the schema refuses what the loader refuses, or the file says why it cannot") {
  int refused = 0;
  for (const fs::path& path : yaml_files("tests/bad")) {
    INFO(path.string());
    INFO(
        "where the schema is right to accept it, the last line has to be '# beyond a schema: ...'");
    const std::string beyond = beyond_a_schema(path);
    const auto json = read_as_editors_do(path);
    const bool accepted = json.has_value() && of_scenarios().accepts(*json);
    CHECK(accepted == !beyond.empty());
    if (!beyond.empty()) {
      INFO(beyond);
      CHECK(std::ranges::find(kBeyond, beyond) != kBeyond.end());
    }
    if (json.has_value() && !accepted) ++refused;
  }
  CHECK(refused >= 60);  // most of the corpus that is YAML at all
}

TEST_CASE("schema and loader agree on every option about values of every kind") {
  const auto kTried = std::to_array<std::string_view>({"0",
                                                       "1",
                                                       "7",
                                                       "-1",
                                                       "0.5",
                                                       "1.5",
                                                       "512",
                                                       "99999999999",
                                                       "true",
                                                       "false",
                                                       "word",
                                                       "''",
                                                       "'7'",
                                                       "'true'",
                                                       "0 B",
                                                       "80 GiB",
                                                       "1.5 GB",
                                                       "80 GIB",
                                                       "80 gb",
                                                       "1 Gb",
                                                       "80GiB",
                                                       "' 80 GiB '",
                                                       "026 GB/s",
                                                       "26 GB/s",
                                                       "26e3 MB/s",
                                                       "5 us",
                                                       "0 s",
                                                       "0.0 ms",
                                                       "5 min",
                                                       "312 TFLOP/s",
                                                       "312 TFLOPS",
                                                       "2.45 GHz",
                                                       "2.45 ghz",
                                                       "[]",
                                                       "[norm]",
                                                       "[norm, rotary]",
                                                       "[norm, norm]",
                                                       "[[norm]]",
                                                       "{}",
                                                       "{a: 1}",
                                                       "1.13",
                                                       "2.x",
                                                       "'1.13'",
                                                       "gpu",
                                                       "host",
                                                       "ssd"});
  int both = 0, neither = 0;
  for (const scenarios::Section& section : scenarios::sections()) {
    for (const OptionSpec& option : section.options) {
      if (option.kind == OptionKind::kSection) continue;
      const JsonSchema schema{Json(option_schema(option))};
      std::vector<std::string> tried(kTried.begin(), kTried.end());
      tried.insert(tried.end(), option.choices.begin(), option.choices.end());
      if (!option.preset.empty() && option.kind != OptionKind::kNames) {
        tried.emplace_back(option.preset);
      }
      for (const std::string& text : tried) {
        INFO(section.name << '.' << option.name << ": " << text);
        scenarios::Diagnostics diagnostics;
        const auto source = std::make_shared<scenarios::Source>(scenarios::Source{"test", text});
        const scenarios::Value value = scenarios::parse_option_value(source, text, diagnostics);
        REQUIRE(diagnostics.size() == 0);
        std::string complaint;
        if (!scenarios::read_value(value, option, diagnostics)) {
          try {
            diagnostics.throw_if_any();
          } catch (const scenarios::ScenarioError& error) {
            complaint = error.what();
          }
          REQUIRE(!complaint.empty());
        }
        const bool accepted = schema.accepts(test::as_json(value));
        // A pattern knows the units, not how much that is.
        const bool range = accepted && value.text.find_first_of("BsHP") != std::string::npos &&
                           complaint.find("must be at ") != std::string::npos;
        if (range) continue;
        INFO(complaint);
        CHECK(accepted == complaint.empty());
        ++(accepted ? both : neither);
      }
    }
  }
  CHECK(both > 500);
  CHECK(neither > 2000);
}

TEST_CASE("a policy has its own options in the schema") {
  CHECK(accepts("checkpoint: full"));
  CHECK(accepts("checkpoint: {policy: every-n, n: 2}"));
  CHECK(!accepts("checkpoint: {policy: full, n: 2}"));
  CHECK(!accepts("checkpoint: {policy: every-n, n: 0}"));
  CHECK(!accepts("checkpoint: {policy: selective, reentrant: false}"));
  CHECK(accepts("checkpoint: {policy: every-n, n: 2, reentrant: false}"));
  CHECK(!accepts("checkpoint: everything"));
}

TEST_CASE("model and hardware may be left to the strategies or to the sweep, but not left out") {
  const auto schema_accepts = [](const char* text) {
    scenarios::Diagnostics diagnostics;
    const auto source = std::make_shared<scenarios::Source>(scenarios::Source{"test", text});
    return of_scenarios().accepts(test::as_json(scenarios::parse(source, diagnostics)));
  };
  CHECK(schema_accepts("hardware: rtx-4090\nstrategies: [{name: a, model: gpt-7b}]"));
  CHECK(!schema_accepts("hardware: rtx-4090\nstrategies: [{name: a, model: gpt-7b}, {name: b}]"));
  CHECK(schema_accepts("hardware: rtx-4090\nstrategies: [{name: a}]\nsweep: {model: [gpt-7b]}"));
  CHECK(!schema_accepts(
      "hardware: rtx-4090\nstrategies: [{name: a}]\nsweep: {training.micro_batch: [1]}"));
  CHECK(!schema_accepts("model: gpt-7b\nstrategies: [{name: a}]"));
}

TEST_CASE("swept values are held against the option that they are for") {
  CHECK(accepts("sweep: {training.micro_batch: [1, 2], kernels.attention: [eager, flash]}"));
  CHECK(accepts("sweep: {checkpoint: [none, full], hardware.pcie.h2d: [13 GB/s, 26 GB/s]}"));
  CHECK(!accepts("sweep: {training.micro_batch: [1, two]}"));
  CHECK(!accepts("sweep: {training.batch: [1]}"));
  CHECK(!accepts("sweep: {training.micro_batch: []}"));
}
