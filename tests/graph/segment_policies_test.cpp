// What replays of whole segments compute, held to the step that keeps everything by the checker
// that policies of tensors are held to.

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "graph/policies/policy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_input.hpp"
#include "tests/support/segment_replays.hpp"

namespace tidemark {
namespace {

TEST_CASE("every policy of segments replays what forward computed, on 200 random steps") {
  std::mt19937 random(11);
  std::size_t replayed = 0;
  for (int number = 0; number < 200; ++number) {
    LoweringInput input = support::random_input(random);
    const StepGraph base = lower(input);
    const bool reentrant = random() % 2 == 0, early_stop = random() % 2 == 0;
    std::set<std::vector<std::int64_t>> seen;  // the same segments make the same step
    for (const Policy& policy : policies()) {
      if (policy.segments == nullptr) continue;
      INFO("step " << number << ", " << policy.name);
      input.checkpointing = support::segments_of(policy, input.model.layers);
      input.checkpointing.reentrant = reentrant && policy.cached == nullptr;
      input.checkpointing.early_stop = early_stop;
      std::vector<std::int64_t> ends;
      for (const Segment& segment : input.checkpointing.segments) {
        ends.insert(ends.end(), {segment.first, segment.last});
      }
      if (policy.cached == nullptr && !seen.insert(ends).second) continue;
      replayed += support::check_segments(base, lower(input), input.checkpointing);
    }
  }
  CHECK(replayed > 5'000);
}

}  // namespace
}  // namespace tidemark
