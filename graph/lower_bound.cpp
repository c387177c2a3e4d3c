#include "graph/lower_bound.hpp"

#include <algorithm>

#include "graph/critical_path.hpp"

namespace tidemark {
namespace {

constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

SimTime link_time(const Program& program, const Link& link) {
  Int128 bytes = 0;
  for (const Instance& instance : program.instances) {
    if (instance.bytes.count == 0) continue;
    const Path& path = program.paths[index(instance.path)];
    bytes += static_cast<Int128>(instance.bytes.count) *
             path.weight[static_cast<std::size_t>(link.kind)];
  }
  return SimTime(static_cast<std::int64_t>(bytes * kPicosecondsPerSecond / link.capacity.count));
}

}  // namespace

SimTime step_lower_bound(const Program& program) {
  SimTime bound = dependency_path(program).length;
  for (const std::vector<InstanceId>& order : program.order) {
    SimTime work{};
    for (const InstanceId instance : order) work += uncontended_time(program, instance);
    bound = std::max(bound, work);
  }
  for (const Link& link : program.links) bound = std::max(bound, link_time(program, link));
  return bound;
}

}  // namespace tidemark
