#include <algorithm>

#include "graph/policies/policy.hpp"

namespace tidemark {

SegmentsFn recompute_every_n;

// The last segment is shorter where n does not divide the layers, as in Megatron-LM's
// --recompute-method uniform.
std::vector<Segment> recompute_every_n(const PolicyInput& input) {
  const std::int64_t n = input.options[0].integer;
  std::vector<Segment> segments;
  for (std::int64_t first = 0; first < input.layers; first += n) {
    segments.push_back({first, std::min(first + n, input.layers)});
  }
  return segments;
}

}  // namespace tidemark
