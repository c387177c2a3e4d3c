#include "graph/policies/policy.hpp"

namespace tidemark {

PolicyFn keep_all;

std::vector<Segment> keep_all(const PolicyInput&) { return {}; }

}  // namespace tidemark
