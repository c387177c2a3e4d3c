#include "tools/exports/snapshot.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "scenarios/load.hpp"
#include "sim/options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/unpickle.hpp"
#include "tools/evaluate.hpp"
#include "tools/exports/memory_recording.hpp"
#include "tools/steps.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

using Json = nlohmann::json;

scenarios::RunSpec run_of(const std::string& allocator, int micro_batch) {
  const auto source = std::make_shared<const scenarios::Source>(scenarios::Source{
      "test.yaml", "model: gpt2-124m\ntraining: {micro_batch: " + std::to_string(micro_batch) +
                       ", sequence: 1024, precision: bf16-mixed}\n"
                       "hardware: rtx-4090\ncheckpoint: full\nallocator: " +
                       allocator + "\nstrategies: [{name: only}]\n"});
  return scenarios::load(source).runs.at(0);
}

template <class Kind>
std::string written(const PlayedStep& step, const MemoryRecording& recording) {
  Kind document;
  write_snapshot(step, recording, "max_split_size_mb:128", document);
  return document.finish();
}

// The blocks and segments that a snapshot's trace leads to, from what was there before it: blocks
// of the end that the trace did not make, and what it frees without having made it.
struct Replay {
  std::map<std::uint64_t, std::int64_t> blocks;    // requested bytes, by address
  std::map<std::uint64_t, std::int64_t> segments;  // bytes, by address
  std::int64_t level = 0, peak = 0;                // of requested bytes
  std::int64_t reserved = 0, reserved_peak = 0;
  bool ends_out_of_memory = false;

  explicit Replay(const Json& snapshot) {
    const Json& trace = snapshot["device_traces"].at(0);
    before(snapshot, trace);
    for (const auto& [address, size] : blocks) level += size;
    for (const auto& [address, size] : segments) reserved += size;
    peak = level;
    reserved_peak = reserved;
    std::int64_t now = 0;
    for (const Json& event : trace) {
      REQUIRE(event["time_us"].get<std::int64_t>() >= now);
      now = event["time_us"];
      play(event);
    }
  }

 private:
  // Backward through the trace.
  void before(const Json& snapshot, const Json& trace) {
    for (const Json& segment : snapshot["segments"]) {
      segments[segment["address"]] = segment["total_size"];
      for (const Json& block : segment["blocks"]) {
        if (block["state"] == "active_allocated")
          blocks[block["address"]] = block["requested_size"];
      }
    }
    for (std::size_t i = trace.size(); i-- > 0;) {
      const std::string action = trace[i]["action"];
      if (action == "alloc") REQUIRE(blocks.erase(trace[i]["addr"]) == 1);
      if (action == "free_completed") blocks[trace[i]["addr"]] = trace[i]["size"];
      if (action == "segment_alloc") REQUIRE(segments.erase(trace[i]["addr"]) == 1);
      if (action == "segment_free") segments[trace[i]["addr"]] = trace[i]["size"];
    }
  }

  void play(const Json& event) {
    const std::string action = event["action"];
    ends_out_of_memory = action == "oom";
    if (action == "oom") {
      CHECK(event.contains("device_free"));
      return;
    }
    const std::uint64_t address = event["addr"];
    const std::int64_t size = event["size"];
    if (action == "alloc") {
      REQUIRE(inside_a_segment(address, size));
      REQUIRE(blocks.emplace(address, size).second);
      level += size;
    } else if (action == "free_completed") {
      const auto block = blocks.find(address);
      REQUIRE(block != blocks.end());
      REQUIRE(block->second == size);
      level -= size;
      blocks.erase(block);
    } else if (action == "segment_alloc") {
      REQUIRE(segments.emplace(address, size).second);
      reserved += size;
    } else if (action == "segment_free") {
      REQUIRE(segments.erase(address) == 1);
      reserved -= size;
    } else {
      REQUIRE(action == "free_requested");
    }
    peak = std::max(peak, level);
    reserved_peak = std::max(reserved_peak, reserved);
  }

  bool inside_a_segment(std::uint64_t address, std::int64_t size) const {
    auto segment = segments.upper_bound(address);
    if (segment == segments.begin()) return false;
    --segment;
    return address + static_cast<std::uint64_t>(size) <=
           segment->first + static_cast<std::uint64_t>(segment->second);
  }
};

// Bytes of HBM that no allocator hands out.
std::int64_t set_aside(const Program& program) {
  std::int64_t sum = 0;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.tier == Tier::kHbm && sim::is_set_aside(buffer)) sum += buffer.bytes.count;
  }
  return sum;
}

void check_fields(const Json& snapshot) {
  CHECK(snapshot["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"] == "max_split_size_mb:128");
  CHECK(snapshot["device_traces"].size() == 1);
  REQUIRE(!snapshot["segments"].empty());
  for (const Json& segment : snapshot["segments"]) {
    std::uint64_t next = segment["address"];
    std::int64_t allocated = 0, requested = 0;
    for (const Json& block : segment["blocks"]) {
      REQUIRE(block["address"] == next);
      next += block["size"].get<std::uint64_t>();
      if (block["state"] != "active_allocated") continue;
      REQUIRE(!block["frames"].empty());
      allocated += block["size"].get<std::int64_t>();
      requested += block["requested_size"].get<std::int64_t>();
    }
    REQUIRE(next ==
            segment["address"].get<std::uint64_t>() + segment["total_size"].get<std::uint64_t>());
    REQUIRE(segment["allocated_size"] == allocated);
    REQUIRE(segment["active_size"] == allocated);
    REQUIRE(segment["requested_size"] == requested);
    for (const char* key : {"device", "stream", "segment_type", "is_expandable", "frames"}) {
      REQUIRE(segment.contains(key));
    }
  }
  for (const Json& event : snapshot["device_traces"][0]) {
    // memory_viz takes the key for the name of a category and fails.
    REQUIRE(!event.contains("category"));
    for (const char* key : {"action", "size", "stream", "time_us", "frames"}) {
      REQUIRE(event.contains(key));
    }
    for (const Json& frame : event["frames"]) {
      REQUIRE(frame["filename"].is_string());
      REQUIRE(frame["line"].is_number_integer());
      REQUIRE(frame["name"].is_string());
    }
  }
}

}  // namespace

TEST_CASE("a snapshot of the caching allocator leads, event by event, to the segments at its end") {
  const scenarios::RunSpec run = run_of("caching", 4);
  const Steps steps(run);
  const RecordedStep recorded = record_caching(steps, run.allocator, sim::Capacity::kEnforced);
  CHECK(!recorded.of_first);
  const PlannedStep& planned = steps.steady();
  const PlayedStep step{planned.graph, planned.program, recorded.result};
  const Json snapshot = Json::parse(written<JsonDocument>(step, recorded.recording));
  check_fields(snapshot);

  const Replay replay(snapshot);
  const Report report = evaluate(run);
  const TierReport& hbm = report.tier(Tier::kHbm);
  const std::int64_t context = set_aside(planned.program);
  CHECK(replay.peak + context == hbm.peak.count);
  CHECK(replay.level + context == hbm.end.count);
  CHECK(replay.reserved_peak + context == hbm.peak_reserved.count);
}

TEST_CASE("pickle and JSON of a snapshot say the same") {
  const scenarios::RunSpec run = run_of("caching", 1);
  const Steps steps(run);
  const RecordedStep recorded = record_caching(steps, run.allocator, sim::Capacity::kEnforced);
  const PlayedStep step{steps.steady().graph, steps.steady().program, recorded.result};
  const std::string pickle = written<PickleDocument>(step, recorded.recording);
  const std::string json = written<JsonDocument>(step, recorded.recording);
  CHECK(test::Unpickler(pickle).read() == Json::parse(json));
  CHECK(pickle.size() < json.size() / 2);
}

TEST_CASE("frames name the tensor, the op with its block, and the phase") {
  const scenarios::RunSpec run = run_of("caching", 1);
  const Steps steps(run);
  const RecordedStep recorded = record_caching(steps, run.allocator, sim::Capacity::kEnforced);
  const PlayedStep step{steps.steady().graph, steps.steady().program, recorded.result};
  const Json snapshot = Json::parse(written<JsonDocument>(step, recorded.recording));
  std::set<std::string> phases, blocks, categories;
  for (const Json& event : snapshot["device_traces"][0]) {
    if (event["action"] != "alloc") continue;
    const Json& frames = event["frames"];
    REQUIRE(frames.size() == 3);
    categories.insert(frames[0]["filename"]);
    CHECK(frames[0]["name"] != "");
    const std::string place = frames[1]["filename"];
    if (place != "outside the blocks") {
      CHECK(place == "block " + std::to_string(frames[1]["line"].get<int>()));
      blocks.insert(place);
    }
    CHECK(frames[2]["filename"] == "step");
    phases.insert(frames[2]["name"]);
  }
  CHECK(blocks.size() == 12);  // of GPT-2 124M
  CHECK(phases.contains("forward"));
  CHECK(phases.contains("recompute"));
  CHECK(phases.contains("backward"));
  CHECK(categories.contains("activations"));
}

TEST_CASE("a step that runs out of memory ends with that, and with what was there") {
  // 22.8 GB live at most on 25.4 GB, and the second step finds no piece that is large enough
  // (scenarios/fragmentation.yaml).
  const scenarios::RunSpec run = run_of("caching", 32);
  const Steps steps(run);
  const RecordedStep recorded = record_caching(steps, run.allocator, sim::Capacity::kEnforced);
  REQUIRE(recorded.result.out_of_memory.has_value());
  CHECK(!recorded.of_first);
  const PlayedStep step{steps.steady().graph, steps.steady().program, recorded.result};
  const Json snapshot = Json::parse(written<JsonDocument>(step, recorded.recording));
  check_fields(snapshot);
  const Json& trace = snapshot["device_traces"][0];
  const auto last_oom = std::find_if(trace.rbegin(), trace.rend(),
                                     [](const Json& event) { return event["action"] == "oom"; });
  REQUIRE(last_oom != trace.rend());
  const auto& failure = *recorded.result.out_of_memory->failure;
  CHECK((*last_oom)["device_free"] == failure.free.count);
  CHECK((*last_oom)["frames"][0]["name"] == "an attempt that found too little memory");
  const Replay replay(snapshot);
  std::int64_t reserved = 0;
  for (const auto& [address, size] : replay.segments) reserved += size;
  CHECK(reserved == replay.reserved);
}

TEST_CASE("with the ideal allocator each buffer is a segment of its own at an address of its own") {
  const scenarios::RunSpec run = run_of("ideal", 2);
  const Steps steps(run);
  const PlayedSteps played = steps.play(run.allocator, sim::Capacity::kEnforced);
  const PlayedStep step{steps.steady().graph, steps.steady().program, *played.steady};
  const MemoryRecording recording = recording_of(step, step.limited);
  const Json snapshot = Json::parse(written<JsonDocument>(step, recording));
  check_fields(snapshot);
  const Replay replay(snapshot);
  const std::int64_t context = set_aside(step.program);
  const Report report = evaluate(run);
  CHECK(replay.peak + context == report.tier(Tier::kHbm).peak.count);
  CHECK(replay.level + context == report.tier(Tier::kHbm).end.count);
  CHECK(replay.reserved_peak == replay.peak);
  std::set<std::uint64_t> addresses;
  for (const Json& event : snapshot["device_traces"][0]) {
    if (event["action"] == "alloc")
      CHECK(addresses.insert(event["addr"].get<std::uint64_t>()).second);
  }
}

TEST_CASE("an ideal step without room ends out of memory") {
  const scenarios::RunSpec run = run_of("ideal", 64);
  const Steps steps(run);
  const PlayedSteps played = steps.play(run.allocator, sim::Capacity::kEnforced);
  REQUIRE(played.first.out_of_memory.has_value());
  const PlayedStep step{steps.first().graph, steps.first().program, played.first};
  const MemoryRecording recording = recording_of(step, step.limited);
  const Json snapshot = Json::parse(written<JsonDocument>(step, recording));
  const Replay replay(snapshot);
  CHECK(replay.ends_out_of_memory);
  const Json& last = snapshot["device_traces"][0].back();
  CHECK(last["size"] == played.first.out_of_memory->requested.count);
  CHECK(last["device_free"] == played.first.out_of_memory->free.count);
  CHECK(last["frames"].size() == 3);
}
