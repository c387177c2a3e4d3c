#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "sim/executor.hpp"
#include "sim/stalls.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"
#include "tools/evaluate.hpp"
#include "tools/exports/exports.hpp"
#include "tools/steps.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

using Json = nlohmann::json;

// A copy of 15 us holds the update up:
//
//   compute    | mm 10 | mul 5 |... waits 10 ...| add 5 |      0  10  15  25  30 us
//   copy_out           |    copy 15             |
//   HBM        gradient 60 (from mm to copy); host: its copy 60 (from the copy on, stays)
struct CopyStep {
  StepGraph graph;
  Program program;
  sim::Result result;

  CopyStep() {
    for (const OpKind kind : {OpKind::kMm, OpKind::kMul, OpKind::kAdd}) {
      Op op;
      op.kind = kind;
      graph.ops.push_back(op);
    }
    graph.ops.push_back({});
    graph.ops[0].flops = Flops(400);
    graph.names = {"gradient", "copy of \"gradients\""};
    test::ProgramBuilder builder;
    const BufferId gradient = builder.buffer(60_B, Tier::kHbm, Category::kGradients);
    const BufferId on_host = builder.buffer(60_B, Tier::kHost, Category::kGradients);
    builder.edit(on_host).persistent = true;
    builder.edit(gradient).name = builder.edit(on_host).name = NameId(0);
    const InstanceId mm = builder.add(Stream::kCompute, 10_us, {}, {gradient}, Phase::kBackward);
    const InstanceId mul = builder.add(Stream::kCompute, 5_us, {}, {}, Phase::kBackward);
    const InstanceId copy =
        builder.add(Stream::kCopyOut, 15_us, {mm}, {gradient, on_host}, Phase::kTransfer);
    const InstanceId add = builder.add(Stream::kCompute, 5_us, {copy}, {}, Phase::kOptimizer);
    builder.edit(mm).op = OpId(0);
    builder.edit(mul).op = OpId(1);
    builder.edit(add).op = OpId(2);
    builder.edit(mm).layer = 3;
    builder.edit(copy).name = NameId(1);
    program = builder.build();
    result = sim::simulate(program);
  }

  PlayedStep played() const { return {graph, program, result}; }
};

Json events_of(const std::string& text) { return Json::parse(text)["traceEvents"]; }

Json copy_step_events() {
  const CopyStep step;
  return events_of(trace_json("a \"run\"", step.played()));
}

std::vector<Json> of_phase(const Json& events, const std::string& phase) {
  std::vector<Json> found;
  for (const Json& event : events) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

// The one with that name.
Json named(const std::vector<Json>& events, const std::string& name) {
  for (const Json& event : events) {
    if (event["name"] == name) return event;
  }
  FAIL("no event " << name);
  return {};
}

// As Perfetto reads it: microseconds times 1000, cut off.
std::int64_t nanoseconds(const Json& number) {
  return static_cast<std::int64_t>(number.get<double>() * 1000);
}

constexpr int kCompute = 1, kCopyOut = 3, kPhase = 100, kStalls = 101;

}  // namespace

TEST_CASE("a trace names its process, its tracks and their order") {
  const auto metadata = of_phase(copy_step_events(), "M");
  CHECK(named(metadata, "process_name")["args"]["name"] == "rank 0: a \"run\"");
  std::map<int, std::string> names;
  std::map<int, int> places;
  for (const Json& event : metadata) {
    if (event["name"] == "thread_name") names[event["tid"]] = event["args"]["name"];
    if (event["name"] == "thread_sort_index") places[event["tid"]] = event["args"]["sort_index"];
  }
  CHECK(names == std::map<int, std::string>{{kCompute, "compute"},
                                            {kCopyOut, "copy_out"},
                                            {kPhase, "phase"},
                                            {kStalls, "stalls of compute"}});
  CHECK(places == std::map<int, int>{{kPhase, 0}, {kCompute, 1}, {kStalls, 2}, {kCopyOut, 3}});
}

TEST_CASE("each instance is a slice on the track of its stream") {
  const auto slices = of_phase(copy_step_events(), "X");
  const Json mm = named(slices, "mm");
  CHECK(mm["tid"] == kCompute);
  CHECK(mm["ts"].get<double>() == Approx(0.0005).epsilon(1e-9));  // half a nanosecond after 0
  CHECK(mm["dur"].get<double>() == Approx(10).margin(1.1e-5));    // see below on readers
  CHECK(mm["cat"] == "backward");
  CHECK(mm["args"]["layer"] == 3);
  CHECK(mm["args"]["flops"] == 400);
  const Json copy = named(slices, "copy of \"gradients\"");
  CHECK(copy["tid"] == kCopyOut);
  CHECK(nanoseconds(copy["ts"]) == 10'000);
  CHECK(copy["dur"].get<double>() == Approx(15).margin(1.1e-5));
  CHECK(copy["cat"] == "transfer");
  CHECK(!copy["args"].contains("layer"));
}

TEST_CASE("phases and stalls are slices on tracks of their own") {
  const auto slices = of_phase(copy_step_events(), "X");
  CHECK(slices.size() == 4 + 2 + 1);
  const Json backward = named(slices, "backward");
  CHECK(backward["tid"] == kPhase);
  CHECK(backward["dur"].get<double>() == Approx(15).margin(1.1e-5));  // mm and mul
  CHECK(nanoseconds(named(slices, "optimizer")["ts"]) == 25'000);
  const Json stall = named(slices, "pcie_d2h");
  CHECK(stall["tid"] == kStalls);
  CHECK(nanoseconds(stall["ts"]) == 15'000);
  CHECK(stall["dur"].get<double>() == Approx(10).margin(1.1e-5));
  CHECK(stall["args"]["cause"] == "pcie_d2h");
  CHECK(stall["args"]["waiting"] == "add");
  CHECK(stall["args"]["for"] == "copy of \"gradients\"");
}

TEST_CASE("an arrow leads from the transfer to the op that waited for it") {
  const Json events = copy_step_events();
  const auto starts = of_phase(events, "s");
  const auto ends = of_phase(events, "f");
  REQUIRE(starts.size() == 1);
  REQUIRE(ends.size() == 1);
  CHECK(starts[0]["tid"] == kCopyOut);
  CHECK(nanoseconds(starts[0]["ts"]) == 24'999);  // the last nanosecond of the copy
  CHECK(ends[0]["tid"] == kCompute);
  CHECK(nanoseconds(ends[0]["ts"]) == 25'000);
  CHECK(ends[0]["bp"] == "e");
  for (const char* key : {"id", "cat", "name"}) CHECK(starts[0][key] == ends[0][key]);
}

TEST_CASE("counters follow each category of each tier, and its total") {
  std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> values;
  for (const Json& event : of_phase(copy_step_events(), "C")) {
    values[event["name"]].emplace_back(nanoseconds(event["ts"]), event["args"]["bytes"]);
  }
  using Points = std::vector<std::pair<std::int64_t, std::int64_t>>;
  CHECK(values["hbm gradients"] == Points{{0, 60}, {25'000, 0}});
  CHECK(values["hbm total"] == Points{{0, 60}, {25'000, 0}});
  CHECK(values["host gradients"] == Points{{10'000, 60}});
  CHECK(values.size() == 4);
}

TEST_CASE("the peak of a tier is marked with what allocates") {
  const auto marks = of_phase(copy_step_events(), "i");
  CHECK(marks.size() == 2);
  const Json peak = named(marks, "peak of hbm");
  CHECK(peak["args"]["bytes"] == 60);
  CHECK(peak["args"]["allocates"] == "mm");
  CHECK(nanoseconds(named(marks, "peak of host")["ts"]) == 10'000);
}

namespace {

// Of a real step with transfers on every stream.
struct NvmeRun {
  scenarios::RunSpec spec;
  std::unique_ptr<Steps> steps;
  PlayedSteps played;

  NvmeRun() {
    const auto source = std::make_shared<const scenarios::Source>(scenarios::Source{
        "test.yaml",
        "model: gpt2-124m\ntraining: {micro_batch: 2, sequence: 256}\nhardware: rtx-4090\n"
        "checkpoint: full\noffload: {optimizer: ssd, bucket: 4 MiB, activations: host}\n"
        "strategies: [{name: all of it}]\n"});
    spec = scenarios::load(source).runs.at(0);
    steps = std::make_unique<Steps>(spec);
    played = steps->play(spec.allocator, sim::Capacity::kEnforced);
  }
  PlayedStep step() const {
    return {steps->steady().graph, steps->steady().program, *played.steady};
  }
};

}  // namespace

TEST_CASE("a whole step keeps to the trace event format") {
  const NvmeRun run;
  const Json events = events_of(trace_json("all of it", run.step()));
  const std::set<std::string> phases = {"M", "X", "s", "f", "C", "i"};
  std::set<int> named_tracks, used_tracks;
  std::map<int, std::vector<std::pair<std::int64_t, std::int64_t>>> slices;
  for (const Json& event : events) {
    REQUIRE(phases.contains(event.at("ph")));
    REQUIRE(event.at("pid") == 1);
    REQUIRE(event.at("name").is_string());
    if (event["name"] == "thread_name") named_tracks.insert(event["tid"].get<int>());
    if (event["ph"] == "M") continue;
    REQUIRE(event.at("ts").is_number());
    if (event["ph"] == "C") {
      for (const Json& value : event.at("args")) REQUIRE(value.get<std::int64_t>() >= 0);
      continue;
    }
    used_tracks.insert(event.at("tid").get<int>());
    if (event["ph"] != "X") continue;
    const std::int64_t begin = nanoseconds(event["ts"]);
    REQUIRE(event.at("dur").get<double>() >= 0);
    slices[event["tid"]].emplace_back(begin, begin + nanoseconds(event["dur"]));
  }
  CHECK(std::ranges::includes(named_tracks, used_tracks));
  CHECK(slices.size() >= 2 + 5);  // phases, stalls, and five streams at least
  for (auto& [track, of_track] : slices) {
    INFO("track " << track);
    std::ranges::sort(of_track);
    for (std::size_t i = 1; i < of_track.size(); ++i) {
      REQUIRE(of_track[i - 1].second <= of_track[i].first);
    }
  }
}

TEST_CASE("slices of a track do not overlap for readers that count in floating point") {
  const NvmeRun run;
  std::map<int, std::vector<std::pair<double, double>>> slices;
  for (const Json& event : events_of(trace_json("all of it", run.step()))) {
    if (event["ph"] != "X") continue;
    const double begin = event["ts"], length = event["dur"];
    REQUIRE(length > 0);
    slices[event["tid"]].emplace_back(begin, begin + length);
  }
  for (auto& [track, of_track] : slices) {
    INFO("track " << track);
    std::ranges::sort(of_track);
    for (std::size_t i = 1; i < of_track.size(); ++i) {
      // From whatever moment they count.
      for (const double zero : {0.0, of_track.front().first, 0.1}) {
        REQUIRE(of_track[i - 1].second - zero <= of_track[i].first - zero);
      }
    }
  }
}

TEST_CASE("each arrow has one end in a slice of either track, the later one at its beginning") {
  const NvmeRun run;
  const Json events = events_of(trace_json("all of it", run.step()));
  std::map<std::pair<int, std::int64_t>, std::int64_t> ends;  // of slices, by track and begin
  for (const Json& event : of_phase(events, "X")) {
    const std::int64_t begin = nanoseconds(event["ts"]);
    std::int64_t& end = ends[{event["tid"].get<int>(), begin}];
    end = std::max(end, begin + static_cast<std::int64_t>(event["dur"].get<double>() * 1000 + 0.5));
  }
  std::map<int, Json> starts, targets;
  for (const Json& event : of_phase(events, "s")) {
    CHECK(starts.emplace(event["id"], event).second);
  }
  for (const Json& event : of_phase(events, "f")) {
    CHECK(targets.emplace(event["id"], event).second);
  }
  CHECK(starts.size() >= 20);
  REQUIRE(starts.size() == targets.size());
  for (const auto& [id, start] : starts) {
    const std::int64_t ts = nanoseconds(start["ts"]);
    CHECK(start["tid"] != kCompute);
    auto slice = ends.upper_bound({start["tid"].get<int>(), ts});
    REQUIRE(slice != ends.begin());
    --slice;
    CHECK(slice->first.first == start["tid"]);
    CHECK(slice->second == ts + 1);
    const Json& target = targets.at(id);
    CHECK(ends.contains({target["tid"].get<int>(), nanoseconds(target["ts"])}));
    CHECK(nanoseconds(target["ts"]) >= ts);
  }
}

TEST_CASE("what the GPU waits for in a trace is what the account says, to the nanosecond a slice") {
  const NvmeRun run;
  const auto slices = of_phase(events_of(trace_json("all of it", run.step())), "X");
  std::map<std::string, std::int64_t> waited;
  std::int64_t count = 0;
  for (const Json& slice : slices) {
    if (slice["tid"] != kStalls) continue;
    waited[slice["name"]] += static_cast<std::int64_t>(slice["dur"].get<double>() * 1000 + 0.5);
    ++count;
  }
  const sim::Account account = sim::account(run.step().program, run.step().limited);
  std::size_t causes = 0;
  for (std::size_t c = 0; c < account.stalled.size(); ++c) {
    const std::string cause(sim::kStallCauseNames[c]);
    const std::int64_t exact = account.stalled[c].count() / 1000;
    CHECK(std::abs(waited[cause] - exact) <= count);
    if (exact > 0) ++causes;
  }
  CHECK(causes >= 3);
}

TEST_CASE("the timeline has a row for each change, and its highest sum is the peak") {
  const CopyStep step;
  CHECK(timeline_csv(step.played()) ==
        "time_s,tier,category,bytes\n"
        "0.000000000000,hbm,gradients,60\n"
        "0.000010000000,host,gradients,60\n"
        "0.000025000000,hbm,gradients,0\n");

  const NvmeRun run;
  const std::string text = timeline_csv(run.step());
  CHECK(static_cast<std::size_t>(std::ranges::count(text, '\n')) ==
        run.step().limited.memory.size() + 1);
  std::map<std::string, std::map<std::string, std::int64_t>> levels;
  std::map<std::string, std::int64_t> peaks;
  for (std::size_t at = text.find('\n') + 1; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::size_t tier = line.find(',') + 1, category = line.find(',', tier) + 1;
    const std::size_t bytes = line.find(',', category) + 1;
    auto& of_tier = levels[line.substr(tier, category - tier - 1)];
    of_tier[line.substr(category, bytes - category - 1)] = std::stoll(line.substr(bytes));
    std::int64_t sum = 0;
    for (const auto& [name, level] : of_tier) sum += level;
    std::int64_t& peak = peaks[line.substr(tier, category - tier - 1)];
    peak = std::max(peak, sum);
  }
  const Report report = evaluate(run.spec);
  for (std::size_t t = 0; t < kTierCount; ++t) {
    CHECK(peaks[std::string(kTierNames[t])] == report.tiers[t].peak.count);
  }
}
