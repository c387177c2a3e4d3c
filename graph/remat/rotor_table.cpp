#include "graph/remat/rotor_table.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tidemark::remat {

namespace {

constexpr float kNever = std::numeric_limits<float>::infinity();

std::int64_t common_unit(const RotorInput& input) {
  std::int64_t unit = 0;
  for (const RotorInput::Place& place : input.places) {
    unit = std::gcd(unit, place.output_bytes);
    for (const RotorInput::Branch& branch : place.branches) unit = std::gcd(unit, branch.bytes);
  }
  return std::max<std::int64_t>(unit, 1);
}

using Skip = RotorTable::Skip;

// By value: through the references of std::min loops are not vectorised.
float less(float a, float b) { return b < a ? b : a; }

float sum(const Skip& skip, std::size_t u) { return skip.cost + skip.behind[u] + skip.front[u]; }

void take_one(const Skip& skip, float* __restrict to, std::size_t end) {
  for (std::size_t u = skip.from; u < end; ++u) to[u] = less(to[u], sum(skip, u));
}

// Four at once, so that `to` is read and written once. More memory never costs more: where the
// least of the sums of a run of levels, its last, is no less than what the first has, none of them
// is of use.
constexpr std::size_t kTogether = 4;
constexpr std::size_t kRun = 64;  // levels

void take_together(const Skip* skips, float* __restrict to, std::size_t end) {
  const Skip a = skips[0], b = skips[1], c = skips[2], d = skips[3];
  const std::size_t from = std::min(end, std::max({a.from, b.from, c.from, d.from}));
  for (std::size_t k = 0; k < kTogether; ++k) take_one(skips[k], to, from);
  for (std::size_t begin = from; begin < end; begin += kRun) {
    const std::size_t stop = std::min(begin + kRun, end);
    const std::size_t last = stop - 1;
    const float least = std::min({sum(a, last), sum(b, last), sum(c, last), sum(d, last)});
    if (least >= to[begin]) continue;
    for (std::size_t u = begin; u < stop; ++u) {
      const float left = less(sum(a, u), sum(b, u));
      const float right = less(sum(c, u), sum(d, u));
      to[u] = less(to[u], less(left, right));
    }
  }
}

}  // namespace

RotorTable::RotorTable(const RotorInput& input, std::int64_t room, std::size_t levels,
                       bool round_up)
    : input_(input), round_up_(round_up), room_(room) {
  const std::int64_t coarse =
      room / static_cast<std::int64_t>(std::max<std::size_t>(levels, 2)) + 1;
  const std::int64_t common = common_unit(input);
  unit_ = std::max(common, coarse);
  exact_ = unit_ == common;
  levels_ = static_cast<std::size_t>(room / unit_) + 1;
  for (const RotorInput::Place& place : input.places) {
    output_units_.push_back(units_of(place.output_bytes));
  }
  number_intervals();
  find_lowest();
  values_.assign((id_count_ + std::size_t{1}) * levels_, kNever);
  std::vector<char> done(id_count_, 0);
  const std::size_t count = input.places.size();
  for (std::size_t length = 1; length <= count; ++length) {
    for (std::size_t first = 0; first + length <= count; ++first) {
      const std::size_t last = first + length - 1;
      if (done[id(first, last)] == 0) fill(first, last);
      done[id(first, last)] = 1;
    }
  }
}

void RotorTable::number_intervals() {
  const std::size_t count = input_.places.size();
  ids_.assign(count * count, 0);
  // An interval is its first stage, and the one behind. Of the last stage less is read.
  std::uint32_t shapes = 0;
  for (const RotorInput::Place& place : input_.places) {
    shapes = std::max({shapes, place.shape + 1, place.last_shape + 1});
  }
  std::vector<std::uint32_t> longer(shapes, kNone);  // by interval (first: none) and shape
  for (std::size_t last = 0; last < count; ++last) {
    std::size_t row = 0;
    for (std::size_t first = last + 1; first-- > 0;) {
      const RotorInput::Place& place = input_.places[first];
      std::uint32_t& known =
          longer[row * shapes + (first == last ? place.last_shape : place.shape)];
      const bool added = known == kNone;
      if (added) known = id_count_++;
      id_of(first, last) = known;
      row = std::size_t{id_of(first, last)} + 1;
      if (added) longer.resize(longer.size() + shapes, kNone);
    }
  }
}

// Nobody asks for an interval with fewer levels than what lies in front of it leaves at the most.
void RotorTable::find_lowest() {
  const std::size_t count = input_.places.size();
  std::vector<std::size_t> taken(count + 1, 0);  // by the stage that comes next
  for (std::size_t first = 0; first < count; ++first) {
    const auto take = [&](std::size_t stages, std::size_t taking) {
      std::size_t& behind = taken[std::min(first + stages, count)];
      behind = std::max(behind, std::min(taken[first] + taking, units()));
    };
    take(1, output_units_[first]);
    for (const RotorInput::Branch& b : input_.places[first].branches) {
      take(b.stages, units_of(b.bytes));
    }
  }
  lowest_.assign(id_count_, units());
  for (std::size_t first = 0; first < count; ++first) {
    for (std::size_t last = first; last < count; ++last) {
      std::size_t& lowest = lowest_[id(first, last)];
      lowest = std::min(lowest, units() - taken[first]);
    }
  }
}

RotorTable::Move RotorTable::keep(std::size_t first, std::size_t last, std::size_t branch) const {
  const std::vector<RotorInput::Branch>& branches = input_.places[first].branches;
  const RotorInput::Branch& b = branches[branch];
  const std::int64_t pending = input_.places[last].pending_bytes;
  std::int64_t need = std::max(b.backward_need, b.forward_need + pending);
  Move move;
  move.branch = branch;
  move.next = first + b.stages;
  move.cost = static_cast<float>(b.cost);
  move.bytes = units_of(b.bytes);
  if (move.next > last) {
    const bool poorest = branch + 1 == branches.size() || branches[branch + 1].stages != b.stages;
    move.kind = Move::Kind::kKeepLast;
    if (poorest) {
      // Its forward ran for what is behind it; what runs again lazily was counted with it.
      move.kind = Move::Kind::kLazily;
      move.cost = 0;
      need = b.backward_need;
    }
  }
  move.from = units_for(need);
  if (move.kind == Move::Kind::kKeep) move.from = std::max(move.from, move.bytes);
  return move;
}

template <class Visit>
void RotorTable::for_each_move(std::size_t first, std::size_t last, const Visit& visit) const {
  const std::vector<RotorInput::Place>& places = input_.places;
  for (std::size_t b = 0; b < places[first].branches.size(); ++b) {
    if (first + places[first].branches[b].stages <= last + 1) visit(keep(first, last, b));
  }
  Move move;
  move.kind = Move::Kind::kSkip;
  const std::int64_t pending = places[last].pending_bytes;
  std::int64_t need = 0, time = 0;
  std::size_t enough = 0;  // units for `need`
  for (std::size_t next = first + 1; next <= last; ++next) {
    const RotorInput::Place& ran = places[next - 1];
    const std::int64_t more = pending + (next - 1 == first ? ran.forward_need : ran.passing_need);
    if (more > need) {
      need = more;
      enough = units_for(need);
    }
    time += ran.forward_cost;
    move.next = next;
    move.cost = static_cast<float>(time - ran.tail_cost);
    move.bytes = output_units_[next - 1];
    move.from = std::max(enough, move.bytes);
    visit(move);
  }
}

void RotorTable::fill(std::size_t first, std::size_t last) {
  float* const to = row(first, last);
  const std::size_t lowest = lowest_[id(first, last)];
  skips_.clear();
  for_each_move(first, last, [&](const Move& move) {
    const std::size_t from = std::max(move.from, lowest);
    if (from >= levels_) return;
    if (move.kind == Move::Kind::kKeepLast || move.kind == Move::Kind::kLazily) {
      for (std::size_t u = from; u < levels_; ++u) to[u] = less(to[u], move.cost);
      return;
    }
    const float* const behind = row(move.next, last) - move.bytes;
    if (move.kind == Move::Kind::kKeep) {
      for (std::size_t u = from; u < levels_; ++u) to[u] = less(to[u], move.cost + behind[u]);
      return;
    }
    skips_.push_back({move.cost, from, behind, row(first, move.next - 1)});
  });
  std::size_t i = 0;
  for (; i + kTogether <= skips_.size(); i += kTogether) take_together(&skips_[i], to, levels_);
  for (; i < skips_.size(); ++i) take_one(skips_[i], to, levels_);
}

RotorTable::Move RotorTable::best(std::size_t first, std::size_t last, std::size_t units) const {
  const float wanted = value(first, last, units);
  Move found;
  bool done = false;
  for_each_move(first, last, [&](const Move& move) {
    if (done || units < move.from) return;
    float cost = move.cost;
    if (move.kind == Move::Kind::kKeep || move.kind == Move::Kind::kSkip) {
      cost += value(move.next, last, units - move.bytes);
    }
    if (move.kind == Move::Kind::kSkip) cost += value(first, move.next - 1, units);
    if (cost != wanted) return;
    done = true;
    found = move;
  });
  return found;
}

}  // namespace tidemark::remat
