#include "graph/issue_order.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tidemark {

void order_by_issue(Program& program) {
  constexpr auto kCompute = static_cast<std::size_t>(Stream::kCompute);
  std::vector<std::uint32_t> issued(program.instances.size(), 0);  // 0: with the step's start
  std::uint32_t place = 0;
  for (const InstanceId kernel : program.order[kCompute]) issued[index(kernel)] = ++place;
  for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
    if (program.instances[i].stream == Stream::kCompute) continue;
    for (const InstanceId earlier : program.dependencies(InstanceId{i})) {
      issued[i] = std::max(issued[i], issued[index(earlier)]);
    }
  }
  for (std::size_t stream = 0; stream < kStreamCount; ++stream) {
    if (stream == kCompute) continue;
    std::stable_sort(
        program.order[stream].begin(), program.order[stream].end(),
        [&](InstanceId a, InstanceId b) { return issued[index(a)] < issued[index(b)]; });
  }
}

}  // namespace tidemark
