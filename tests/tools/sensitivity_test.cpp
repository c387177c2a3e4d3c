#include "tools/analysis/sensitivity.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/program_builder.hpp"
#include "tools/analysis/least_rate.hpp"
#include "tools/evaluate.hpp"

using namespace tidemark;
using namespace tidemark::tools;
using scenarios::RunSpec;

namespace {

RunSpec small_run(const std::string& sections = "") {
  const std::string text =
      "model: {architecture: gpt, layers: 4, hidden: 64, heads: 4, vocab: 128, max_positions: 64}\n"
      "hardware: a100-80gb-sxm\n" +
      sections + "strategies: [{name: only}]\n";
  RunSpec run = scenarios::load(std::make_shared<const scenarios::Source>(
                                    scenarios::Source{"small.yaml", text}))
                    .runs.front();
  run.machine = test::round_machine();
  return run;
}

Sensitivity sensitivity_of(const RunSpec& run) {
  return std::move(sensitivities(std::span(&run, 1)).front());
}

const Effect& effect(const Sensitivity& found, std::string_view name) {
  return *std::ranges::find_if(found.effects,
                               [&](const Effect& e) { return e.figure->name == name; });
}

const Needed& needed(const Sensitivity& found, std::string_view name) {
  return *std::ranges::find_if(found.needed,
                               [&](const Needed& n) { return n.mover->name == name; });
}

SimTime step_time(const RunSpec& run) { return evaluate(run, {.largest = 0}).step_time; }

// A kernel of 1 ms beside a copy of 10 MB: the step takes the longer of the two.
SimTime kernel_beside_copy(std::int64_t rate) {
  test::ProgramBuilder builder;
  builder.link(LinkKind::kPcieD2h, Bandwidth(rate));
  builder.add(Stream::kCompute, 1'000_us);
  builder.move(Stream::kCopyOut, builder.path({{LinkKind::kPcieD2h, 1}}), 10'000'000_B);
  return sim::simulate(builder.build()).end;
}

}  // namespace

TEST_CASE("a step that only computes is as much faster as its matmuls are") {
  RunSpec run = small_run();
  run.machine.gpu.bandwidth = Bandwidth(1'000'000'000'000'000);  // no matmul is bound by HBM
  const Report report = evaluate(run, {.largest = 0});
  const Sensitivity found = sensitivity_of(run);
  CHECK(found.step_time == report.step_time);
  // Each matmul takes 10/11 of its time, rounded up to a picosecond: four layers of two dozen
  // matmuls each and more, so 200 ps of rounding is generous.
  const Effect& faster = effect(found, "matmul");
  CHECK(std::abs((faster.saves - report.matmul / 11).count()) < 200);
  CHECK(faster.saves > 50'000_ps);
  CHECK(faster.step_time == found.step_time - faster.saves);
  for (const Effect& other : found.effects) {
    CAPTURE(other.figure->name);
    const bool of_gpu = other.figure->name == "matmul" || other.figure->name == "vector" ||
                        other.figure->name == "hbm_bandwidth";
    if (!of_gpu) CHECK(other.saves == 0_ps);
    CHECK(other.fits);
  }
  CHECK(found.needed.empty());
  CHECK(found.step_endless == found.step_time);
}

TEST_CASE("where writes to the SSD bind, they are worth buying and the copies to the GPU are not") {
  RunSpec run = small_run("offload: {optimizer: ssd, bucket: 64 KiB}\n");
  run.machine.ssd.write = Bandwidth(10'000'000);
  const Sensitivity found = sensitivity_of(run);
  const Report report = evaluate(run, {.largest = 0});
  // All states are written one bucket after the other. At 11 MB/s that takes 1/11 less.
  const double writing =
      static_cast<double>(report.traffic[static_cast<std::size_t>(LinkKind::kNvmeWrite)].count) /
      10e6;
  CHECK(seconds(found.step_time) > writing);
  CHECK(seconds(effect(found, "nvme_write").saves) == Approx(writing / 11).epsilon(1e-9));
  CHECK(effect(found, "pcie_h2d").saves == 0_ps);
  CHECK(found.effects.front().figure->name == "nvme_drives");  // twice as fast
  CHECK(found.effects.front().from.count == 1);
  CHECK(found.effects.front().to.count == 2);
  CHECK(text_of(effect(found, "nvme_write").from) == "10.0 MB/s");
  CHECK(text_of(effect(found, "nvme_write").to) == "11.0 MB/s");
}

TEST_CASE("effects come with the largest first, and say what a user's own change would") {
  const RunSpec run = small_run("offload: {optimizer: host, bucket: 64 KiB}\n");
  const Sensitivity found = sensitivity_of(run);
  CHECK(std::ranges::is_sorted(found.effects, std::greater(), &Effect::saves));
  CHECK(found.fits);
  RunSpec other = run;
  other.machine.pcie.d2h = Bandwidth(11'000'000'000);
  other.machine.pcie.both = Bandwidth(31'000'000'000);
  CHECK(effect(found, "pcie_d2h").step_time == step_time(other));
  other = run;
  other.machine.host.bandwidth = Bandwidth(110'000'000'000);
  CHECK(effect(found, "dram").step_time == step_time(other));
  other = run;
  other.machine.pcie.latency = SimTime(9'090'909);  // 10 us x 10/11
  CHECK(effect(found, "pcie_latency").step_time == step_time(other));
}

TEST_CASE("a total of both directions is a figure only where it binds") {
  RunSpec run = small_run("offload: {optimizer: host}\n");
  const auto has_total = [](const Sensitivity& found) {
    return std::ranges::any_of(found.effects,
                               [](const Effect& e) { return e.figure->name == "pcie_both"; });
  };
  CHECK(!has_total(sensitivity_of(run)));
  run.machine.pcie.both = 25_GBps;
  CHECK(has_total(sensitivity_of(run)));
}

TEST_CASE("more HBM is what a step without room needs") {
  RunSpec run = small_run();
  const Report roomy = evaluate(run, {.largest = 0});
  const Bytes peak = std::max(roomy.tier(Tier::kHbm).peak, roomy.tier(Tier::kHbm).first_step_peak);
  run.machine.gpu.capacity = Bytes(peak.count - 1);
  const Sensitivity found = sensitivity_of(run);
  CHECK(!found.fits);
  CHECK(found.step_time == roomy.step_time);
  for (const Effect& each : found.effects) {
    CAPTURE(each.figure->name);
    CHECK(each.fits == (each.figure->name == "hbm_capacity"));
  }
  const std::string text = sensitivity_text(std::vector{ScenarioSensitivities{"x", {found}}}, 100);
  CHECK(text.find("\nmakes it fit: HBM capacity\n") != std::string::npos);
}

TEST_CASE("the rate that hides a copy behind a kernel is its bytes over the kernel's time") {
  // Within 1 % of 1 ms: 10 MB in 1.01 ms, 9.90 GB/s, found from below and from above.
  const double expected = 10e6 / 1.01e-3;
  for (const std::int64_t gigabytes : {1, 9, 10, 64}) {
    const std::int64_t has = gigabytes * 1'000'000'000;
    CAPTURE(has);
    const LeastRate least = least_rate(has, kernel_beside_copy(has), 1'000_us, kernel_beside_copy);
    CHECK(static_cast<double>(least.rate) >= expected * (1 - 1e-9));
    CHECK(static_cast<double>(least.rate) <= expected * 1.005);
    CHECK(least.time == kernel_beside_copy(least.rate));
  }
}

TEST_CASE("any rate will do for what nothing waits for") {
  const LeastRate least = least_rate(1'000'000'000, 5_us, 5_us, [](std::int64_t) { return 5_us; });
  CHECK(least.rate == 0);
  CHECK(least.time == 5_us);
}

TEST_CASE("a rate is only called enough when it was tried") {
  // Good at 16, 8 and below 3 GB/s, bad in between: halving meets 8 and then the bad 4.
  const auto time_at = [](std::int64_t rate) {
    return rate < 3'000'000'000 || rate > 6'000'000'000 ? 100_us : 150_us;
  };
  const LeastRate least = least_rate(16'000'000'000, 100_us, 100_us, time_at);
  CHECK(least.time == 100_us);
  CHECK(least.rate > 6'000'000'000);
  CHECK(least.rate < 6'040'000'000);
}

TEST_CASE("what a mover needs is enough, and a percent less is not") {
  const RunSpec run = small_run("offload: {optimizer: host, bucket: 64 KiB}\n");
  const Sensitivity found = sensitivity_of(run);
  const Needed& out = needed(found, "pcie_d2h");
  const auto at = [&](std::int64_t rate) {
    RunSpec changed = run;
    changed.machine.pcie.d2h = Bandwidth(rate);
    changed.machine.pcie.both = Bandwidth(rate + 20'000'000'000);
    return step_time(changed);
  };
  CHECK(out.has == 10'000'000'000);
  CHECK(out.step_endless == at(kEndlessRate));
  CHECK(out.step_needed == at(out.needs));
  CHECK(as_good_as(at(out.needs), out.step_endless));
  CHECK(!as_good_as(at(out.needs * 99 / 100), out.step_endless));
  CHECK(out.moves == evaluate(run).traffic[static_cast<std::size_t>(LinkKind::kPcieD2h)]);
}

TEST_CASE("a mover cannot hide what another holds up, and that one is named") {
  RunSpec run = small_run("offload: {optimizer: ssd, bucket: 64 KiB}\n");
  run.machine.ssd.write = Bandwidth(10'000'000);
  const Sensitivity found = sensitivity_of(run);
  const Needed& in = needed(found, "pcie_h2d");
  CHECK(!in.hidden);
  CHECK(in.binds == Resource::kNvmeWrite);
  CHECK(in.binds_for > found.step_time / 2);
  CHECK(in.needs < in.has);  // it holds nothing up
  CHECK(needed(found, "nvme_write").needs > 10'000'000);
  CHECK(found.step_endless < found.step_time / 2);

  // With all else infinitely fast, writing at the rate that hides it is as good as in no time.
  const Needed& writes = needed(found, "nvme_write");
  CHECK(writes.to_hide > writes.needs);
  RunSpec fast = run;
  fast.machine.pcie.h2d = fast.machine.pcie.d2h = Bandwidth(kEndlessRate);
  fast.machine.pcie.both = Bandwidth(2 * kEndlessRate);
  fast.machine.host.bandwidth = fast.machine.ssd.read = Bandwidth(kEndlessRate);
  fast.machine.host.cpu_optimizer = FlopRate(kEndlessRate);
  const auto at = [&](std::int64_t rate) {
    fast.machine.ssd.write = Bandwidth(rate);
    return step_time(fast);
  };
  CHECK(found.step_endless == at(kEndlessRate));
  CHECK(as_good_as(at(writes.to_hide), found.step_endless));
  CHECK(!as_good_as(at(writes.to_hide * 99 / 100), found.step_endless));
}

TEST_CASE("sensitivities do not depend on what else is asked at the same time") {
  const std::vector<RunSpec> runs = {small_run(), small_run("offload: {optimizer: host}\n"),
                                     small_run("offload: {optimizer: ssd}\n")};
  std::size_t parts = 0;
  const std::vector<Sensitivity> together =
      sensitivities(runs, [&](std::size_t, std::size_t of) { parts = of; });
  std::vector<Sensitivity> apart;
  for (const RunSpec& run : runs) apart.push_back(sensitivity_of(run));
  const auto json = [](std::vector<Sensitivity> all) {
    return sensitivity_json(std::vector{ScenarioSensitivities{"x", std::move(all)}});
  };
  CHECK(json(together) == json(apart));
  CHECK(parts > 3 * 10);
}

TEST_CASE("sensitivities as text stay within the width and name what has next to no effect") {
  RunSpec run = small_run("offload: {optimizer: ssd, bucket: 64 KiB}\n");
  run.strategy = "a name that goes on and on, as the names of strategies in scenario files may do";
  run.point = {{"training.micro_batch", "2"}};
  const std::string text =
      sensitivity_text(std::vector{ScenarioSensitivities{"x", {sensitivity_of(run)}}}, 100);
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
  }
  CHECK(text.find("less than 0.1 % each: ") != std::string::npos);
  CHECK(text.find("\nstep then: ") != std::string::npos);  // every column has a word on it
  std::string unwrapped = text;
  for (auto at = unwrapped.find("\n  "); at != std::string::npos; at = unwrapped.find("\n  ")) {
    unwrapped.replace(at, 3, " ");
  }
  CHECK(unwrapped.find("micro_batch 2: ") != std::string::npos);
}

TEST_CASE("sensitivities as JSON have the names that programs rely on") {
  const RunSpec run = small_run("offload: {optimizer: host}\n");
  const auto json = nlohmann::json::parse(
      sensitivity_json(std::vector{ScenarioSensitivities{"x", {sensitivity_of(run)}}}));
  const auto& only = json["runs"][0];
  CHECK(only["strategy"] == "only");
  for (const char* key : {"figure", "fits", "step_time_s", "saves_s"}) {
    CHECK(only["effects"][0].contains(key));
  }
  // Amounts under the names of their units, with all digits.
  const auto effect_of = [&](const char* figure) {
    for (const auto& each : only["effects"]) {
      if (each["figure"] == figure) return each;
    }
    return nlohmann::json();
  };
  RunSpec better = run;
  for (const Figure& figure : figures()) {
    if (figure.name == "hbm_capacity" || figure.name == "pcie_latency")
      figure.improve(better.machine);
  }
  CHECK(effect_of("hbm_capacity")["from_bytes"] == run.machine.gpu.capacity.count);
  CHECK(effect_of("hbm_capacity")["to_bytes"] == better.machine.gpu.capacity.count);
  CHECK(effect_of("pcie_latency")["from_s"] == seconds(run.machine.pcie.latency));
  CHECK(effect_of("pcie_latency")["to_s"] == seconds(better.machine.pcie.latency));
  CHECK(effect_of("matmul")["from_per_s"] == run.machine.gpu.matmul_16bit.count);
  CHECK(effect_of("nvme_drives")["to_count"] == run.machine.ssd.drives + 1);
  for (const char* key : {"mover", "moves_bytes", "has_per_s", "needs_per_s", "step_time_s",
                          "endless_step_time_s", "to_hide_per_s", "hidden", "binds", "binds_s"}) {
    CHECK(only["bandwidth_needed"][0].contains(key));
  }
}

TEST_CASE("amounts as CSV are whole numbers in the column of their unit") {
  RunSpec run = small_run("offload: {optimizer: ssd}\n");
  run.machine.ssd.write = run.machine.ssd.sustained = Bandwidth(2'000'000'019);
  const std::string csv =
      sensitivity_csv(std::vector{ScenarioSensitivities{"x", {sensitivity_of(run)}}});
  std::istringstream stream(csv);
  std::string header;
  std::getline(stream, header);
  CHECK(header.find("name,from_per_s,to_per_s,from_bytes,to_bytes,from_s,to_s,from_count,to_count,"
                    "step_time_s") != std::string::npos);
  const auto commas = std::ranges::count(header, ',');
  for (std::string line; std::getline(stream, line);) {
    CAPTURE(line);
    CHECK(std::ranges::count(line, ',') == commas);
  }
  // 2,000,000,019 and a tenth of it, rounded down, more.
  CHECK(csv.find(",nvme_write,2000000019,2200000020,,,,,,,") != std::string::npos);
  CHECK(csv.find(",nvme_drives,,,,,,,1,2,") != std::string::npos);
}
