#include "sim/account.hpp"

#include <algorithm>
#include <span>

namespace tidemark::sim {
namespace {

using Levels = std::array<Level, kTierCount>;

template <class Enum>
constexpr std::size_t at(Enum e) {
  return static_cast<std::size_t>(e);
}

Bytes apply(Levels& levels, const Program& program, const MemoryEvent& event) {
  const Buffer& buffer = program.buffers[index(event.buffer)];
  const Bytes change = event.allocated ? buffer.bytes : Bytes(-buffer.bytes.count);
  Level& level = levels[at(buffer.tier)];
  level.total += change;
  level.by_category[at(buffer.category)] += change;
  return level.by_category[at(buffer.category)];
}

// A stretch of memory events in which one part of the step runs.
struct Span {
  StepPart part{};
  std::uint32_t first = 0;
  std::uint32_t last = 0;  // one past
  bool finished = false;   // all of its instances have
};

std::optional<StepPart> part_of(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return StepPart::kForward;
    case Phase::kRecompute:
    case Phase::kBackward:
      return StepPart::kBackward;
    case Phase::kOptimizer:
      return StepPart::kOptimizer;
    case Phase::kZeroGrad:
    case Phase::kTransfer:
    case Phase::kCommunication:
      break;
  }
  return std::nullopt;
}

std::vector<Span> spans_of(const Program& program, const Result& result, std::uint32_t initial) {
  std::vector<Span> spans;
  std::uint32_t border = initial;
  bool open = false;  // the last span goes on
  for (const InstanceId id : program.order[at(Stream::kCompute)]) {
    const InstanceRecord& record = result.records[index(id)];
    const Phase phase = program.instances[index(id)].phase;
    const std::optional<StepPart> part = part_of(phase);
    const bool finished = record.finish != kNever;
    if (phase == Phase::kZeroGrad) open = false;
    if (part && (!open || spans.back().part != *part)) {
      if (!finished && record.ready == kNever) break;
      spans.push_back({*part, border, border, true});
      open = true;
    }
    if (!finished) {
      if (open) {
        spans.back().last = static_cast<std::uint32_t>(result.memory.size());
        spans.back().finished = false;
      }
      break;
    }
    border = record.events_at_finish;
    if (open) spans.back().last = border;
  }
  return spans;
}

void raise(std::optional<Bytes>& peak, Bytes bytes) {
  peak = std::max(peak.value_or(bytes), bytes);
}

// Whose peaks count what happens once the last span is over: copies and updates of the CPU.
StepPart part_after(const Program& program, const Span& last) {
  const bool updates = std::ranges::any_of(
      program.instances, [](const Instance& i) { return i.phase == Phase::kOptimizer; });
  return last.finished && updates ? StepPart::kOptimizer : last.part;
}

// Plays the events of one span after another; `initial` events come before the step. Every event
// of the step counts in the peak of one part.
void account_spans(const Program& program, const Result& result, std::span<const Span> spans,
                   std::uint32_t initial, std::array<TierAccount, kTierCount>& tiers) {
  if (spans.empty()) return;
  Levels levels;
  std::uint32_t row = 0;
  const auto play_to = [&](std::uint32_t end, StepPart part) {
    const auto raise_all = [&] {
      for (std::size_t t = 0; t < kTierCount; ++t) {
        raise(tiers[t].phase_peak[at(part)], levels[t].total);
      }
    };
    raise_all();
    while (row < end) {
      apply(levels, program, result.memory[row++]);
      raise_all();
    }
  };
  while (row < initial) apply(levels, program, result.memory[row++]);
  for (const Span& span : spans) {
    if (row < span.first) play_to(span.first, StepPart::kOptimizer);
    play_to(span.last, span.part);
    for (std::size_t t = 0; t < kTierCount; ++t) {
      std::optional<Level>& live = tiers[t].live_after[at(span.part)];
      live = span.finished ? std::optional(levels[t]) : std::nullopt;
    }
  }
  const auto end = static_cast<std::uint32_t>(result.memory.size());
  if (row < end) play_to(end, part_after(program, spans.back()));
}

void list_largest(const Program& program, const Result& result, Tier tier, std::size_t count,
                  Peak& peak) {
  if (peak.event == kNoIndex) return;
  std::vector<std::uint8_t> alive(program.buffers.size(), 0);
  for (std::uint32_t row = 0; row <= peak.event; ++row) {
    const MemoryEvent& event = result.memory[row];
    alive[index(event.buffer)] = event.allocated ? 1 : 0;
  }
  std::vector<BufferId> found;
  for (std::uint32_t b = 0; b < alive.size(); ++b) {
    if (alive[b] != 0 && program.buffers[b].tier == tier) found.push_back(BufferId{b});
  }
  count = std::min(count, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
                    [&](BufferId a, BufferId b) {
                      const Bytes left = program.buffers[index(a)].bytes;
                      const Bytes right = program.buffers[index(b)].bytes;
                      return left != right ? left > right : a < b;
                    });
  found.resize(count);
  peak.largest = std::move(found);
}

std::uint32_t account_tiers(const Program& program, const Result& result,
                            std::array<TierAccount, kTierCount>& tiers) {
  Levels levels;
  std::uint32_t initial = 0;
  for (std::uint32_t row = 0; row < result.memory.size(); ++row) {
    const MemoryEvent& event = result.memory[row];
    apply(levels, program, event);
    const std::size_t t = at(program.buffers[index(event.buffer)].tier);
    if (event.instance == kNoInstance) {
      initial = row + 1;
      tiers[t].start = levels[t];
    }
    Peak& peak = tiers[t].peak;
    if (peak.event == kNoIndex || levels[t].total > peak.level.total) {
      peak.level = levels[t];
      peak.time = event.time;
      peak.event = row;
      peak.instance = event.instance;
    }
  }
  for (std::size_t t = 0; t < kTierCount; ++t) tiers[t].end = levels[t];
  return initial;
}

}  // namespace

Account account(const Program& program, const Result& result, std::size_t largest) {
  Account sums;
  const std::uint32_t initial = account_tiers(program, result, sums.tiers);
  for (std::size_t t = 0; t < kTierCount; ++t) {
    list_largest(program, result, static_cast<Tier>(t), largest, sums.tiers[t].peak);
  }
  account_spans(program, result, spans_of(program, result, initial), initial, sums.tiers);
  for (std::size_t i = 0; i < program.instances.size(); ++i) {
    const InstanceRecord& record = result.records[i];
    if (record.finish == kNever) continue;
    const Instance& instance = program.instances[i];
    sums.busy[at(instance.stream)] += record.finish - record.start;
    if (instance.stream == Stream::kCompute && instance.phase == Phase::kRecompute) {
      sums.recompute += record.finish - record.start;
    }
  }
  for (const Stall& stall : result.stalls) sums.stalled[at(stall.cause)] += stall.end - stall.begin;
  return sums;
}

std::vector<Sample> timeline(const Program& program, const Result& result) {
  std::vector<Sample> samples;
  samples.reserve(result.memory.size());
  Levels levels;
  for (const MemoryEvent& event : result.memory) {
    const Buffer& buffer = program.buffers[index(event.buffer)];
    const Bytes bytes = apply(levels, program, event);
    samples.push_back({event.time, buffer.tier, buffer.category, bytes});
  }
  return samples;
}

}  // namespace tidemark::sim
