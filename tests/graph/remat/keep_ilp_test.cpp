// What stages keep, recompute and move, held to all assignments of small chains.

#include "graph/remat/keep_ilp.hpp"

#include <algorithm>
#include <optional>
#include <random>

#include "graph/remat/ilp.hpp"
#include "graph/remat/referee.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/remat_models.hpp"

namespace tidemark::remat {
namespace {

constexpr std::uint32_t kStages = 3;
constexpr double kSolverSeconds = 20;
constexpr std::int64_t kMicrosecond = 1'000'000;

// Stage s:   forward   a: x -> h     b: h -> g     c: g, x -> y, the x of the next
//            backward  p: g, dy -> dg     q: h, x, dg -> dx
// Op 0 makes the first x; the loss is one op of forward and one of backward.
struct SmallChain {
  explicit SmallChain(std::mt19937& random) {
    const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
    const auto time = [&](std::int64_t least, std::uint32_t n) {
      return (least + below(n)) * kMicrosecond;
    };
    test::Steps steps;
    x.push_back(steps.tensor(1 + below(9)));
    steps.once(time(1, 9), {}, {x[0]});
    for (std::uint32_t s = 0; s < kStages; ++s) {
      h.push_back(steps.tensor(1 + below(9)));
      g.push_back(steps.tensor(1 + below(9)));
      x.push_back(steps.tensor(1 + below(9)));
      a.push_back(steps.forward(time(10, 90), {x[s]}, {h[s]}, s));
      b.push_back(steps.forward(time(10, 90), {h[s]}, {g[s]}, s));
      c.push_back(steps.forward(time(10, 90), {g[s], x[s]}, {x[s + 1]}, s));
    }
    const auto loss = steps.tensor(1);
    steps.forward(time(10, 1), {x[kStages]}, {loss});
    auto gradient = steps.tensor(1);
    steps.backward(time(10, 90), {loss}, {gradient});
    p.resize(kStages);
    q.resize(kStages);
    for (std::uint32_t s = kStages; s-- > 0;) {
      const auto dg = steps.tensor(1), dx = steps.tensor(1);
      p[s] = steps.backward(time(10, 90), {g[s], gradient}, {dg}, s);
      q[s] = steps.backward(time(10, 90), {h[s], x[s], dg}, {dx}, s);
      gradient = dx;
    }
    problem = steps.problem;
    chain = chain_of_blocks(problem).value();
    // All that backward reads but what the loss reads.
    moves.out.assign(problem.tensor_count(), Moves::kStays);
    moves.in = moves.out;
    for (std::uint32_t s = 0; s < kStages; ++s) {
      for (const TensorIndex t : {x[s], h[s], g[s]}) {
        moves.out[t] = time(1, 80);
        moves.in[t] = time(1, 80);
      }
    }
    moves.host_room = 10 + below(40);
  }

  std::int64_t cost(OpIndex op) const { return problem.op(op).cost; }
  std::int64_t bytes(TensorIndex t) const { return problem.tensor(t).bytes; }

  std::int64_t kept_at_most() const {
    std::int64_t sum = 0;
    for (std::uint32_t s = 0; s < kStages; ++s) sum += bytes(h[s]) + bytes(g[s]);
    return sum;
  }

  Problem problem;
  Chain chain;
  Moves moves;
  std::vector<TensorIndex> x, h, g;
  std::vector<OpIndex> a, b, c, p, q;
};

enum class Fate { kKept, kMoved, kDropped };

struct Outcome {
  std::int64_t cost = 0, recompute = 0, moved = 0;
};

// Nothing: it is more than memory, the host or the way out has room for. `fate`: by tensor.
std::optional<Outcome> outcome(const SmallChain& chain, const std::vector<Fate>& fate,
                               std::int64_t room) {
  const auto moved = [&](TensorIndex t) { return fate[t] == Fate::kMoved; };
  Outcome sum;
  std::int64_t out = 0, behind = 0, ahead = 0, again_ahead = 0;
  for (OpIndex op = chain.c.back() + 2; op < chain.p.back(); ++op) ahead += chain.cost(op);
  for (OpIndex op = chain.c.back() + 1; op <= chain.c.back() + 1; ++op) behind += chain.cost(op);
  for (std::uint32_t s = kStages; s-- > 0;) {
    std::int64_t back = 0;
    for (const TensorIndex t : {chain.x[s], chain.h[s], chain.g[s]}) {
      if (!moved(t)) continue;
      out += chain.moves.out[t];
      back += chain.moves.in[t];
      sum.moved += chain.bytes(t);
    }
    // Copies out of what is made from here on: after the first of it, up to backward. What op 0
    // makes is x of stage 0.
    const std::int64_t later = chain.cost(chain.b[s]) + chain.cost(chain.c[s]) + behind;
    behind = later + chain.cost(chain.a[s]);
    // x of stage s is made by c of the stage in front, its copy does not count here.
    std::int64_t own_out = out;
    if (s > 0 && moved(chain.x[s])) own_out -= chain.moves.out[chain.x[s]];
    if (own_out > (s == 0 ? behind : later)) return {};

    std::int64_t again = 0;
    if (fate[chain.h[s]] == Fate::kDropped) again += chain.cost(chain.a[s]);
    if (fate[chain.g[s]] == Fate::kDropped) again += chain.cost(chain.b[s]);
    sum.recompute += again;
    sum.cost += again + std::max<std::int64_t>(back - ahead - again_ahead, 0);
    ahead = chain.cost(chain.p[s]) + chain.cost(chain.q[s]);
    again_ahead = again;
  }
  if (sum.moved > chain.moves.host_room) return {};
  // While stage s runs backward, what is moved is back for it and for the one in front of it; the
  // last round is in front of all stages.
  for (std::uint32_t s = 0; s <= kStages; ++s) {
    std::int64_t bytes = 0;
    for (std::uint32_t of = 0; of < kStages; ++of) {
      const bool back = of == s || of + 1 == s;
      for (const TensorIndex t : {chain.h[of], chain.g[of]}) {
        if (moved(t) ? back : fate[t] == Fate::kKept && of <= s) bytes += chain.bytes(t);
      }
      if (moved(chain.x[of]) && !back) bytes -= chain.bytes(chain.x[of]);
    }
    if (bytes > room) return {};
  }
  return sum;
}

std::optional<std::int64_t> least_cost(const SmallChain& chain, std::int64_t room) {
  std::vector<Fate> fate(chain.problem.tensor_count(), Fate::kKept);
  std::vector<TensorIndex> free;
  for (std::uint32_t s = 0; s < kStages; ++s) {
    free.insert(free.end(), {chain.x[s], chain.h[s], chain.g[s]});
  }
  std::optional<std::int64_t> least;
  const auto choose = [&](const auto& self, std::size_t i) -> void {
    if (i == free.size()) {
      const auto found = outcome(chain, fate, room);
      if (found) least = std::min(least.value_or(found->cost), found->cost);
      return;
    }
    for (const Fate each : {Fate::kKept, Fate::kMoved, Fate::kDropped}) {
      // Outputs of stages are never made again.
      if (i % 3 == 0 && each == Fate::kDropped) continue;
      fate[free[i]] = each;
      self(self, i + 1);
    }
  };
  choose(choose, 0);
  return least;
}

std::vector<Fate> fates(const KeepChoice& choice) {
  std::vector<Fate> fate;
  for (const char kept : choice.plan.keep) fate.push_back(kept != 0 ? Fate::kKept : Fate::kDropped);
  for (const TensorIndex t : choice.moved) fate[t] = Fate::kMoved;
  return fate;
}

TEST_CASE("of all ways to keep, recompute and move, the program finds one that costs least") {
  if (!has_ilp()) return;
  std::mt19937 random(3);
  int moved = 0, proved = 0, recomputed = 0, waited = 0, better = 0, impossible = 0;
  for (int number = 0; number < 12; ++number) {
    const SmallChain chain(random);
    for (const std::int64_t room : {chain.kept_at_most(), chain.kept_at_most() / 2,
                                    chain.kept_at_most() / 5, std::int64_t{-40}}) {
      CAPTURE(number, room);
      const auto least = least_cost(chain, room);
      const auto choice =
          keep_by_ilp(chain.problem, chain.chain, room, kSolverSeconds, &chain.moves);
      REQUIRE(choice.has_value() == least.has_value());
      impossible += !least;
      if (!least) continue;
      const auto found = outcome(chain, fates(*choice), room);
      REQUIRE(found);
      // The solver stops there: keep_by_ilp().
      CHECK(found->cost >= *least);
      CHECK(found->cost <= *least + *least / 1000 + chain.problem.base_time() / 1000);
      // What the program counts: that, and a ten-thousandth of the copies. Rounded.
      std::int64_t all = kMicrosecond / 1000;
      for (TensorIndex t = 0; t < chain.problem.tensor_count(); ++t) {
        if (chain.moves.may_move(t)) all += (chain.moves.out[t] + chain.moves.in[t]) / 10'000;
      }
      CHECK(choice->cost >= found->cost - kMicrosecond / 1000);
      CHECK(choice->cost <= found->cost + all);
      CHECK(choice->bound <= *least + all);
      const std::int64_t near = choice->cost / 1000 + chain.problem.base_time() / 1000;
      CHECK(choice->bound >= choice->cost - near - kMicrosecond / 1000);
      proved += choice->bound > 0;
      moved += found->moved > 0;
      recomputed += found->recompute > 0;
      waited += found->cost > found->recompute;
      if (room == chain.kept_at_most()) CHECK(found->cost + found->moved == 0);
      if (const auto alone = keep_by_ilp(chain.problem, chain.chain, room, kSolverSeconds)) {
        CHECK(alone->moved.empty());
        better += outcome(chain, fates(*alone), room)->cost > found->cost;
      }
    }
  }
  CHECK(moved > 10);
  CHECK(proved > 10);
  CHECK(recomputed > 5);
  CHECK(waited > 0);
  CHECK(better > 5);
  CHECK(impossible > 0);
}

TEST_CASE("over a hopeless link nothing moves, over a free one nothing is made again") {
  if (!has_ilp()) return;
  std::mt19937 random(4);
  SmallChain chain(random);
  const auto set_link = [&](std::int64_t time) {
    for (std::vector<std::int64_t>* copies : {&chain.moves.out, &chain.moves.in}) {
      for (std::int64_t& copy : *copies) copy = copy == Moves::kStays ? copy : time;
    }
  };
  const std::int64_t room = chain.kept_at_most() * 3 / 4;
  set_link(1000 * kMicrosecond);
  const auto slow = keep_by_ilp(chain.problem, chain.chain, room, kSolverSeconds, &chain.moves);
  const auto alone = keep_by_ilp(chain.problem, chain.chain, room, kSolverSeconds);
  REQUIRE((slow && alone));
  CHECK(slow->moved.empty());
  CHECK(outcome(chain, fates(*slow), room)->cost == outcome(chain, fates(*alone), room)->cost);
  CHECK(outcome(chain, fates(*slow), room)->recompute > 0);

  set_link(0);
  chain.moves.host_room = 1000;
  const auto fast = keep_by_ilp(chain.problem, chain.chain, room, kSolverSeconds, &chain.moves);
  REQUIRE(fast);
  REQUIRE(outcome(chain, fates(*fast), room).has_value());
  CHECK(outcome(chain, fates(*fast), room)->cost == 0);
  CHECK(outcome(chain, fates(*fast), room)->moved >= chain.kept_at_most() - room);

  // Without a byte on the host it is as if nothing could move.
  chain.moves.host_room = 0;
  const auto full = keep_by_ilp(chain.problem, chain.chain, room, kSolverSeconds, &chain.moves);
  REQUIRE(full);
  CHECK(full->moved.empty());
}

TEST_CASE("a plan with moves makes what moves once, and needs less than the same without moves") {
  if (!has_ilp()) return;
  std::mt19937 random(5);
  int less = 0;
  for (int number = 0; number < 8; ++number) {
    const SmallChain chain(random);
    const std::int64_t most = referee(chain.problem, keep_everything(chain.problem)).peak;
    for (const std::int64_t budget : {most, most * 3 / 4, most / 2}) {
      const auto plan =
          plan_keeps_by_ilp(chain.problem, chain.chain, budget, kSolverSeconds, &chain.moves);
      if (!plan) continue;
      CAPTURE(number, budget);
      const Verdict verdict = referee(chain.problem, plan->sequence);
      REQUIRE(verdict.valid());
      const std::int64_t peak = peak_with_moves(chain.problem, plan->sequence, plan->moved);
      CHECK(peak <= verdict.peak);
      if (plan->moved.empty()) CHECK(peak == verdict.peak);
      for (const TensorIndex t : plan->moved) {
        CHECK(std::ranges::count(plan->sequence, chain.problem.tensor(t).producer) == 1);
      }
      less += peak < verdict.peak;
    }
  }
  CHECK(less > 5);
}

// Op 0, of block 0, makes a (10); op 1, of block 1, reads it and makes b (5); op 2, of the head,
// reads b and makes c (7). Backward: op 3 of the head reads c and makes dc (1), op 4 of block 1
// reads b and dc and makes db (2), op 5 of block 0 reads a and db and makes da (3).
//
//   position   0    1    2    3               4              5
//   all        10   15   22   10+5+7+1 = 23   10+5+1+2 = 18  10+2+3 = 15
//   a moves    10   15   12   13              18             15   away behind op 1, back with op 4
//   b moves    10   15   22   23              18             15   back with op 3: never away
TEST_CASE("what moves is away from its last use in forward to one visit before backward needs it") {
  test::Steps steps;
  const auto a = steps.tensor(10), b = steps.tensor(5), c = steps.tensor(7), dc = steps.tensor(1),
             db = steps.tensor(2), da = steps.tensor(3);
  steps.forward(1, {}, {a}, 0);
  steps.forward(1, {a}, {b}, 1);
  steps.forward(1, {b}, {c});
  steps.backward(1, {c}, {dc});
  steps.backward(1, {b, dc}, {db}, 1);
  steps.backward(1, {a, db}, {da}, 0);
  const Sequence all = keep_everything(steps.problem);
  CHECK(peak_with_moves(steps.problem, all, {}) == 23);
  CHECK(peak_with_moves(steps.problem, all, std::vector{a}) == 18);
  CHECK(peak_with_moves(steps.problem, all, std::vector{a, b}) == 18);
  CHECK(peak_with_moves(steps.problem, all, std::vector{b}) == 23);
}

}  // namespace
}  // namespace tidemark::remat
