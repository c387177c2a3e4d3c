#include "graph/pinned_pool.hpp"

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

// Of each buffer on the host, the buffer of what is lost; kNoBuffer where nothing is.
std::vector<BufferId> add_lost(Program& program, NameId name) {
  std::vector<BufferId> lost(program.buffers.size(), kNoBuffer);
  for (std::size_t i = 0; i < lost.size(); ++i) {
    const Buffer buffer = program.buffers[i];
    const bool pinned = buffer.tier == Tier::kHost && buffer.category != Category::kTemporaries;
    if (!pinned || buffer.bytes.count <= 0) continue;
    const auto wanted = static_cast<std::uint64_t>(buffer.bytes.count);
    const std::uint64_t rest = std::bit_ceil(wanted) - wanted;
    if (rest == 0) continue;
    lost[i] = BufferId{static_cast<std::uint32_t>(program.buffers.size())};
    program.buffers.push_back({.bytes = Bytes(static_cast<std::int64_t>(rest)),
                               .tier = Tier::kHost,
                               .category = Category::kRounding,
                               .initial = buffer.initial,
                               .persistent = buffer.persistent,
                               .name = name});
  }
  return lost;
}

}  // namespace

void round_pinned_buffers(Program& program, NameId name) {
  const std::vector<BufferId> lost = add_lost(program, name);
  std::vector<BufferId> use;
  std::vector<std::uint32_t> first{0};
  for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
    for (const BufferId buffer : program.uses(InstanceId{i})) {
      use.push_back(buffer);
      if (lost[index(buffer)] != kNoBuffer) use.push_back(lost[index(buffer)]);
    }
    first.push_back(static_cast<std::uint32_t>(use.size()));
  }
  program.use = std::move(use);
  program.first_use = std::move(first);
}

}  // namespace tidemark
