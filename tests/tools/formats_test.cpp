#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tools/formats/format.hpp"
#include "tools/text_table.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

Report sample() {
  Report report;
  report.strategy = "keep, \"all\"";
  report.point = {{"training.micro_batch", "2"}, {"kernels.attention", "flash"}};
  report.step_time = SimTime(1'500'000'000'000);
  report.compute_busy = SimTime(1'000'000'000'000);
  report.stalls[static_cast<std::size_t>(sim::StallCause::kPcieD2h)] = SimTime(500'000'000'000);
  report.tokens = 3000;
  report.tokens_per_second = 2000;
  report.mfu = 0.25;
  report.tiers[0].peak = 3_GB;
  report.tiers[0].peak_moment.by_category[0] = 3_GB;
  report.bottleneck = "a sentence";
  return report;
}

std::string written(std::string_view format, std::vector<Report> runs) {
  const std::vector<ScenarioReports> scenarios = {{"größer", std::move(runs)}};
  return find_format(format).write(scenarios, {});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void require_keys(const nlohmann::json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    INFO(key);
    REQUIRE(object.contains(key));
  }
}

}  // namespace

TEST_CASE("the JSON has the names that programs rely on") {
  Report failed = sample();
  failed.out_of_memory = OutOfMemoryReport{};
  failed.out_of_memory->op = "mm";
  const auto json = nlohmann::json::parse(written("json", {failed}));
  require_keys(json, {"tidemark", "scenario", "runs"});
  CHECK(json["scenario"] == "größer");
  const auto& run = json["runs"][0];
  require_keys(run, {"strategy", "point", "fits", "out_of_memory", "step_time_s", "tokens_per_s",
                     "model_flops", "hardware_flops", "mfu", "parameters", "ranks"});
  require_keys(run["out_of_memory"],
               {"tier", "op", "phase", "layer", "requested_bytes", "free_bytes", "needed_bytes"});
  const auto& rank = run["ranks"][0];
  require_keys(rank, {"rank", "stage", "tiers", "compute", "traffic_bytes"});
  require_keys(rank["tiers"], {"hbm", "host", "ssd"});
  const auto& hbm = rank["tiers"]["hbm"];
  require_keys(
      hbm, {"capacity_bytes", "peak_bytes", "peak_reserved_bytes", "start_bytes", "end_bytes",
            "live_after", "phase_peaks", "first_step_peak_bytes", "saved_per_layer_bytes", "peak"});
  require_keys(hbm["live_after"], {"forward", "backward", "optimizer"});
  require_keys(hbm["phase_peaks"], {"forward", "backward", "optimizer"});
  require_keys(hbm["peak"], {"time_s", "phase", "op", "layer", "by_category", "largest"});
  require_keys(rank["compute"], {"busy_s", "recompute_s", "stall_s"});
  require_keys(rank["traffic_bytes"], {"pcie_h2d", "pcie_d2h", "nvme_read", "nvme_write"});
}

TEST_CASE("bytes in the JSON are whole numbers, times are seconds, a swept number stays one") {
  const auto run = nlohmann::json::parse(written("json", {sample()}))["runs"][0];
  CHECK(run["out_of_memory"].is_null());
  CHECK(run["fits"] == true);
  CHECK(run["step_time_s"] == 1.5);
  CHECK(run["point"]["training.micro_batch"] == 2);
  CHECK(run["point"]["kernels.attention"] == "flash");
  const auto& rank = run["ranks"][0];
  CHECK(rank["compute"]["stall_s"]["pcie_d2h"] == 0.5);
  CHECK(rank["tiers"]["hbm"]["peak_bytes"].is_number_integer());
  CHECK(rank["tiers"]["hbm"]["peak"]["by_category"] ==
        nlohmann::json{{"parameters", 3'000'000'000}});
}

TEST_CASE("one scenario is a JSON object, several are an array") {
  const std::vector<ScenarioReports> two = {{"a", {sample()}}, {"b", {sample()}}};
  const auto json = nlohmann::json::parse(find_format("json").write(two, {}));
  REQUIRE(json.is_array());
  CHECK(json[1]["scenario"] == "b");
}

TEST_CASE("the CSV has a line a run, as many fields in each, and doubles quotes in text") {
  const std::vector<std::string> lines = lines_of(written("csv", {sample(), sample()}));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].rfind("scenario,strategy,training.micro_batch,kernels.attention,fits,", 0) == 0);
  CHECK(lines[1].rfind("größer,\"keep, \"\"all\"\"\",2,flash,true,", 0) == 0);
  CHECK(lines[1] == lines[2]);
  // The one quoted field has a comma of its own.
  CHECK(std::ranges::count(lines[1], ',') == std::ranges::count(lines[0], ',') + 1);
}

TEST_CASE("the table is at most 100 characters wide, long names and sweeps included") {
  Report report = sample();
  report.strategy =
      "a strategy whose name says everything that it does and why that is a good idea";
  for (const std::string& line : lines_of(written("text", {report}))) {
    INFO(line);
    CHECK(text_width(line) <= 100);
  }
}

TEST_CASE("a sweep of a few runs shows memory over the step, one of many does not") {
  Report report = sample();
  report.profile.columns[0].resize(60);
  report.profile.columns[0].back().total = Bytes(1);
  const auto lines_with = [&](std::size_t runs) {
    const auto lines = lines_of(written("text", std::vector<Report>(runs, report)));
    return std::ranges::count_if(lines, [](const std::string& line) {
      return line.find("HBM over the step") != std::string::npos;
    });
  };
  CHECK(lines_with(12) == 12);
  CHECK(lines_with(13) == 0);
}

TEST_CASE("times of a run that does not fit stand in brackets, with a note") {
  CHECK(written("text", {sample()}).find("in brackets") == std::string::npos);
  Report failed = sample();
  failed.out_of_memory = OutOfMemoryReport{};
  const std::string text = written("text", {failed});
  CHECK(text.find("(1.50)") != std::string::npos);
  CHECK(text.find("(in brackets: as it would be with enough memory)") != std::string::npos);
}

TEST_CASE("a plan for a budget names the strategy and says what its share is of") {
  Report report = sample();
  report.strategy = "both";
  report.point.clear();
  PlacementNote& note = report.placement.emplace();
  note.budget = 20_GB;
  note.peak = 15_GB;
  note.met = true;
  note.method = "layered";
  note.simulations = 4;
  note.recompute = 200'000_us;
  note.bound = 150'000_us;
  const auto said = [&] {
    std::string text;
    for (const std::string& line : lines_of(written("text", {report}))) {
      text += line.starts_with("  ") ? line.substr(1) : "\n" + line;
    }
    return text + "\n";
  };
  // 200 ms are recomputed, 150 of them in any case: a quarter at most is too much.
  CHECK(
      said().find("\nboth: its plan (layered's) takes 15.0 GB of its budget of 20.0 GB of HBM, "
                  "found by 4 simulations; it recomputes for 200 ms, of which the best plan would "
                  "save 25.0 % at most\n") != std::string::npos);
  note.bound = note.recompute;
  CHECK(said().find("recomputes for 200 ms, and no plan within as much memory for less\n") !=
        std::string::npos);
  note.bound.reset();
  CHECK(said().find("it recomputes for 200 ms\n") != std::string::npos);
  // One simulation, nothing to recompute, a budget that nothing meets and a byte that tells.
  note.recompute = 0_us;
  note.method = "none";
  note.simulations = 1;
  note.met = false;
  note.peak = Bytes(20'000'000'001);
  CHECK(said().find(
            "\nboth: its plan, to keep everything, takes 20.000000001 GB, more than its budget "
            "of 20.000000000 GB of HBM, found by 1 simulation; it recomputes nothing\n") !=
        std::string::npos);
}
