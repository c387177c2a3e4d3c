#include "sim/residency.hpp"

#include <limits>

namespace tidemark::sim {
namespace {

constexpr Bytes kUnlimited{std::numeric_limits<std::int64_t>::max() / 4};

}  // namespace

Residency::Residency(const Program& program, const SimulateOptions& options)
    : program_(program), allocators_(options.allocators) {
  own_.reserve(kTierCount);  // ideal_ points into it
  for (std::size_t t = 0; t < kTierCount; ++t) {
    own_.emplace_back(options.capacity == Capacity::kIgnored ? kUnlimited : program.capacity[t]);
    ideal_[t] =
        allocators_[t] == nullptr ? &own_[t] : dynamic_cast<IdealAllocator*>(allocators_[t]);
    all_ideal_ = all_ideal_ && ideal_[t] != nullptr;
  }
  uses_left_.assign(program.buffers.size(), 0);
  for (const BufferId used : program.use) ++uses_left_[index(used)];
  held_.assign(program.buffers.size(), 0);
  if (!all_ideal_) handles_.assign(program.buffers.size(), 0);
  events_.reserve(2 * program.buffers.size());
}

std::optional<BufferId> Residency::take_initial() {
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    if (!program_.buffers[b].initial) continue;
    wanted_.assign(1, BufferId{b});
    SimTime before_the_step{};
    const auto refused = take_wanted(kNoInstance, Stream::kCompute, SimTime(0), before_the_step);
    if (refused) return refused;
  }
  return std::nullopt;
}

std::optional<BufferId> Residency::take(InstanceId instance, Stream stream, SimTime now,
                                        SimTime& driver_time) {
  list_wanted(instance);
  return take_wanted(instance, stream, now, driver_time);
}

void Residency::release_after(InstanceId instance, SimTime now) {
  for (const BufferId used : program_.uses(instance)) {
    if (--uses_left_[index(used)] > 0 || buffer(used).persistent) continue;
    const std::size_t t = tier(used);
    if (ideal_[t] != nullptr) {
      ideal_[t]->give_back(buffer(used).bytes);
    } else {
      allocators_[t]->free(handles_[index(used)]);
    }
    held_[index(used)] = 0;
    ++frees_[t];
    events_.push_back({now, used, instance, false});
  }
}

OutOfMemory Residency::shortfall(InstanceId instance, BufferId refused) {
  if (instance != kNoInstance) {
    list_wanted(instance);  // others may have taken more since it was refused
    refused = refused_by_counting().value_or(refused);
  }
  const std::size_t t = tier(refused);
  Bytes free = ideal_[t] != nullptr ? ideal_[t]->available() : allocators_[t]->available();
  for (const BufferId id : wanted_) {
    if (id == refused || ideal_[t] == nullptr) break;
    if (tier(id) == t) free -= buffer(id).bytes;
  }
  return {buffer(refused).tier, instance, refused, buffer(refused).bytes, free};
}

void Residency::list_wanted(InstanceId instance) {
  wanted_.clear();
  for (const BufferId used : program_.uses(instance)) {
    if (held_[index(used)] == 0) wanted_.push_back(used);
  }
}

std::optional<BufferId> Residency::take_wanted(InstanceId instance, Stream stream, SimTime now,
                                               SimTime& driver_time) {
  if (wanted_.empty()) return std::nullopt;
  if (const auto refused = refused_by_counting()) return refused;
  if (!all_ideal_) {
    if (const auto refused = refused_by_allocators(stream, driver_time)) return refused;
  }
  for (const BufferId id : wanted_) {
    if (IdealAllocator* const ideal = ideal_[tier(id)]) ideal->take(buffer(id).bytes);
    held_[index(id)] = 1;
    events_.push_back({now, id, instance, true});
  }
  return std::nullopt;
}

// The first of wanted_ that an ideal tier has no room for beside those before it.
std::optional<BufferId> Residency::refused_by_counting() const {
  std::array<Bytes, kTierCount> need{};
  for (const BufferId id : wanted_) {
    const std::size_t t = tier(id);
    if (ideal_[t] == nullptr) continue;
    need[t] += buffer(id).bytes;
    if (need[t] > ideal_[t]->available()) return id;
  }
  return std::nullopt;
}

// Takes wanted_ from the tiers that are not ideal, or nothing.
std::optional<BufferId> Residency::refused_by_allocators(Stream stream, SimTime& driver_time) {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const std::size_t t = tier(wanted_[i]);
    if (ideal_[t] != nullptr) continue;
    if (const auto granted = allocators_[t]->allocate(buffer(wanted_[i]).bytes, stream)) {
      handles_[index(wanted_[i])] = granted->handle;
      driver_time += granted->driver_time;
      continue;
    }
    for (std::size_t j = i; j-- > 0;) {
      Allocator* const allocator = allocators_[tier(wanted_[j])];
      if (ideal_[tier(wanted_[j])] == nullptr) allocator->free(handles_[index(wanted_[j])]);
    }
    return wanted_[i];
  }
  return std::nullopt;
}

}  // namespace tidemark::sim
