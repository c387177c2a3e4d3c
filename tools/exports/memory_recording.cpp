#include "tools/exports/memory_recording.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "hardware/ensure.hpp"
#include "sim/allocators/caching.hpp"
#include "sim/options.hpp"

namespace tidemark::tools {
namespace {

using sim::MemoryAction;

// One call of the executor's and the events that it caused.
struct Call {
  std::size_t first_event = 0;  // rows of the allocator's trace
  std::size_t last_event = 0;
  std::uint64_t address = 0;  // 0: of no bytes
  bool allocates = false;
  bool given_up = false;
};

// Stands between the executor and an allocator and takes down what they say.
class Recorder final : public sim::Allocator {
 public:
  explicit Recorder(sim::CachingAllocator& inner) : inner_(inner) {}

  std::optional<sim::Allocation> allocate(Bytes bytes, Stream stream) override {
    Call call = begin();
    const std::optional<sim::Allocation> granted = inner_.allocate(bytes, stream);
    call.allocates = true;
    call.given_up = !granted;
    if (granted && granted->handle != 0) call.address = inner_.address_of(granted->handle);
    end(call);
    return granted;
  }
  void free(std::uint64_t handle) override {
    Call call = begin();
    if (handle != 0) call.address = inner_.address_of(handle);
    inner_.free(handle);
    end(call);
  }
  Bytes available() const override { return inner_.available(); }
  sim::AllocatorStatistics statistics() const override { return inner_.statistics(); }
  std::optional<sim::AllocationFailure> last_failure() const override {
    return inner_.last_failure();
  }
  bool set_aside(Bytes bytes) override { return inner_.set_aside(bytes); }
  void reset_peaks() override { inner_.reset_peaks(); }
  void begin_attempt(sim::Attempt attempt) override {
    attempt_ = calls_.size();
    inner_.begin_attempt(attempt);
  }
  SimTime abandon_attempt() override {
    for (std::size_t i = attempt_; i < calls_.size(); ++i) calls_[i].given_up = true;
    return inner_.abandon_attempt();
  }

  const std::vector<Call>& calls() const { return calls_; }
  const sim::CachingAllocator& inner() const { return inner_; }

 private:
  Call begin() const {
    Call call;
    call.first_event = inner_.trace_events().size();
    return call;
  }
  void end(Call call) {
    call.last_event = inner_.trace_events().size();
    calls_.push_back(call);
  }

  sim::CachingAllocator& inner_;
  std::vector<Call> calls_;
  std::size_t attempt_ = 0;
};

bool in_hbm(const Program& program, BufferId buffer) {
  return program.buffers[index(buffer)].tier == Tier::kHbm;
}

// Puts calls and the memory events of the Result side by side: both are in order of occurrence.
class Pairing {
 public:
  Pairing(const Program& program, const sim::Result& result, const Recorder& recorder,
          std::span<const sim::KeptBuffer> carried)
      : program_(program), result_(result), recorder_(recorder) {
    for (const sim::KeptBuffer& kept : carried) {
      carried_[index(kept.buffer)] =
          kept.handle == 0 ? 0 : recorder.inner().address_of(kept.handle);
    }
  }

  MemoryRecording pair() && {
    for (const sim::MemoryEvent& event : result_.memory) {
      if (!in_hbm(program_, event.buffer)) continue;
      const Buffer& buffer = program_.buffers[index(event.buffer)];
      const auto there = carried_.find(index(event.buffer));
      if (event.allocated && there != carried_.end()) {
        if (there->second != 0) recording_.buffer_at[there->second] = event.buffer;
        continue;
      }
      if (sim::is_set_aside(buffer)) continue;
      given_up();
      ensure(next_ < recorder_.calls().size(), "each memory event was a call");
      take(recorder_.calls()[next_++], event);
    }
    given_up();
    recording_.segments = recorder_.inner().snapshot();
    return std::move(recording_);
  }

 private:
  // Calls that led to nothing, up to the next that did.
  void given_up() {
    while (next_ < recorder_.calls().size() && recorder_.calls()[next_].given_up) {
      const Call& call = recorder_.calls()[next_++];
      for (std::size_t i = call.first_event; i < call.last_event; ++i) {
        recording_.events.push_back(
            {recorder_.inner().trace_events()[i], now_, kNoInstance, kNoBuffer, true});
      }
    }
  }

  void take(const Call& call, const sim::MemoryEvent& event) {
    ensure(call.allocates == event.allocated, "calls and memory events go together");
    now_ = event.time;
    for (std::size_t i = call.first_event; i < call.last_event; ++i) {
      recording_.events.push_back(
          {recorder_.inner().trace_events()[i], event.time, event.instance, event.buffer, false});
    }
    if (call.address == 0) return;
    if (!call.allocates) {
      recording_.buffer_at.erase(call.address);
      return;
    }
    recording_.buffer_at[call.address] = event.buffer;
    recording_.made_by[index(event.buffer)] = event.instance;
  }

  const Program& program_;
  const sim::Result& result_;
  const Recorder& recorder_;
  std::unordered_map<std::uint32_t, std::uint64_t> carried_;  // addresses, by buffer
  std::size_t next_ = 0;
  SimTime now_{};
  MemoryRecording recording_;
};

// Keeps the recording of the last step that was played.
class LastStep final : public StepWatch {
 public:
  sim::Allocator* before(sim::Allocator& hbm, const PlannedStep& step,
                         std::span<const sim::KeptBuffer> carried) override {
    auto* const caching = dynamic_cast<sim::CachingAllocator*>(&hbm);
    ensure(caching != nullptr, "only the caching allocator has segments to record");
    caching->trace(sim::Trace::kOn);
    step_ = &step;
    carried_.assign(carried.begin(), carried.end());
    recorder_ = std::make_unique<Recorder>(*caching);
    return recorder_.get();
  }
  void after(const sim::Result& result) override {
    recording_ = Pairing(step_->program, result, *recorder_, carried_).pair();
  }

  MemoryRecording take() { return std::move(recording_); }

 private:
  const PlannedStep* step_ = nullptr;
  std::vector<sim::KeptBuffer> carried_;
  std::unique_ptr<Recorder> recorder_;
  MemoryRecording recording_;
};

}  // namespace

MemoryRecording recording_of(const PlayedStep& step, const sim::Result& result) {
  constexpr std::uint64_t kFirstAddress = 0x7f00'0000'0000;  // where drivers place theirs
  constexpr std::uint64_t kGrain = 512;
  MemoryRecording recording;
  std::unordered_map<std::uint32_t, std::uint64_t> addresses;
  std::uint64_t next = kFirstAddress;
  for (const sim::MemoryEvent& event : result.memory) {
    const Buffer& buffer = step.program.buffers[index(event.buffer)];
    if (buffer.tier != Tier::kHbm || buffer.bytes.count == 0 || sim::is_set_aside(buffer)) continue;
    const bool initial = event.instance == kNoInstance;
    const Stream stream =
        initial ? Stream::kCompute : step.program.instances[index(event.instance)].stream;
    const auto add = [&](MemoryAction action, std::uint64_t address) {
      recording.events.push_back(
          {{action, address, buffer.bytes, stream}, event.time, event.instance, event.buffer});
    };
    std::uint64_t& address = addresses[index(event.buffer)];
    if (event.allocated) {
      address = next;
      next += (static_cast<std::uint64_t>(buffer.bytes.count) + kGrain - 1) / kGrain * kGrain;
      recording.buffer_at[address] = event.buffer;
      if (initial) continue;  // there before the recording began
      recording.made_by[index(event.buffer)] = event.instance;
      add(MemoryAction::kSegmentAlloc, address);
      add(MemoryAction::kAlloc, address);
    } else {
      recording.buffer_at.erase(address);
      add(MemoryAction::kFreeRequested, address);
      add(MemoryAction::kFreeCompleted, address);
      add(MemoryAction::kSegmentFree, address);
    }
  }
  if (const auto& oom = result.out_of_memory; oom && oom->tier == Tier::kHbm) {
    const auto free = static_cast<std::uint64_t>(std::max<std::int64_t>(oom->free.count, 0));
    const SimTime time = result.memory.empty() ? SimTime(0) : result.memory.back().time;
    recording.events.push_back(
        {{MemoryAction::kOutOfMemory, free, oom->requested, Stream::kCompute},
         time,
         oom->instance,
         oom->buffer});
  }
  for (const auto& [id, address] : addresses) {
    if (!recording.buffer_at.contains(address)) continue;
    const Buffer& buffer = step.program.buffers[id];
    recording.segments.push_back(
        {address,
         buffer.bytes,
         Stream::kCompute,
         false,
         false,
         {{address, buffer.bytes, buffer.bytes, sim::SnapshotState::kAllocated}}});
  }
  std::ranges::sort(recording.segments, {}, &sim::SnapshotSegment::address);
  return recording;
}

RecordedStep record_caching(const Steps& steps, const scenarios::AllocatorChoice& choice,
                            sim::Capacity capacity) {
  LastStep last;
  PlayedSteps played = steps.play(choice, capacity, &last);
  RecordedStep recorded;
  recorded.of_first = !played.steady.has_value();
  recorded.result = played.steady ? std::move(*played.steady) : std::move(played.first);
  recorded.recording = last.take();
  return recorded;
}

}  // namespace tidemark::tools
