#include "sim/residency.hpp"

#include <limits>

#include "hardware/ensure.hpp"

namespace tidemark::sim {
namespace {

constexpr Bytes kNoLimit{std::numeric_limits<std::int64_t>::max() / 4};

}  // namespace

Residency::Residency(const Program& program, const SimulateOptions& options)
    : program_(program), allocators_(options.allocators) {
  own_.reserve(kTierCount);  // ideal_ points into it
  for (std::size_t t = 0; t < kTierCount; ++t) {
    own_.emplace_back(options.capacity == Capacity::kIgnored ? kNoLimit : program.capacity[t]);
    ideal_[t] =
        allocators_[t] == nullptr ? &own_[t] : dynamic_cast<IdealAllocator*>(allocators_[t]);
    all_ideal_ = all_ideal_ && ideal_[t] != nullptr;
    if (allocators_[t] != nullptr) allocators_[t]->reset_peaks();
    if (ideal_[t] == nullptr) {
      watched_[t].before = watched_[t].at_peak = allocators_[t]->statistics();
    }
  }
  uses_left_.assign(program.buffers.size(), 0);
  for (const BufferId used : program.use) ++uses_left_[index(used)];
  held_.assign(program.buffers.size(), Held::kNot);
  if (!all_ideal_) handles_.assign(program.buffers.size(), 0);
  events_.reserve(2 * program.buffers.size());
  for (const KeptBuffer& there : options.carried) {
    ensure(buffer(there.buffer).initial && ideal_[tier(there.buffer)] == nullptr,
           "only initial buffers in a tier with an allocator can have been there before");
    handles_[index(there.buffer)] = there.handle;
    held_[index(there.buffer)] = Held::kThere;
  }
}

std::optional<BufferId> Residency::take_initial() {
  for (std::uint32_t b = 0; b < program_.buffers.size(); ++b) {
    if (!program_.buffers[b].initial) continue;
    if (held_[b] == Held::kThere) {
      hold(BufferId{b}, kNoInstance, SimTime(0));
      note_levels(SimTime(0));
      continue;
    }
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

std::optional<BufferId> Residency::take_again(std::span<const BufferId> made, InstanceId instance,
                                              SimTime now) {
  wanted_.clear();
  for (const BufferId id : made) {
    if (held_[index(id)] != Held::kThere) wanted_.push_back(id);
  }
  SimTime driver_time{};
  return take_wanted(instance, Stream::kCompute, now, driver_time);
}

void Residency::release_after(InstanceId instance, SimTime now, RuntimePolicy* policy) {
  for (const BufferId used : program_.uses(instance)) {
    if (--uses_left_[index(used)] > 0 || buffer(used).persistent) continue;
    if (held_[index(used)] == Held::kEvicted) {
      held_[index(used)] = Held::kNot;
    } else if (policy == nullptr || policy->lets_go(used)) {
      give_back(used, instance, now);
    }
  }
}

void Residency::give_back(BufferId id, InstanceId instance, SimTime now) {
  const std::size_t t = tier(id);
  if (ideal_[t] != nullptr) {
    ideal_[t]->give_back(buffer(id).bytes);
  } else {
    allocators_[t]->free(handles_[index(id)]);
    watched_[t].level -= buffer(id).bytes;
  }
  held_[index(id)] = Held::kNot;
  ++frees_[t];
  events_.push_back({now, id, instance, false});
}

void Residency::evict(BufferId id, SimTime now) {
  give_back(id, kNoInstance, now);
  if (uses_left_[index(id)] > 0) held_[index(id)] = Held::kEvicted;
}

void Residency::drop(BufferId id, SimTime now) {
  if (held_[index(id)] != Held::kThere || uses_left_[index(id)] > 0) return;
  give_back(id, kNoInstance, now);
}

void Residency::set_capacity(Tier tier, Bytes capacity) {
  IdealAllocator* const ideal = ideal_[static_cast<std::size_t>(tier)];
  ensure(ideal != nullptr, "only a tier that counts bytes can be made smaller");
  ideal->set_capacity(capacity);
}

OutOfMemory Residency::shortfall(InstanceId instance, Stream stream, BufferId refused) {
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
  OutOfMemory failure{buffer(refused).tier, instance, refused, buffer(refused).bytes, free, {}};
  if (ideal_[t] == nullptr) failure.failure = asking_[static_cast<std::size_t>(stream)].failure;
  return failure;
}

void Residency::list_wanted(InstanceId instance) {
  wanted_.clear();
  for (const BufferId used : program_.uses(instance)) {
    if (held_[index(used)] == Held::kNot) wanted_.push_back(used);
  }
}

std::optional<BufferId> Residency::take_wanted(InstanceId instance, Stream stream, SimTime now,
                                               SimTime& driver_time) {
  if (wanted_.empty()) {
    driver_time = SimTime(0);
    return std::nullopt;
  }
  if (const auto refused = refused_by_counting()) return refused;
  if (!all_ideal_) {
    if (const auto refused = refused_by_allocators(stream, driver_time)) return refused;
  }
  for (const BufferId id : wanted_) {
    if (IdealAllocator* const ideal = ideal_[tier(id)]) ideal->take(buffer(id).bytes);
    hold(id, instance, now);
  }
  if (!all_ideal_) note_levels(now);
  return std::nullopt;
}

void Residency::hold(BufferId id, InstanceId instance, SimTime now) {
  held_[index(id)] = Held::kThere;
  events_.push_back({now, id, instance, true});
  if (ideal_[tier(id)] == nullptr) watched_[tier(id)].level += buffer(id).bytes;
}

// Once all buffers of an instance are there: the level does not fall while it takes them.
void Residency::note_levels(SimTime now) {
  for (std::size_t t = 0; t < kTierCount; ++t) {
    if (ideal_[t] != nullptr) continue;
    Watched& watched = watched_[t];
    const AllocatorStatistics statistics = allocators_[t]->statistics();
    if (statistics.reserved != watched.reserved) {
      watched.reserved = statistics.reserved;
      reserved_.push_back({now, static_cast<Tier>(t), statistics.reserved});
    }
    if (watched.level <= watched.peak) continue;
    watched.peak = watched.level;
    watched.at_peak = statistics;
  }
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
  Asking& asking = asking_[static_cast<std::size_t>(stream)];
  SimTime spent{};
  for (std::size_t t = 0; t < kTierCount; ++t) {
    if (ideal_[t] == nullptr) allocators_[t]->begin_attempt(asking.attempt);
  }
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const std::size_t t = tier(wanted_[i]);
    if (ideal_[t] != nullptr) continue;
    if (is_set_aside(buffer(wanted_[i]))) {
      if (allocators_[t]->set_aside(buffer(wanted_[i]).bytes)) continue;
    } else if (const auto granted = allocators_[t]->allocate(buffer(wanted_[i]).bytes, stream)) {
      handles_[index(wanted_[i])] = granted->handle;
      spent += granted->driver_time;
      continue;
    }
    asking = {Attempt::kAgain, allocators_[t]->last_failure()};
    driver_time += give_up(i);
    return wanted_[i];
  }
  asking.attempt = Attempt::kFirst;
  driver_time += spent;
  return std::nullopt;
}

// Gives back what was granted before row `refused` of wanted_. Returns what the driver took.
SimTime Residency::give_up(std::size_t refused) {
  for (std::size_t i = refused; i-- > 0;) {
    const std::size_t t = tier(wanted_[i]);
    if (ideal_[t] == nullptr) allocators_[t]->free(handles_[index(wanted_[i])]);
  }
  SimTime spent{};
  for (std::size_t t = 0; t < kTierCount; ++t) {
    if (ideal_[t] == nullptr) spent += allocators_[t]->abandon_attempt();
  }
  return spent;
}

std::array<AllocatorRecord, kTierCount> Residency::allocator_records() const {
  std::array<AllocatorRecord, kTierCount> records;
  for (std::size_t t = 0; t < kTierCount; ++t) {
    AllocatorRecord& record = records[t];
    if (ideal_[t] != nullptr) {
      record.end = record.at_peak = ideal_[t]->statistics();
      for (Bytes* const at_peak :
           {&record.at_peak.allocated, &record.at_peak.reserved, &record.at_peak.active}) {
        *at_peak = record.end.allocated_peak;
      }
      continue;
    }
    record = {allocators_[t]->statistics(), watched_[t].at_peak, allocators_[t]->placement()};
    for (AllocatorStatistics* const of : {&record.end, &record.at_peak}) {
      of->driver_allocations -= watched_[t].before.driver_allocations;
      of->driver_frees -= watched_[t].before.driver_frees;
      of->retries -= watched_[t].before.retries;
      of->driver_time -= watched_[t].before.driver_time;
    }
  }
  return records;
}

std::vector<KeptBuffer> Residency::kept() const {
  std::vector<KeptBuffer> kept;
  for (std::uint32_t b = 0; b < handles_.size(); ++b) {
    if (held_[b] == Held::kThere && ideal_[tier(BufferId{b})] == nullptr) {
      kept.push_back({BufferId{b}, handles_[b]});
    }
  }
  return kept;
}

}  // namespace tidemark::sim
