#include "graph/issue_order.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/program_check.hpp"

namespace tidemark {

namespace {

constexpr auto kCompute = static_cast<std::size_t>(Stream::kCompute);

// By instance, with how many kernels issued: for a kernel, itself included.
std::vector<std::uint32_t> issue_places(const Program& program) {
  std::vector<std::uint32_t> issued(program.instances.size(), 0);  // 0: with the step's start
  std::uint32_t place = 0;
  for (const InstanceId kernel : program.order[kCompute]) issued[index(kernel)] = ++place;
  for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
    if (program.instances[i].stream == Stream::kCompute) continue;
    for (const InstanceId earlier : program.dependencies(InstanceId{i})) {
      issued[i] = std::max(issued[i], issued[index(earlier)]);
    }
  }
  return issued;
}

}  // namespace

void order_by_issue(Program& program) {
  const std::vector<std::uint32_t> issued = issue_places(program);
  for (std::size_t stream = 0; stream < kStreamCount; ++stream) {
    if (stream == kCompute) continue;
    std::stable_sort(
        program.order[stream].begin(), program.order[stream].end(),
        [&](InstanceId a, InstanceId b) { return issued[index(a)] < issued[index(b)]; });
  }
}

void hold_issue(Program& program, std::span<const InstanceId> copies) {
  if (copies.empty()) return;
  const std::vector<std::uint32_t> issued = issue_places(program);
  const std::vector<InstanceId>& kernels = program.order[kCompute];
  std::vector<std::vector<InstanceId>> held(program.instances.size());  // by kernel: what holds it
  for (const InstanceId copy : copies) {
    const std::uint32_t next = issued[index(copy)];
    if (next < kernels.size()) held[index(kernels[next])].push_back(copy);
  }
  std::vector<std::uint32_t> first{0};
  std::vector<InstanceId> all;
  for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
    const auto present = program.dependencies(InstanceId{i});
    all.insert(all.end(), present.begin(), present.end());
    for (const InstanceId copy : held[i]) {
      if (std::ranges::find(present, copy) == present.end()) all.push_back(copy);
    }
    first.push_back(static_cast<std::uint32_t>(all.size()));
  }
  program.first_dependency = std::move(first);
  program.dependency = std::move(all);
  check(program);
}

}  // namespace tidemark
