#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"
#include "tests/support/machines.hpp"
#include "tests/tools/calibration_rows.hpp"
#include "tools/calibration/csv.hpp"
#include "tools/calibration/errors.hpp"
#include "tools/calibration/fit.hpp"
#include "tools/calibration/report.hpp"
#include "tools/calibration/simulated_csv.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

std::shared_ptr<const scenarios::Source> source_of(const std::string& text) {
  return std::make_shared<const scenarios::Source>(scenarios::Source{"times.csv", text, 0});
}

std::string errors_of(const std::string& text) {
  try {
    read_timings(source_of(text));
  } catch (const scenarios::ScenarioError& error) {
    return error.what();
  }
  return "read";
}

}  // namespace

TEST_CASE("times without noise give back the figures that made them") {
  // Figures are written with four digits or in whole MB/s and ns.
  const Fit result = fit(start(), measured_on(truth(), rows(), 0, false), kFigures);
  check_near(result.machine, 0.001, 0.002);
  CHECK(spread_after(result.held_out).worst < 0.002);
}

TEST_CASE("noise of 3 % and a tenth of the rows three times too long move a fit little") {
  // A rate stands in some 20 rows: 3 % / sqrt(20) is 0.7 %, three times that is 2 %. Latencies
  // decide some 10 rows and share them with a rate: three times 3 % / sqrt(10) is 3 %.
  const Fit result = fit(start(), measured_on(truth(), rows(), 0.03, true), kFigures);
  check_near(result.machine, 0.02, 0.04);
  // The middle of |normal noise| lies at 0.67 deviations: 2 %; outliers are a tenth of the rows.
  CHECK(spread_after(result.held_out).median < 0.04);
  CHECK(spread_before(result.held_out).median > 0.1);
  CHECK(result.used.size() + result.held_out.size() == rows().size());
}

TEST_CASE("every nth row of each kind is kept back, and another fit keeps back the same") {
  const std::vector<Timing> timings = measured_on(truth(), rows(), 0.01, false);
  const Fit once = fit(start(), timings, kFigures);
  const Fit again = fit(start(), timings, kFigures);
  // 32 products, 34 streams, 38 copies: a fifth of each, rounded down.
  CHECK(once.held_out.size() == 6 + 6 + 7);
  CHECK(once.held_out[0].timing == &timings[4]);
  REQUIRE(again.parameters.size() == once.parameters.size());
  for (std::size_t i = 0; i < once.parameters.size(); ++i) {
    CHECK(again.parameters[i].value == once.parameters[i].value);
  }
  FitOptions all = kFigures;
  all.hold_out = 0;
  CHECK(fit(start(), timings, all).held_out.empty());

  // The same figures for programs.
  const auto json = nlohmann::json::parse(fit_json(once));
  REQUIRE(json["figures"].size() == once.parameters.size());
  for (std::size_t i = 0; i < once.parameters.size(); ++i) {
    const FittedParameter& figure = once.parameters[i];
    const auto& written = json["figures"][i];
    CHECK(written["key"] == figure.parameter->key);
    CHECK(written["before"] == figure.parameter->text(start()));
    CHECK(written["fitted"] == figure.parameter->text(once.machine));
    CHECK(written["change"].get<double>() ==
          Approx(figure.value / figure.parameter->get(start()) - 1));
    CHECK(written["standard_error"] == figure.error);
  }
  CHECK(json["used"].size() == once.used.size());
  REQUIRE(json["kept_back"].size() == once.held_out.size());
  CHECK(json["kept_back"][0]["error_fitted"] == once.held_out[0].after);
  CHECK(json["kept_back"][0]["measured_s"] == seconds(timings[4].time));
  const std::string csv = fit_csv(once);
  CHECK(static_cast<std::size_t>(std::ranges::count(csv, '\n')) == 1 + timings.size());
}

TEST_CASE("a fit of some figures leaves the others") {
  const Fit result = fit(start(), measured_on(truth(), rows(), 0, false), {.keys = {"pcie.h2d"}});
  REQUIRE(result.parameters.size() == 1);
  CHECK(result.machine.gpu.stream_efficiency == start().gpu.stream_efficiency);
  CHECK(result.machine.pcie.latency == start().pcie.latency);
}

TEST_CASE("rows that do not determine a figure are refused, and the figure is named") {
  std::vector<Timing> same(20, timing(TimingKind::kStream, StreamWork{64_MiB}));
  for (Timing& row : same) row.time = 100_us;
  const std::string one_size =
      refusal_of(start(), same, {.keys = {"gpu.stream_efficiency", "gpu.launch_latency"}});
  CHECK(has(one_size, "the rows do not determine "));
  CHECK(has(one_size, "gpu.launch_latency"));
  CHECK(has(one_size, "add stream rows of 1 MiB and less"));

  const std::vector<Timing> few(same.begin(), same.begin() + 2);
  CHECK(has(refusal_of(start(), few, {.keys = {"gpu.stream_efficiency", "gpu.launch_latency"}}),
            "too few rows: 2 to fit 2 figures, which take 4 at least. gpu.stream_efficiency takes "
            "stream or step rows: add stream rows of 256 MiB and more; gpu.launch_latency takes "
            "stream rows: add stream rows of 1 MiB and less"));
  CHECK(has(refusal_of(start(), same, {.keys = {"pcie.h2d"}}), "no row says anything of pcie.h2d"));
  CHECK(has(refusal_of(start(), same, {.keys = {"gpu.stream_eficiency"}}),
            "unknown parameter 'gpu.stream_eficiency': did you mean 'gpu.stream_efficiency'?"));
}

TEST_CASE("a figure that nobody asked for and that rows do not determine stays as it was") {
  // Of one size, time says one thing: the rate, and nothing of the launch that is a part of it.
  std::vector<Timing> same(20, timing(TimingKind::kStream, StreamWork{64_MiB}));
  for (Timing& row : same) row.time = 100_us;
  const Fit result = fit(start(), same);
  REQUIRE(result.parameters.size() == 1);
  CHECK(result.parameters[0].parameter->key == "gpu.stream_efficiency");
  CHECK(result.machine.gpu.launch_latency == start().gpu.launch_latency);
  CHECK(has(fit_text(result), "gpu.launch_latency stays as it was"));
}

TEST_CASE("keeping back every row is refused") {
  CHECK(
      has(refusal_of(start(), measured_on(truth(), rows(), 0, false), {.hold_out = 1, .keys = {}}),
          "--hold-out 1 keeps back every row"));
}

TEST_CASE("writes fit the speed at which they run: the sustained one where the cache is full") {
  std::vector<Timing> writes;
  for (int power = 28; power <= 36; ++power) {
    writes.push_back(timing(TimingKind::kDrive, DriveWork{DriveWork::Direction::kWrite,
                                                          Bytes(std::int64_t{1} << power)}));
  }
  Machine base = start();
  base.ssd.write = 4_GBps;
  base.ssd.sustained = 2_GBps;
  Machine mine = base;
  mine.ssd.sustained = 3_GBps;
  const Fit slower = fit(base, measured_on(mine, writes, 0, false), {.keys = {"ssd.sustained"}});
  CHECK(slower.machine.ssd.sustained == 3_GBps);
  CHECK(slower.machine.ssd.write == 4_GBps);
  CHECK_FALSE(has(machine_file(slower, "x", "y"), "write:"));
  // Beyond what the base writes at all: a file that says one without the other would be refused.
  mine.ssd.write = mine.ssd.sustained = 5_GBps;
  const Fit faster = fit(base, measured_on(mine, writes, 0, false), {.keys = {"ssd.sustained"}});
  CHECK(faster.machine.ssd.sustained == 5_GBps);
  CHECK(faster.machine.ssd.write == 5_GBps);
  CHECK(has(machine_file(faster, "x", "y"), "  write:\n    value: 5 GB/s"));

  CHECK(has(refusal_of(base, writes, {.keys = {"ssd.write"}}), "run at ssd.sustained"));
  base.ssd.cache = WriteCache::kEmpty;
  CHECK(has(refusal_of(base, writes, {.keys = {"ssd.sustained"}}), "do not slow down"));
  mine = base;
  mine.ssd.write = 3_GBps;
  const Fit cached = fit(base, measured_on(mine, writes, 0, false), {.keys = {"ssd.write"}});
  CHECK(cached.machine.ssd.write == 3_GBps);
}

Timing step_of_one_block() {
  Timing step;
  step.kind = TimingKind::kStep;
  step.run = scenarios::load(test::source_file("scenarios/gpt2-124m.yaml")).runs[0];
  step.run->model.layers = 1;
  step.time = 10000_us;
  return step;
}

TEST_CASE("steps that do not determine a figure are simulated once for each figure, and no more") {
  const Timing step = step_of_one_block();
  const std::vector<Timing> same(4, step);  // one equation, two unknowns
  std::size_t simulated = 0;
  const FitOptions options{.hold_out = 0,
                           .keys = {"gpu.matmul_efficiency", "gpu.stream_efficiency"},
                           .simulated = [&](std::size_t steps) { simulated = steps; }};
  CHECK(has(refusal_of(step.run->machine, same, options), "the rows do not determine "));
  CHECK(simulated == 4 * (1 + 2));
}

TEST_CASE("a link does not have to be simulated for a step that moves nothing") {
  const Timing step = step_of_one_block();
  const std::vector<const Timing*> used = {&step};
  Parameters chosen;
  for (const tools::Parameter& parameter : parameters()) {
    if (parameter.key == "pcie.h2d" || parameter.key == "gpu.stream_efficiency") {
      chosen.push_back(&parameter);
    }
  }
  REQUIRE(chosen.size() == 2);
  const double at[] = {std::log(0.8), std::log(25e9)};
  std::size_t simulated = 0;
  const std::function<void(std::size_t)> count = [&](std::size_t steps) { simulated = steps; };
  RowErrors errors(step.run->machine, chosen, used, count);
  errors.evaluate(at, true);
  CHECK(simulated == 2);  // as it is, and with faster streams
  CHECK(errors.slope(0, 0) < 0);
  CHECK(errors.slope(0, 1) == 0);
  errors.evaluate(at, true, false);
  CHECK(simulated == 2);
}

TEST_CASE("a table's times can be simulated in its place, with noise of a known seed") {
  const Machine machine = truth();
  const auto table = source_of(
      "# kept\n"
      "kind,time,bytes,direction\n"
      "\n"
      "copy,1 s,\"120 MB\",h2d\n"
      "stream,1 s,8 GB\n");
  // 15 us + 120 MB at 12 GB/s are 10,015 us.
  const std::string plain = simulated_csv(table, machine, {});
  CHECK(has(plain, "# kept\nkind,time,bytes,direction\n\ncopy,10015.00 us,120 MB,h2d\nstream,"));
  const std::string noisy = simulated_csv(table, machine, {.noise = 0.1, .seed = 3});
  CHECK(noisy != plain);
  CHECK(noisy == simulated_csv(table, machine, {.noise = 0.1, .seed = 3}));
  CHECK(noisy != simulated_csv(table, machine, {.noise = 0.1, .seed = 4}));
  // What it prints is read again, and says the same of the machine.
  const std::vector<Timing> again = read_timings(source_of(plain));
  REQUIRE(again.size() == 2);
  CHECK(simulated_csv(source_of(plain), machine, {}) == plain);
}

TEST_CASE("a machine file is read back as the machine that was fitted") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("tidemark_calibration." + std::to_string(::getpid()));
  fs::create_directories(folder);
  const auto machine_on = [&](const std::string& hardware) {
    const std::string scenario = (folder / "run.yaml").string();
    std::ofstream(scenario) << "model: gpt-7b\nhardware: " + hardware +
                                   "\nstrategies: [{name: one}]\n";
    return scenarios::load(scenario).runs[0].machine;
  };
  const Machine base = machine_on("h200");
  Machine mine = base;
  mine.gpu.stream_efficiency = 0.5;
  mine.pcie.h2d = 20_GBps;
  const Fit result = fit(base, measured_on(mine, rows(), 0, false),
                         {.keys = {"gpu.stream_efficiency", "pcie.h2d"}});
  std::ofstream(folder / "mine.yaml") << machine_file(result, "h200", "a \"quoted\" test");
  const Machine read = machine_on("./mine.yaml");
  fs::remove_all(folder);
  CHECK(read.gpu.stream_efficiency == Approx(result.machine.gpu.stream_efficiency).epsilon(1e-3));
  CHECK(read.pcie.h2d == result.machine.pcie.h2d);
  CHECK(read.gpu.matmul_efficiency == base.gpu.matmul_efficiency);
  CHECK(read.host.name == base.host.name);
}

TEST_CASE("rows of timings are read by the names of their columns") {
  const std::vector<Timing> timings =
      read_timings(source_of("# a comment\n"
                             "kind, time, m, n, k, batch, dtype, bytes, direction\n"
                             "matmul, 5 us, 2, 3, 4, , fp32\n"
                             "\n"
                             "matmul, 5 us, 2, 3, 4, 7, bf16\n"
                             "copy,\"1.5 ms\",,,,,,1 MiB,d2h\n"
                             "drive,1 s,,,,,,1 GB,write\n"
                             "stream,10 us,,,,,,1 MB\n"
                             "stream,10 us,,,,,,1000000\n"));
  REQUIRE(timings.size() == 6);
  const auto& first = std::get<MatmulWork>(timings[0].work);
  CHECK(first.m == 2);
  CHECK(first.n == 3);
  CHECK(first.k == 4);
  CHECK(first.batch == 1);
  CHECK(first.arithmetic == Arithmetic::k32Bit);
  CHECK(timings[0].line == 3);
  CHECK(std::get<MatmulWork>(timings[1].work).batch == 7);
  CHECK(std::get<CopyWork>(timings[2].work).direction == CopyWork::Direction::kD2h);
  CHECK(timings[2].time == 1500_us);
  CHECK(std::get<DriveWork>(timings[3].work).direction == DriveWork::Direction::kWrite);
  for (const std::size_t row : {std::size_t{4}, std::size_t{5}}) {
    CHECK(std::get<StreamWork>(timings[row].work).bytes == 1'000'000_B);
  }
}

TEST_CASE("what is wrong with timings is said with file, line and column") {
  const std::string header = "kind,bytes,direction,time\n";
  const auto check = [&](const std::string& text, const std::string& expected) {
    CHECK(errors_of(text).substr(0, expected.size()) == expected);
  };
  check("", "times.csv: error: no line that names the columns");
  check("kind,bites,time\n", "times.csv:1:6: error: unknown column 'bites'");
  check("kind,bytes\n", "times.csv:1:1: error: missing column 'time'");
  // As spreadsheets write it: a byte order mark, and places that do not count it.
  check("\xEF\xBB\xBFkind,bites,time\n", "times.csv:1:6: error: unknown column 'bites'");
  check("\xEF\xBB\xBF" + header + "stream,1 GB,,1 ms\n", "read");
  check("kind,b\xFFtes,time\n", "times.csv: error: not a text file in UTF-8: the byte 0xff");
  check("kind,time,time\n", "times.csv:1:11: error: two columns are named 'time'");
  check(header + "straem,1 GB,,1 ms\n", "times.csv:2:1: error: unknown kind 'straem'");
  check(header + "stream,1.5,,1 ms\n", "times.csv:2:8: error: bytes: ");
  check(header + "stream, 1 GB,, 1 mss\n", "times.csv:2:16: error: time: ");
  check(header + "stream,1 GB,,-1 ms\n", "times.csv:2:14: error: time: ");
  check(header + "stream,,,1 ms\n", "times.csv:2:1: error: a stream needs bytes");
  check(header + "stream,1 GB,h2d,1 ms\n",
        "times.csv:2:13: error: direction says nothing of a stream");
  check(header + "copy,1 GB,read,1 ms\n", "times.csv:2:11: error: a copy goes h2d or d2h");
  check(header + "stream,1 GB,,1 ms,x\n",
        "times.csv:2:19: error: more cells than there are columns");
  check(header + "stream,\"1 GB,,1 ms\n", "times.csv:2:8: error: quotes that do not end");
  check("kind,scenario,time\nstep,none.yaml,1 s\n",
        "times.csv:2:6: error: the scenario cannot be used");
}
