#include "graph/policies/policy.hpp"

namespace tidemark {

SegmentsFn recompute_every_block;

std::vector<Segment> recompute_every_block(const PolicyInput& input) {
  std::vector<Segment> segments;
  for (std::int64_t layer = 0; layer < input.layers; ++layer) {
    segments.push_back({layer, layer + 1});
  }
  return segments;
}

}  // namespace tidemark
