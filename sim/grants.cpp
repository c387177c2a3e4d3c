#include "sim/grants.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tidemark::sim {

Grants::Grants(const Program& program, const Result& result) : result_(result) {
  std::array<std::size_t, kTierCount> last_free{};  // one more than the row of the event; 0: none
  std::size_t last_of_all = 0;
  std::size_t freed = 0;  // of the last grant
  for (std::size_t row = 0; row < result.memory.size(); ++row) {
    const MemoryEvent& event = result.memory[row];
    const Buffer& buffer = program.buffers[index(event.buffer)];
    std::size_t& in_tier = last_free[static_cast<std::size_t>(buffer.tier)];
    if (!event.allocated) {
      in_tier = last_of_all = row + 1;
      continue;
    }
    if (event.instance == kNoInstance) continue;
    const InstanceRecord& record = result.records[index(event.instance)];
    if (record.start == due_of(record)) continue;
    if (grants_.empty() || grants_.back().instance != event.instance) {
      grants_.push_back({event.instance, event.time, kNoInstance});
      freed = 0;
    }
    freed = std::max(freed, in_tier);
    // It may have been refused in a tier where another has taken the buffer since.
    const bool now = freed != 0 && result.memory[freed - 1].time == event.time;
    const std::size_t by = now ? freed : last_of_all;
    if (by != 0) grants_.back().freed_by = result.memory[by - 1].instance;
  }
  std::ranges::sort(grants_, {}, [](const Grant& g) { return index(g.instance); });
}

// Without one of its own, another instance has taken what it waited for, in the same instant: after
// the first free of that instant, whatever is freed in later rounds of it.
Grant Grants::of(InstanceId instance) const {
  const auto at = std::ranges::lower_bound(grants_, index(instance), {},
                                           [](const Grant& g) { return index(g.instance); });
  if (at != grants_.end() && at->instance == instance) return *at;
  const SimTime start = result_.records[index(instance)].start;
  const auto later = std::ranges::upper_bound(result_.memory, start, {}, &MemoryEvent::time);
  Grant grant{instance, start, kNoInstance};
  for (auto row = later; row != result_.memory.begin();) {
    const MemoryEvent& event = *--row;
    if (event.allocated) continue;
    if (grant.freed_by != kNoInstance && event.time != grant.time) break;
    grant.time = event.time;
    grant.freed_by = event.instance;
  }
  return grant;
}

}  // namespace tidemark::sim
