#include "sim/allocators/planned.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "hardware/decimal.hpp"
#include "hardware/ensure.hpp"
#include "sim/options.hpp"

namespace tidemark::sim {
namespace {

// Of buffers that do not live all the time. A search looks at all of them for every placement.
constexpr std::size_t kMostSearched = 1'000;
constexpr std::int64_t kMostNodes = 100'000'000;

}  // namespace

PlannedSettings parse_planned_settings(std::string_view text, std::optional<std::string>& fault) {
  PlannedSettings settings;
  fault.reset();
  if (text.empty()) return settings;
  constexpr std::string_view kKey = "search_nodes:";
  const std::string_view number = text.substr(std::min(text.size(), kKey.size()));
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), settings.search_nodes);
  const bool whole = error == std::errc() && end == number.data() + number.size();
  if (!text.starts_with(kKey) || !whole || settings.search_nodes < 0 ||
      settings.search_nodes > kMostNodes) {
    fault = "expected search_nodes:N with N from 0 to " + std::to_string(kMostNodes) + ", found " +
            in_quotes(text);
  }
  return settings;
}

PlacementPlan plan_placement(const Program& program, const Result& ideal, Tier tier,
                             const PlannedSettings& settings) {
  ensure(!ideal.out_of_memory.has_value(), "only a step that came to its end can be planned");
  PlacementPlan plan;
  std::vector<Interval> intervals;
  std::vector<std::uint32_t> row(program.buffers.size());
  // Events are the clock: what is freed before something else is taken may lie in its place.
  const auto end = static_cast<std::int64_t>(ideal.memory.size());
  std::int64_t now = 0;
  for (const MemoryEvent& event : ideal.memory) {
    const Buffer& buffer = program.buffers[index(event.buffer)];
    if (buffer.tier != tier || is_set_aside(buffer)) continue;
    if (event.allocated) {
      row[index(event.buffer)] = static_cast<std::uint32_t>(intervals.size());
      intervals.push_back({buffer.initial ? 0 : now, end, buffer.bytes.count});
      plan.sizes.push_back(buffer.bytes);
    } else {
      intervals[row[index(event.buffer)]].upper = now;
    }
    ++now;
  }
  plan.choice = pack(intervals, settings.search_nodes, kMostSearched);
  plan.offsets = plan.choice.packing.offsets;
  return plan;
}

PlannedAllocator::PlannedAllocator(Bytes capacity, PlacementPlan plan)
    : capacity_(capacity), plan_(std::move(plan)) {}

std::optional<Allocation> PlannedAllocator::allocate(Bytes bytes, Stream) {
  if (beyond_) return std::nullopt;
  // Not in its turn: an attempt that counting refused in the run that was planned for, as it does
  // here. Where sizes do not tell the two apart, counting does below.
  if (next_ >= plan_.sizes.size() || plan_.sizes[next_] != bytes) return std::nullopt;
  const Bytes top = aside_ + Bytes(plan_.offsets[next_]) + bytes;
  if (bytes > capacity_ - allocated_) return std::nullopt;
  beyond_ = top > capacity_;
  if (beyond_) return std::nullopt;
  ++next_;
  allocated_ += bytes;
  allocated_peak_ = std::max(allocated_peak_, allocated_);
  if (bytes.count > 0) reserved_peak_ = std::max(reserved_peak_, top);
  return Allocation{static_cast<std::uint64_t>(bytes.count), SimTime(0)};
}

void PlannedAllocator::free(std::uint64_t handle) {
  allocated_ -= Bytes(static_cast<std::int64_t>(handle));
}

AllocatorStatistics PlannedAllocator::statistics() const {
  AllocatorStatistics statistics;
  statistics.allocated = statistics.active = allocated_;
  statistics.allocated_peak = statistics.active_peak = allocated_peak_;
  statistics.reserved = statistics.reserved_peak = reserved_peak_;
  return statistics;
}

std::optional<PlacementFigures> PlannedAllocator::placement() const {
  return PlacementFigures{aside_ + Bytes(plan_.choice.bound), aside_ + Bytes(plan_.choice.greedy),
                          plan_.choice.rule, aside_ + Bytes(plan_.choice.packing.height)};
}

bool PlannedAllocator::set_aside(Bytes bytes) {
  if (bytes > capacity_ - allocated_) return false;
  aside_ += bytes;
  allocated_ += bytes;
  allocated_peak_ = std::max(allocated_peak_, allocated_);
  reserved_peak_ = std::max(reserved_peak_, aside_);
  return true;
}

void PlannedAllocator::reset_peaks() { allocated_peak_ = allocated_; }

void PlannedAllocator::begin_attempt(Attempt) {
  attempt_ = next_;
  peak_at_attempt_ = allocated_peak_;
  reserved_at_attempt_ = reserved_peak_;
}

SimTime PlannedAllocator::abandon_attempt() {
  next_ = attempt_;
  allocated_peak_ = peak_at_attempt_;
  reserved_peak_ = reserved_at_attempt_;
  return SimTime(0);
}

}  // namespace tidemark::sim
