#include "tools/profile.hpp"

#include <algorithm>
#include <optional>

namespace tidemark::tools {
namespace {

std::optional<sim::StepPart> profile_part(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return sim::StepPart::kForward;
    case Phase::kRecompute:
    case Phase::kBackward:
      return sim::StepPart::kBackward;
    case Phase::kOptimizer:
      return sim::StepPart::kOptimizer;
    case Phase::kZeroGrad:
    case Phase::kTransfer:
    case Phase::kCommunication:
      break;
  }
  return std::nullopt;
}

std::vector<ProfileSpan> profile_spans(const Program& program, const sim::Result& result) {
  std::vector<ProfileSpan> spans;
  for (const InstanceId id : program.order[static_cast<std::size_t>(Stream::kCompute)]) {
    const sim::InstanceRecord& record = result.records[index(id)];
    const auto part = profile_part(program.instances[index(id)].phase);
    if (!part || record.finish == sim::kNever) continue;
    if (spans.empty() || spans.back().part != *part) {
      spans.push_back({*part, record.start, record.finish});
    }
    spans.back().end = record.finish;
  }
  return spans;
}

// One tier's columns while the memory events go by.
class Columns {
 public:
  Columns(SimTime end, std::size_t count) : end_(end), fullest_(count) {}

  // `level` holds from `begin` to `end`; a level that holds for no time counts where it stands.
  void hold(const sim::Level& level, SimTime begin, SimTime end) {
    const std::size_t first = column_of(begin);
    std::size_t last = first;
    if (end > begin) last = column_of(SimTime(end.count() - 1));
    for (std::size_t c = first; c <= last; ++c) {
      if (level.total >= fullest_[c].total) fullest_[c] = level;
    }
  }

  std::vector<sim::Level> take() { return std::move(fullest_); }

 private:
  std::size_t column_of(SimTime time) const {
    const auto count = static_cast<Int128>(fullest_.size());
    const Int128 column = end_.count() == 0 ? 0 : count * time.count() / end_.count();
    return static_cast<std::size_t>(std::min(column, count - 1));
  }

  SimTime end_;
  std::vector<sim::Level> fullest_;
};

}  // namespace

MemoryProfile make_profile(const Program& program, const sim::Result& result, std::size_t columns) {
  MemoryProfile profile;
  profile.end = result.end;
  if (columns == 0) return profile;
  profile.spans = profile_spans(program, result);
  std::vector<Columns> tiers(kTierCount, Columns(result.end, columns));
  std::array<sim::Level, kTierCount> levels{};
  std::array<SimTime, kTierCount> since{};
  for (const sim::MemoryEvent& event : result.memory) {
    const Buffer& buffer = program.buffers[index(event.buffer)];
    const auto tier = static_cast<std::size_t>(buffer.tier);
    // What is there before the step is one level, not a climb to it.
    const bool before = event.time.count() == 0 && event.instance == kNoInstance;
    if (!before) tiers[tier].hold(levels[tier], since[tier], event.time);
    const Bytes change = event.allocated ? buffer.bytes : Bytes(-buffer.bytes.count);
    levels[tier].total += change;
    levels[tier].by_category[static_cast<std::size_t>(buffer.category)] += change;
    since[tier] = event.time;
  }
  for (std::size_t t = 0; t < kTierCount; ++t) {
    tiers[t].hold(levels[t], since[t], result.end);
    profile.columns[t] = tiers[t].take();
  }
  return profile;
}

}  // namespace tidemark::tools
