#pragma once
// A recorded run of a real caching allocator, as plain text (tools/replay_allocator_logs.py), and
// its replay against the model.

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/allocators/caching.hpp"

namespace tidemark::test {

struct AllocatorRecording {
  std::string settings;
  sim::MemorySnapshot start, end;
  std::vector<sim::MemoryTraceEvent> events;
};

inline std::string describe(const sim::MemoryTraceEvent& event) {
  return std::string(sim::kMemoryActionNames[static_cast<std::size_t>(event.action)]) + " " +
         std::to_string(event.address) + " " + std::to_string(event.size.count);
}

template <class Names>
std::size_t row_of(const Names& names, const std::string& name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
  }
  throw std::runtime_error("unknown word in a recording: " + name);
}

inline AllocatorRecording read_recording(std::istream& in) {
  AllocatorRecording recording;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind, name;
    std::uint64_t address = 0;
    std::int64_t size = 0, requested = 0;
    words >> kind;
    if (kind == "settings") {
      std::getline(words >> std::ws, recording.settings);
    } else if (kind == "start_segment" || kind == "end_segment") {
      words >> address >> size >> name;
      auto& state = kind == "end_segment" ? recording.end : recording.start;
      state.push_back({address, Bytes(size), Stream::kCompute, name == "small", false, {}});
    } else if (kind == "start_block" || kind == "end_block") {
      words >> address >> size >> requested >> name;
      auto& state = kind == "end_block" ? recording.end : recording.start;
      state.back().blocks.push_back(
          {address, Bytes(size), Bytes(requested),
           static_cast<sim::SnapshotState>(row_of(sim::kSnapshotStateNames, name))});
    } else if (kind == "event") {
      words >> name >> address >> size;
      recording.events.push_back(
          {static_cast<sim::MemoryAction>(row_of(sim::kMemoryActionNames, name)), address,
           Bytes(size), Stream::kCompute});
    } else {
      throw std::runtime_error("unknown line in a recording: " + line);
    }
    if (words.fail() && kind != "settings") throw std::runtime_error("incomplete line: " + line);
  }
  return recording;
}

struct ReplayResult {
  std::vector<std::string> differences;  // at most a few; empty: the model did exactly the same
  std::size_t events = 0;                // that agreed, segment events included
  std::size_t segment_events = 0;
  std::size_t end_segments = 0, end_blocks = 0;
};

// Feeds requests and frees to the model and compares every event that it makes: action, address and
// size, in the same order; then the state at the end, block by block. Addresses of new segments are
// the driver's choice, and given to the model; that a segment is asked for, and how large, is not.
inline ReplayResult replay(const AllocatorRecording& recording) {
  using sim::MemoryAction;
  ReplayResult result;
  const auto differ = [&](const std::string& what) {
    if (result.differences.size() < 10) result.differences.push_back(what);
  };
  const auto parsed = sim::parse_caching_settings(recording.settings);
  if (!parsed.errors.empty()) differ(parsed.errors.front().reason);
  sim::CachingAllocator model(Bytes(std::int64_t{1} << 50), parsed.settings, recording.start);
  model.trace(sim::Trace::kOn);
  std::unordered_map<std::uint64_t, std::uint64_t> handles;  // by address
  for (const auto& segment : model.snapshot()) {
    for (const auto& block : segment.blocks) {
      if (block.state != sim::SnapshotState::kAllocated) continue;
      handles[block.address] = *model.handle_at(block.address);
    }
  }
  std::size_t seen = 0;  // events of the recording, all of which the model has been led to
  for (std::size_t i = 0; i < recording.events.size(); ++i) {
    const auto& event = recording.events[i];
    if (event.action == MemoryAction::kSegmentAlloc) {
      model.driver().place_next_at(event.address);
    } else if (event.action == MemoryAction::kAlloc) {
      const auto allocation = model.allocate(event.size, event.stream);
      handles[event.address] = allocation->handle;
    } else if (event.action == MemoryAction::kFreeRequested) {
      const auto handle = handles.find(event.address);
      if (handle == handles.end()) {
        differ("event " + std::to_string(i) + ": nothing to free at this address");
        return result;
      }
      model.free(handle->second);
      handles.erase(handle);
      continue;  // its completion is the next event
    } else if (event.action != MemoryAction::kFreeCompleted) {
      differ("event " + std::to_string(i) + ": " + describe(event) + " is not replayed");
    }
    if (event.action == MemoryAction::kSegmentAlloc) continue;
    const auto& made = model.trace_events();
    for (; seen <= i; ++seen) {
      const bool same = seen < made.size() && made[seen] == recording.events[seen];
      if (same) {
        ++result.events;
        result.segment_events += made[seen].action == MemoryAction::kSegmentAlloc;
        continue;
      }
      differ("event " + std::to_string(seen) + ": recorded " + describe(recording.events[seen]) +
             ", model " + (seen < made.size() ? describe(made[seen]) : "nothing"));
      return result;  // from here on the two are not comparable
    }
  }
  if (model.trace_events().size() != recording.events.size()) differ("the model made more events");

  sim::MemorySnapshot end = model.snapshot();
  for (std::size_t s = 0; s < end.size() && s < recording.end.size(); ++s) {
    ++result.end_segments;
    result.end_blocks += end[s].blocks.size();
    // What was free from before the start on served a request that is not recorded.
    for (std::size_t b = 0; b < end[s].blocks.size() && b < recording.end[s].blocks.size(); ++b) {
      auto& block = end[s].blocks[b];
      if (block.requested.count < 0) block.requested = recording.end[s].blocks[b].requested;
    }
    if (end[s] != recording.end[s]) {
      differ("segment " + std::to_string(recording.end[s].address) + " ends differently");
    }
  }
  if (end.size() != recording.end.size()) differ("the number of segments differs");
  return result;
}

}  // namespace tidemark::test
