// The table of rotor against its own definition, asked top down, interval by interval and level by
// level: equal intervals, levels that nothing reaches and sums taken together change no bit of it.

#include "graph/remat/rotor_table.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/remat_models.hpp"
#include "tests/support/remat_transformers.hpp"

namespace tidemark::remat {
namespace {

constexpr float kNever = std::numeric_limits<float>::infinity();

class Definition {
 public:
  Definition(const RotorInput& input, std::int64_t room, std::int64_t unit, bool round_up)
      : places_(input.places), room_(room), unit_(unit), up_(round_up) {}

  float value(std::size_t s, std::size_t t, std::int64_t left) {
    const auto known = known_.find({s, t, left});
    if (known != known_.end()) return known->second;
    float best = kNever;
    const auto offer = [&](float cost) { best = std::min(best, cost); };
    const std::int64_t pending = places_[t].pending_bytes;
    const auto& branches = places_[s].branches;
    for (std::size_t i = 0; i < branches.size(); ++i) {
      const RotorInput::Branch& b = branches[i];
      const std::size_t next = s + b.stages;
      if (next > t + 1) continue;
      const bool poorest = i + 1 == branches.size() || branches[i + 1].stages != b.stages;
      const std::int64_t need = std::max(b.backward_need, b.forward_need + pending);
      if (next <= t) {
        if (fits(need, left) && units(b.bytes) <= left) {
          offer(static_cast<float>(b.cost) + value(next, t, left - units(b.bytes)));
        }
      } else if (poorest) {
        if (fits(b.backward_need, left)) offer(0);
      } else if (fits(need, left)) {
        offer(static_cast<float>(b.cost));
      }
    }
    std::int64_t need = 0, time = 0;
    for (std::size_t next = s + 1; next <= t; ++next) {
      const RotorInput::Place& ran = places_[next - 1];
      need = std::max(need, pending + (next == s + 1 ? ran.forward_need : ran.passing_need));
      time += ran.forward_cost;
      const std::int64_t stored = units(ran.output_bytes);
      if (!fits(need, left) || stored > left) continue;
      const auto cost = static_cast<float>(time - ran.tail_cost);
      offer(cost + value(next, t, left - stored) + value(s, next - 1, left));
    }
    return known_[{s, t, left}] = best;
  }

 private:
  std::int64_t units(std::int64_t bytes) const { return (bytes + (up_ ? unit_ - 1 : 0)) / unit_; }
  // `left` units are left of the room: what was taken is a whole number of them.
  bool fits(std::int64_t need, std::int64_t left) const {
    return need <= room_ - (room_ / unit_ - left) * unit_;
  }

  const std::vector<RotorInput::Place>& places_;
  std::int64_t room_, unit_;
  bool up_;
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, float> known_;
};

struct Count {
  int finite = 0, infinite = 0;
};

void hold(const RotorInput& input, std::int64_t room, std::size_t levels, Count& count) {
  std::int64_t common = 0;  // of all that is taken
  for (const RotorInput::Place& place : input.places) {
    common = std::gcd(common, place.output_bytes);
    for (const RotorInput::Branch& b : place.branches) common = std::gcd(common, b.bytes);
  }
  const std::size_t last = input.places.size() - 1;
  for (const bool up : {true, false}) {
    const RotorTable table(input, room, levels, up);
    const std::int64_t coarse = room / static_cast<std::int64_t>(levels) + 1;
    Definition definition(input, room, std::max(common, coarse), up);
    const float expected = definition.value(0, last, static_cast<std::int64_t>(table.units()));
    const bool same = table.value(0, last, table.units()) == expected;
    CHECK(same);
    ++(expected < kNever ? count.finite : count.infinite);
  }
}

TEST_CASE("rotor's table is its definition, on chains of equal, few and many kinds of stages") {
  std::mt19937 random(11);
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random()) % (most - least + 1);
  };
  Count count;
  for (int number = 0; number < 16; ++number) {
    std::vector<test::ChainStage> kinds(static_cast<std::size_t>(from(1, number % 3 == 0 ? 9 : 2)));
    for (test::ChainStage& kind : kinds) {
      kind = {.output_bytes = from(1, 9),
              .gradient_bytes = from(1, 9),
              .forward_cost = from(1, 9),
              .backward_cost = from(1, 9)};
    }
    std::vector<test::ChainStage> stages(static_cast<std::size_t>(from(3, 26)));
    std::int64_t all = 12;
    for (test::ChainStage& stage : stages) {
      stage = kinds[static_cast<std::size_t>(from(0, 100)) % kinds.size()];
      all += stage.output_bytes;
    }
    const Problem problem = test::chain(stages);
    const RotorInput input = rotor_input(problem, chain_of_blocks(problem).value());
    for (const std::int64_t room : {all, all / 2, all / 4, all / 8}) {
      for (const std::size_t levels : {std::size_t{12}, std::size_t{300}}) {
        INFO(number << ", room " << room << ", levels " << levels);
        hold(input, room, levels, count);
      }
    }
  }
  CHECK(count.finite > 100);
  CHECK(count.infinite > 10);
}

TEST_CASE("rotor+'s table is its definition, on transformers") {
  Count count;
  for (const test::Kind kind : {test::Kind::kGpt, test::Kind::kLlama}) {
    const Problem problem = test::transformer(kind, 5);
    const RotorInput input =
        rotor_plus_input(problem, chain_of_cuts(problem).value(), chain_of_blocks(problem).value());
    std::int64_t all = 0;
    for (const RotorInput::Place& place : input.places) all += place.branches.front().bytes;
    for (const std::int64_t part : {1, 2, 4, 8}) {
      INFO("a part " << part);
      hold(input, all / part, 60, count);
    }
  }
  CHECK(count.finite > 4);
}

}  // namespace
}  // namespace tidemark::remat
