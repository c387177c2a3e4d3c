#include <algorithm>

#include "graph/policies/policy.hpp"

namespace tidemark {

SegmentsFn recompute_sqrt;

// Chen et al., "Training Deep Nets with Sublinear Memory Cost", arXiv:1604.06174: n equal stages in
// segments of sqrt(n) need n / sqrt(n) + sqrt(n) of memory, the least.
std::vector<Segment> recompute_sqrt(const PolicyInput& input) {
  std::int64_t size = 1;
  while ((size + 1) * (size + 1) <= input.layers) ++size;
  std::vector<Segment> segments;
  for (std::int64_t first = 0; first < input.layers; first += size) {
    segments.push_back({first, std::min(first + size, input.layers)});
  }
  return segments;
}

}  // namespace tidemark
