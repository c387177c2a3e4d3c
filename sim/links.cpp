#include "sim/links.hpp"

#include <algorithm>
#include <limits>

#include "hardware/ensure.hpp"

namespace tidemark::sim {
namespace {

constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max() / 2;

// ceil(amount / rate) for amount >= 0; the hardware divides 64 bits much faster than 128.
Int128 divide_up(Int128 amount, std::int64_t rate) {
  const Int128 sum = amount + (rate - 1);
  if (sum <= kUnlimited) return static_cast<std::int64_t>(sum) / rate;
  return sum / rate;
}

}  // namespace

LinkNetwork::LinkNetwork(std::span<const Link> links, std::span<const Path> paths) {
  for (const Link& link : links) {
    const int kind = static_cast<int>(link.kind);
    std::int64_t& capacity = capacity_[static_cast<std::size_t>(kind)];
    ensure(link.capacity.count > 0, "a link should have a positive capacity");
    ensure(capacity == 0, "a program should list each link once");
    capacity = link.capacity.count;
    listed_[static_cast<std::size_t>(listed_count_++)] = kind;
  }
  paths_.reserve(paths.size());
  for (const Path& path : paths) {
    PathState state;
    state.cap = path.cap.count;
    state.share = path.share;
    bool bounded = state.cap > 0;
    for (std::size_t link = 0; link < kLinkCount; ++link) {
      if (capacity_[link] == 0) continue;
      state.weight[link] = path.weight[link];
      bounded = bounded || path.weight[link] > 0;
    }
    ensure(state.cap >= 0 && bounded, "a path should have a link or a cap");
    ensure(state.share > 0, "a path should have a share");
    paths_.push_back(std::move(state));
  }
  busy_.reserve(paths_.size());
  unfixed_.reserve(paths_.size());
}

void LinkNetwork::start(SimTime now, PathId path, Bytes bytes, std::uint32_t tag) {
  ensure(bytes.count > 0 && index(path) < paths_.size(), "a transfer should have bytes and a path");
  advance(now);
  PathState& state = paths_[index(path)];
  if (state.due.empty()) {
    state.served = 0;
    state.rate = 0;
    busy_.insert(std::ranges::upper_bound(busy_, index(path)), index(path));
  }
  state.due.push(
      {state.served + static_cast<Int128>(bytes.count) * kPicosecondsPerSecond, started_++, tag});
  ++in_flight_;
  stale_ = true;
}

void LinkNetwork::finish(SimTime now, std::vector<std::uint32_t>& done) {
  advance(now);
  bool emptied = false;
  for (const std::uint32_t path : busy_) {
    PathState& state = paths_[path];
    while (!state.due.empty() && state.due.top().clock <= state.served) {
      done.push_back(state.due.pop().tag);
      --in_flight_;
      stale_ = true;
    }
    emptied = emptied || state.due.empty();
  }
  if (emptied) std::erase_if(busy_, [&](std::uint32_t path) { return paths_[path].due.empty(); });
}

std::optional<SimTime> LinkNetwork::next_completion() {
  if (stale_) refill();
  return next_;
}

void LinkNetwork::advance(SimTime now) {
  if (now == clock_) return;
  if (stale_) refill();
  const std::int64_t passed = (now - clock_).count();
  ensure(passed >= 0, "time should not run backward");
  for (const std::uint32_t path : busy_) {
    PathState& state = paths_[path];
    state.served += static_cast<Int128>(state.rate) * passed;
  }
  clock_ = now;
}

void LinkNetwork::refill() {
  stale_ = false;
  fill_rates();
  next_ = std::nullopt;
  Int128 least = -1;
  for (const std::uint32_t path : busy_) {
    const PathState& state = paths_[path];
    const Int128 wait = divide_up(state.due.top().clock - state.served, state.rate);
    if (least < 0 || wait < least) least = wait;
  }
  if (least < 0) return;
  ensure(least <= kLatest - clock_.count(), "a step should take less than 50 days");
  next_ = clock_ + SimTime(static_cast<std::int64_t>(least));
}

void LinkNetwork::fill_rates() {
  room_ = capacity_;
  load_ = {};
  unfixed_ = busy_;
  for (const std::uint32_t path : busy_) {
    const PathState& state = paths_[path];
    for (std::size_t link = 0; link < kLinkCount; ++link) {
      load_[link] += state.parts() * state.weight[link];
    }
  }
  while (!unfixed_.empty()) {
    int tightest = -1;
    const std::int64_t level = tightest_level(tightest);
    if (fix_capped(level)) continue;
    ensure(tightest >= 0, "an unfixed path should have a link");
    std::erase_if(unfixed_, [&](std::uint32_t path) {
      if (paths_[path].weight[static_cast<std::size_t>(tightest)] == 0) return false;
      fix(path, level * paths_[path].share);
      return true;
    });
  }
}

std::int64_t LinkNetwork::tightest_level(int& tightest) const {
  std::int64_t least = kUnlimited;
  for (int i = 0; i < listed_count_; ++i) {
    const auto link = static_cast<std::size_t>(listed_[static_cast<std::size_t>(i)]);
    if (load_[link] == 0) continue;
    const std::int64_t level = load_[link] == 1 ? room_[link] : room_[link] / load_[link];
    if (level < least || tightest < 0) {
      least = level;
      tightest = static_cast<int>(link);
    }
  }
  return least;
}

// Levels only grow as capped transfers leave, so all caps up to this one hold. Without a listed
// link the level has no limit.
bool LinkNetwork::fix_capped(std::int64_t level) {
  const std::size_t before = unfixed_.size();
  std::erase_if(unfixed_, [&](std::uint32_t path) {
    const std::int64_t cap = paths_[path].cap;
    if (cap == 0 || cap > static_cast<Int128>(level) * paths_[path].share) return false;
    fix(path, cap);
    return true;
  });
  return unfixed_.size() < before;
}

void LinkNetwork::fix(std::uint32_t path, std::int64_t rate) {
  PathState& state = paths_[path];
  state.rate = std::max<std::int64_t>(rate, 1);  // a link of 1 B/s for two must still end
  for (std::size_t link = 0; link < kLinkCount; ++link) {
    load_[link] -= state.parts() * state.weight[link];
    room_[link] -= state.count() * state.weight[link] * rate;
  }
}

}  // namespace tidemark::sim
