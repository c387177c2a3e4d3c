#include "sim/event_queue.hpp"

#include <algorithm>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/random_program.hpp"

namespace tidemark::sim {
namespace {

using namespace tidemark::literals;

TEST_CASE("Events come out in order of time, first in first out among equals") {
  EventQueue queue;
  queue.push(30_ps, 1);
  queue.push(10_ps, 2);
  queue.push(30_ps, 3);
  queue.push(0_ps, 4);
  queue.push(30_ps, 0);  // a smaller word does not overtake
  CHECK(queue.size() == 5);
  CHECK(queue.next_time() == 0_ps);
  std::vector<std::uint32_t> words;
  while (!queue.empty()) words.push_back(queue.pop().what());
  CHECK(words == std::vector<std::uint32_t>{4, 2, 1, 3, 0});
}

TEST_CASE("Late times are in order, whatever their words") {
  EventQueue queue;
  const SimTime late(std::int64_t{1} << 62);
  queue.push(late + 1_ps, 1);
  queue.push(late, 0xffffffffu);
  CHECK(queue.pop().what() == 0xffffffffu);
  CHECK(queue.pop().time == late + 1_ps);
}

// Pushes and pops in turn; the model is a list that a stable sort by time keeps in order.
TEST_CASE("The queue equals a stable sort by time, with many ties") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    test::Random random(seed);
    const std::int64_t distinct = random.one_in(2) ? 3 : 1000;
    EventQueue queue;
    std::vector<std::pair<SimTime, std::uint32_t>> model;
    for (std::uint32_t step = 0; step < 600; ++step) {
      if (model.empty() || random.between(1, 5) <= 3) {
        const SimTime time(random.between(0, distinct));
        queue.push(time, step);
        model.push_back({time, step});
        std::ranges::stable_sort(model, {}, [](const auto& entry) { return entry.first; });
      } else {
        const Event event = queue.pop();
        REQUIRE(event.time == model.front().first);
        REQUIRE(event.what() == model.front().second);
        model.erase(model.begin());
      }
      REQUIRE(queue.size() == model.size());
    }
    for (const auto& [time, word] : model) {
      const Event event = queue.pop();
      REQUIRE(event.time == time);
      REQUIRE(event.what() == word);
    }
    REQUIRE(queue.empty());
  }
}

}  // namespace
}  // namespace tidemark::sim
