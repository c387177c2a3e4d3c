#include "tools/out/out.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"
#include "tools/analysis/sensitivity.hpp"
#include "tools/evaluate.hpp"
#include "tools/ledger.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

std::vector<std::string> stems(const std::vector<std::string>& labels) {
  std::vector<OutRun> runs;
  for (const std::string& label : labels) runs.emplace_back().label = label;
  return file_stems(runs);
}

using Names = std::vector<std::string>;

std::size_t cells(const std::string& line) {
  bool quoted = false;
  std::size_t count = 1;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++count;
  }
  return count;
}

// Of a CSV file, all with as many cells as the first.
std::vector<std::string> lines_of(const std::string& csv) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < csv.size();) {
    const std::size_t end = csv.find('\n', at);
    lines.push_back(csv.substr(at, end - at));
    CHECK(cells(lines.back()) == cells(lines.front()));
    at = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("files of runs are named after their labels, in letters that every file system takes") {
  CHECK(stems({"keep everything"}) == Names{"keep-everything"});
  CHECK(stems({"every-n, n: 4 within 80.0 GB"}) == Names{"every-n-n-4-within-80.0-GB"});
  CHECK(stems({"../../etc/passwd"}) == Names{"etc-passwd"});
  CHECK(stems({"größer"}) == Names{"gr-er"});
  CHECK(stems({"...", "", "/"}) == Names{"run", "run-2", "run-3"});
  CHECK(stems({std::string(200, 'x')}) == Names{std::string(80, 'x')});
}

TEST_CASE("no two files of runs have one name, not even where upper and lower case are the same") {
  CHECK(stems({"a b", "a/b", "A-B"}) == Names{"a-b", "a-b-2", "A-B-3"});
  CHECK(stems({"a-2", "a", "a"}) == Names{"a-2", "a", "a-3"});
}

TEST_CASE("the ledger for programs has what the ledger has") {
  const scenarios::Scenario scenario =
      scenarios::load(test::source_file("scenarios/7b-on-80gb.yaml"));
  const scenarios::RunSpec& run = scenario.runs.front();
  const ScenarioLedgers all{"a, \"name\"",
                            {{&run, make_ledger(run), option_effects(run), saved_as_it_is(run)}}};
  const Ledger& ledger = all.runs[0].ledger;
  const auto json = nlohmann::json::parse(ledger_json(std::span(&all, 1)));
  CHECK(json["scenario"] == "a, \"name\"");
  const auto& row = json["runs"][0];
  CHECK(row["states_bytes"] == 112'000'000'000);  // 16 bytes a parameter of 7 billion
  CHECK(row["states"].size() == ledger.components.size());
  CHECK(row["saved"].size() == ledger.saved.size());
  CHECK(row["saved"][0]["shape"].size() == static_cast<std::size_t>(ledger.saved[0].shape.rank));
  CHECK(row["block_saves_bytes"] == ledger.saved_of_layer.count);
  CHECK(row["options"].size() == all.runs[0].effects.size());

  const std::vector<std::string> lines = lines_of(ledger_csv(std::span(&all, 1)));
  CHECK(lines.size() ==
        1 + ledger.components.size() + ledger.saved.size() + 1 + all.runs[0].effects.size());
  CHECK(row["as_it_is"]["option"] == "checkpoint: none");
  CHECK(row["as_it_is"]["block_saves_bytes"] == ledger.saved_of_layer.count);
  CHECK(lines[1 + ledger.components.size() + ledger.saved.size()].find(
            ",policy,checkpoint: none,") != std::string::npos);
  CHECK(lines[1].starts_with("\"a, \"\"name\"\"\",keep everything,,state,"));
}

TEST_CASE("sensitivity as CSV has a row a figure and a rate, all of the same columns") {
  const scenarios::Scenario scenario =
      scenarios::load(test::source_file("scenarios/gpt2-on-4090.yaml"));
  const auto on_host = std::ranges::find_if(scenario.runs, [](const scenarios::RunSpec& run) {
    return run.offload.optimizer != Offload::States::kGpu;
  });
  REQUIRE(on_host != scenario.runs.end());
  const ScenarioSensitivities all{"x", sensitivities(std::span(&*on_host, 1))};
  const std::vector<std::string> lines = lines_of(sensitivity_csv(std::span(&all, 1)));
  CHECK(lines.size() == 1 + all.runs[0].effects.size() + all.runs[0].needed.size());
  CHECK(all.runs[0].needed.size() > 0);
  CHECK(std::ranges::count_if(lines, [](const std::string& line) {
          return line.find(",needed,") != std::string::npos;
        }) == static_cast<std::ptrdiff_t>(all.runs[0].needed.size()));
}

TEST_CASE(
    "what was written is told, and large files of single runs are only of those that want them") {
  const scenarios::Scenario scenario =
      scenarios::load(test::source_file("scenarios/gpt2-on-4090.yaml"));
  std::vector<KeptSteps> kept;
  const std::vector<Report> reports =
      evaluate_all(std::span(scenario.runs).first(2), {.largest = 0}, {}, &kept);
  OutInput input{"x", {}};
  for (std::size_t i = 0; i < 2; ++i) {
    OutRun& run = input.runs.emplace_back();
    run.label = i == 0 ? "first" : "second";
    run.spec = &scenario.runs[i];
    run.report = &reports[i];
    run.steps = &kept[i];
    run.own_files = i == 0;
  }
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "tidemark-out-test";
  const auto names = [&](const std::vector<std::string>& files, std::string& told) {
    std::filesystem::remove_all(folder);
    told = write_out_folder({folder.string(), files}, input);
    Names found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      found.push_back(entry.path().filename().string());
    }
    std::ranges::sort(found);
    return found;
  };
  std::string told;
  CHECK(names({"timeline.csv"}, told) == Names{"first.timeline.csv", "second.timeline.csv"});
  CHECK(told.find("wrote 2 files into " + folder.string() + ", ") == 0);
  CHECK(told.find("front") == std::string::npos);
  if (std::ranges::any_of(out_files(), [](const OutFile& file) {
        return file.why_not != nullptr && !file.why_not().empty();
      })) {
    return;  // not all files can be written by this build
  }
  const Names all = names({}, told);
  CHECK(std::ranges::none_of(all,
                             [](const std::string& name) { return name.starts_with("second"); }));
  CHECK(std::ranges::count_if(
            all, [](const std::string& name) { return name.starts_with("first"); }) == 4);
  CHECK(told.find(
            "; trace.json,snapshot.pickle,snapshot.json,timeline.csv of 1 on the front alone (of "
            "equal ones once): "
            "--out-files trace.json,snapshot.pickle,snapshot.json,timeline.csv writes them of "
            "all 2") != std::string::npos);
  std::filesystem::remove_all(folder);
}
