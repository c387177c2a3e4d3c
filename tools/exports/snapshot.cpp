#include "tools/exports/snapshot.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>


namespace tidemark::tools {
namespace {

constexpr int kDevice = 0;
constexpr std::uint64_t kFrameIds = std::uint64_t{1} << 63;  // apart from those of lists of frames

class SnapshotWriter {
 public:
  SnapshotWriter(const PlayedStep& step, const MemoryRecording& recording, Document& out)
      : step_(step), recording_(recording), out_(out) {}

  void write(std::string_view settings) {
    out_.dictionary();
    out_.key("segments");
    out_.list();
    for (const sim::SnapshotSegment& each : recording_.segments) segment(each);
    out_.end();
    out_.key("device_traces");
    out_.list();
    out_.list();
    for (const RecordedEvent& each : recording_.events) event(each);
    out_.end();
    out_.end();
    out_.key("allocator_settings");
    out_.dictionary();
    out_.text_at("PYTORCH_CUDA_ALLOC_CONF", settings);
    out_.end();
    out_.key("external_annotations");
    out_.list();
    out_.end();
    out_.end();
  }

 private:
  void segment(const sim::SnapshotSegment& segment) {
    Bytes allocated, active, requested;
    for (const sim::SnapshotBlock& block : segment.blocks) {
      if (block.state == sim::SnapshotState::kInactive) continue;
      active += block.size;
      requested += block.requested;
      if (block.state == sim::SnapshotState::kAllocated) allocated += block.size;
    }
    out_.dictionary();
    out_.number_at("device", kDevice);
    address_at("address", segment.address);
    out_.number_at("total_size", segment.size.count);
    out_.number_at("allocated_size", allocated.count);
    out_.number_at("active_size", active.count);
    out_.number_at("requested_size", requested.count);
    out_.number_at("stream", static_cast<std::int64_t>(segment.stream));
    out_.text_at("segment_type", segment.small ? "small" : "large");
    out_.key("segment_pool_id");
    out_.list();  // the pool of no CUDA graph
    out_.number(0);
    out_.number(0);
    out_.end();
    out_.key("is_expandable");
    out_.flag(segment.expandable);
    out_.key("frames");
    out_.list();
    out_.end();
    out_.key("blocks");
    out_.list();
    for (const sim::SnapshotBlock& each : segment.blocks) block(each);
    out_.end();
    out_.end();
  }

  void block(const sim::SnapshotBlock& block) {
    out_.dictionary();
    address_at("address", block.address);
    out_.number_at("size", block.size.count);
    out_.number_at("requested_size", block.requested.count);
    out_.text_at("state", sim::kSnapshotStateNames[static_cast<std::size_t>(block.state)]);
    out_.key("frames");
    const auto buffer = recording_.buffer_at.find(block.address);
    if (block.state == sim::SnapshotState::kInactive || buffer == recording_.buffer_at.end()) {
      out_.list();
      out_.end();
    } else {
      const auto made_by = recording_.made_by.find(index(buffer->second));
      frames(buffer->second, made_by == recording_.made_by.end() ? kNoInstance : made_by->second);
    }
    out_.end();
  }

  void event(const RecordedEvent& event) {
    const bool oom = event.what.action == sim::MemoryAction::kOutOfMemory;
    out_.dictionary();
    out_.text_at("action", sim::kMemoryActionNames[static_cast<std::size_t>(event.what.action)]);
    address_at(oom ? "device_free" : "addr", event.what.address);
    out_.number_at("size", event.what.size.count);
    out_.number_at("stream", static_cast<std::int64_t>(event.what.stream));
    out_.number_at("time_us", event.time.count() / 1'000'000);
    out_.key("frames");
    if (event.buffer != kNoBuffer) {
      frames(event.buffer, event.instance);
    } else {
      out_.list();
      frame("step", 0, "an attempt that found too little memory");
      out_.end();
    }
    out_.end();
  }

  // Innermost first.
  void frames(BufferId id, InstanceId instance) {
    const std::uint64_t list = std::uint64_t{index(id)} << 32 | index(instance);
    if (out_.repeat(list)) return;
    out_.list();
    frame(name_of(step_.program.buffers[index(id)].category), 0, name_of(step_, id));
    if (instance == kNoInstance) {
      frame("step", 0, "before the step");
    } else {
      const Instance& what = step_.program.instances[index(instance)];
      const int layer = what.layer < 0 ? 0 : what.layer;
      frame(what.layer < 0 ? "outside the blocks" : fmt::format("block {}", layer), layer,
            name_of(step_, instance));
      frame("step", 0, name_of(what.phase));
    }
    out_.end();
    out_.remember(list);
  }

  void frame(std::string_view file, int line, std::string_view name) {
    const auto known = frames_.try_emplace(std::tuple(std::string(file), line, std::string(name)),
                                           kFrameIds + frames_.size());
    if (out_.repeat(known.first->second)) return;
    out_.dictionary();
    out_.text_at("filename", file);
    out_.number_at("line", line);
    out_.text_at("name", name);
    out_.end();
    out_.remember(known.first->second);
  }

  void address_at(std::string_view key, std::uint64_t address) {
    out_.number_at(key, static_cast<std::int64_t>(address));
  }

  const PlayedStep& step_;
  const MemoryRecording& recording_;
  Document& out_;
  std::map<std::tuple<std::string, int, std::string>, std::uint64_t> frames_;
};

}  // namespace

void write_snapshot(const PlayedStep& step, const MemoryRecording& recording,
                    std::string_view settings, Document& out) {
  SnapshotWriter(step, recording, out).write(settings);
}

}  // namespace tidemark::tools
