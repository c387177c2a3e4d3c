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
  number_intervals();
  values_.assign(id_count_ * levels_, kNever);
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
  // An interval is the one without its last stage, and that stage.
  std::uint32_t shapes = 0;
  for (const RotorInput::Place& place : input_.places) shapes = std::max(shapes, place.shape + 1);
  std::vector<std::uint32_t> longer(shapes, kNone);  // by interval (first: none) and shape
  for (std::size_t first = 0; first < count; ++first) {
    std::size_t row = 0;
    for (std::size_t last = first; last < count; ++last) {
      std::uint32_t& known = longer[row * shapes + input_.places[last].shape];
      const bool added = known == kNone;
      if (added) known = id_count_++;
      id_of(first, last) = known;
      row = std::size_t{id_of(first, last)} + 1;
      if (added) longer.resize(longer.size() + shapes, kNone);
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
  for (std::size_t next = first + 1; next <= last; ++next) {
    const RotorInput::Place& ran = places[next - 1];
    need = std::max(need, pending + (next - 1 == first ? ran.forward_need : ran.passing_need));
    time += ran.forward_cost;
    move.next = next;
    move.cost = static_cast<float>(time - ran.tail_cost);
    move.bytes = units_of(ran.output_bytes);
    move.from = std::max(units_for(need), move.bytes);
    visit(move);
  }
}

void RotorTable::fill(std::size_t first, std::size_t last) {
  float* const to = values_.data() + id(first, last) * levels_;
  for_each_move(first, last, [&](const Move& move) {
    if (move.from >= levels_) return;
    const std::size_t count = levels_ - move.from;
    float* const here = to + move.from;
    if (move.kind == Move::Kind::kKeepLast || move.kind == Move::Kind::kLazily) {
      for (std::size_t i = 0; i < count; ++i) here[i] = move.cost < here[i] ? move.cost : here[i];
      return;
    }
    const float* const behind =
        values_.data() + id(move.next, last) * levels_ + (move.from - move.bytes);
    if (move.kind == Move::Kind::kKeep) {
      for (std::size_t i = 0; i < count; ++i) {
        const float sum = move.cost + behind[i];
        here[i] = sum < here[i] ? sum : here[i];
      }
      return;
    }
    const float* const front = values_.data() + id(first, move.next - 1) * levels_ + move.from;
    for (std::size_t i = 0; i < count; ++i) {
      const float sum = move.cost + behind[i] + front[i];
      here[i] = sum < here[i] ? sum : here[i];
    }
  });
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
