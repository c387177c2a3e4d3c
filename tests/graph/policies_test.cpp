#include "graph/policies/policy.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

std::vector<std::array<std::int64_t, 2>> segments_of(const char* policy, std::int64_t layers,
                                                     std::vector<std::int64_t> options = {}) {
  std::vector<std::array<std::int64_t, 2>> pairs;
  std::vector<PolicyOption> values;
  for (const std::int64_t option : options) values.push_back({"", option, {}});
  for (const Segment& s : find_policy(policy)->segments({layers, values})) {
    pairs.push_back({s.first, s.last});
  }
  return pairs;
}

using Pairs = std::vector<std::array<std::int64_t, 2>>;

TEST_CASE("the policy none recomputes nothing") { CHECK(segments_of("none", 4).empty()); }

TEST_CASE("the policy full has one segment a block") {
  CHECK(segments_of("full", 3) == Pairs{{0, 1}, {1, 2}, {2, 3}});
  CHECK(segments_of("full", 1) == Pairs{{0, 1}});
}

TEST_CASE("the policy every-n makes the last segment shorter where n does not divide the layers") {
  CHECK(segments_of("every-n", 4, {2}) == Pairs{{0, 2}, {2, 4}});
  CHECK(segments_of("every-n", 5, {2}) == Pairs{{0, 2}, {2, 4}, {4, 5}});
  CHECK(segments_of("every-n", 3, {1}) == Pairs{{0, 1}, {1, 2}, {2, 3}});
  CHECK(segments_of("every-n", 3, {3}) == Pairs{{0, 3}});
  CHECK(segments_of("every-n", 3, {4}) == Pairs{{0, 3}});
}

TEST_CASE("the policy block replays the first n blocks only") {
  CHECK(segments_of("block", 4, {2}) == Pairs{{0, 1}, {1, 2}});
  CHECK(segments_of("block", 2, {5}) == Pairs{{0, 1}, {1, 2}});
}

// torch.utils.checkpoint: segment_size = len(functions) // segments, the last is not checkpointed.
TEST_CASE("the policy sequential leaves the last segment with the remainder alone") {
  CHECK(segments_of("sequential", 10, {3}) == Pairs{{0, 3}, {3, 6}});
  CHECK(segments_of("sequential", 4, {1}).empty());
  CHECK(segments_of("sequential", 3, {8}) == Pairs{{0, 1}, {1, 2}});
}

TEST_CASE("the policy sqrt has segments of the whole square root of the blocks") {
  CHECK(segments_of("sqrt", 9) == Pairs{{0, 3}, {3, 6}, {6, 9}});
  CHECK(segments_of("sqrt", 8) == Pairs{{0, 2}, {2, 4}, {4, 6}, {6, 8}});
  CHECK(segments_of("sqrt", 1) == Pairs{{0, 1}});
}

TEST_CASE("an unknown policy is not found") {
  CHECK(find_policy("sqroot") == nullptr);
  CHECK(find_policy("") == nullptr);
}

}  // namespace
}  // namespace tidemark
