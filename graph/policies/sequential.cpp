#include <algorithm>

#include "graph/policies/policy.hpp"

namespace tidemark {

SegmentsFn recompute_sequential;

// torch.utils.checkpoint.checkpoint_sequential(functions, segments): equal segments of
// floor(layers / segments) blocks; the last, with the remainder, keeps everything.
std::vector<Segment> recompute_sequential(const PolicyInput& input) {
  const std::int64_t count = std::min(input.options[0].integer, input.layers);
  const std::int64_t size = input.layers / count;
  std::vector<Segment> segments;
  for (std::int64_t i = 0; i + 1 < count; ++i) segments.push_back({i * size, (i + 1) * size});
  return segments;
}

}  // namespace tidemark
