#include "tools/report_html/levels.hpp"

#include <algorithm>
#include <array>

namespace tidemark::tools {
namespace {

std::size_t bucket_of(SimTime time, SimTime end, std::size_t buckets) {
  if (end <= SimTime(0)) return 0;
  const auto bucket = static_cast<std::size_t>(static_cast<Int128>(time.count()) *
                                               static_cast<Int128>(buckets) / end.count());
  return std::min(bucket, buckets - 1);  // the end itself
}

}  // namespace

std::vector<LevelPoint> levels_of(const Program& program, const sim::Result& result, Tier tier) {
  std::vector<LevelPoint> levels;
  Bytes level;
  for (const sim::MemoryEvent& event : result.memory) {
    const Buffer& buffer = program.buffers[index(event.buffer)];
    if (buffer.tier != tier) continue;
    if (event.allocated) {
      level += buffer.bytes;
    } else {
      level -= buffer.bytes;
    }
    levels.push_back({event.time, level});
  }
  return levels;
}

std::vector<LevelPoint> downsample(std::span<const LevelPoint> levels, SimTime end,
                                   std::size_t buckets) {
  std::vector<LevelPoint> kept;
  for (std::size_t first = 0; first < levels.size();) {
    const std::size_t bucket = bucket_of(levels[first].time, end, buckets);
    std::size_t lowest = first;
    std::size_t highest = first;
    std::size_t last = first;
    for (std::size_t i = first;
         i < levels.size() && bucket_of(levels[i].time, end, buckets) == bucket; ++i) {
      if (levels[i].level < levels[lowest].level) lowest = i;
      if (levels[i].level > levels[highest].level) highest = i;
      last = i;
    }
    std::array<std::size_t, 3> rows = {lowest, highest, last};
    std::ranges::sort(rows);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (k == 0 || rows[k] != rows[k - 1]) kept.push_back(levels[rows[k]]);
    }
    first = last + 1;
  }
  return kept;
}

}  // namespace tidemark::tools
