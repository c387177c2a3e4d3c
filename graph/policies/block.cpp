#include <algorithm>

#include "graph/policies/policy.hpp"

namespace tidemark {

SegmentsFn recompute_first_blocks;

// Megatron-LM: --recompute-method block --recompute-num-layers n.
std::vector<Segment> recompute_first_blocks(const PolicyInput& input) {
  const std::int64_t n = std::min(input.options[0].integer, input.layers);
  std::vector<Segment> segments;
  for (std::int64_t layer = 0; layer < n; ++layer) segments.push_back({layer, layer + 1});
  return segments;
}

}  // namespace tidemark
