#pragma once
// What torch.cuda.memory's history would show of a step: every event of HBM's allocator with the
// instance and the buffer that it was for, and the segments as they were at the end.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/allocators/memory_snapshot.hpp"
#include "sim/result.hpp"
#include "tools/report.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {

struct RecordedEvent {
  sim::MemoryTraceEvent what;
  SimTime time{};
  InstanceId instance =
      kNoInstance;              // that allocates or has finished; kNoInstance: before the step
  BufferId buffer = kNoBuffer;  // of an allocation or a free; kNoBuffer: see `given_up`
  bool given_up = false;  // of an attempt that did not get all that it wanted, and gave this back
};

struct MemoryRecording {
  std::vector<RecordedEvent> events;                      // in order of occurrence
  sim::MemorySnapshot segments;                           // at the end of the step
  std::unordered_map<std::uint64_t, BufferId> buffer_at;  // by address of an allocated block
  std::unordered_map<std::uint32_t, InstanceId> made_by;  // by buffer, of those made in the step
};

// Of a step whose allocator is ideal: a stand-in, where each buffer is a segment of its own that
// the driver gives and takes back, at an address that no other buffer has had.
MemoryRecording recording_of(const PlayedStep& step, const sim::Result& result);

// Of the last step that `choice`, the caching allocator, plays: the steady one, or the one that
// runs out of memory. The steps are played again for it. `of_first`: what was recorded is the first
// step.
struct RecordedStep {
  MemoryRecording recording;
  sim::Result result;
  bool of_first = false;
};
RecordedStep record_caching(const Steps& steps, const scenarios::AllocatorChoice& choice,
                            sim::Capacity capacity);

}  // namespace tidemark::tools
