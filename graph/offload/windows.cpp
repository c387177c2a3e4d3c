#include "graph/offload/windows.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

namespace tidemark {
namespace {

// Its copy in: starts at `release` or later, and at `latest` or earlier.
struct Fetch {
  OpId after{};
  OpId first_use{};
  SimTime release{};
  SimTime deadline{};
  SimTime time{};
  SimTime latest{};
};

// Whether `a` goes after `b` on its stream.
bool goes_after(const Fetch& a, const Fetch& b) {
  return std::tuple(a.after, a.first_use) > std::tuple(b.after, b.first_use);
}

// The copies in of one pass. Later ones first, as a tensor that is saved later is, mostly, needed
// earlier: what a further tensor changes stands near the end.
class Fetches {
 public:
  bool try_add(Fetch fetch) {
    auto at = fetches_.end();
    while (at != fetches_.begin() && goes_after(fetch, *(at - 1))) --at;
    const auto place = static_cast<std::size_t>(at - fetches_.begin());
    fetches_.insert(at, fetch);
    before_.clear();
    for (std::size_t i = place; i < fetches_.size(); ++i) {
      Fetch& x = fetches_[i];
      const SimTime end = i == 0 ? x.deadline : std::min(x.deadline, fetches_[i - 1].latest);
      const SimTime latest = end - x.time;
      if (i > place && latest == x.latest) return true;
      before_.push_back(x.latest);
      x.latest = latest;
      if (latest < x.release) {
        give_up(place);
        return false;
      }
    }
    return true;
  }

 private:
  void give_up(std::size_t place) {
    for (std::size_t i = 0; i < before_.size(); ++i) fetches_[place + i].latest = before_[i];
    fetches_.erase(fetches_.begin() + static_cast<std::ptrdiff_t>(place));
  }

  std::vector<Fetch> fetches_;
  std::vector<SimTime> before_;  // `latest` of those that an attempt has changed
};

// Bytes a second that the path has if it has the machine to itself.
Int128 rate_alone(const ProgramBuilder& builder, const Path& path) {
  Int128 rate = path.cap.count > 0 ? path.cap.count : std::numeric_limits<std::int64_t>::max();
  for (const Link& link : builder.links()) {
    const Int128 weight = path.weight[static_cast<std::size_t>(link.kind)];
    if (weight > 0) rate = std::min(rate, link.capacity.count / weight);
  }
  return rate;
}

// What it has at least while all of `others` copy. Max-min: of each link its share, or what the
// others cannot use.
Int128 rate_beside(const ProgramBuilder& builder, const Path& path,
                   const std::vector<Path>& others) {
  Int128 rate = rate_alone(builder, path);
  for (const Link& link : builder.links()) {
    const auto kind = static_cast<std::size_t>(link.kind);
    const Int128 weight = path.weight[kind];
    if (weight == 0) continue;
    Int128 left = link.capacity.count;
    Int128 shares = weight * path.share;
    for (const Path& other : others) {
      left -= other.weight[kind] * rate_alone(builder, other);
      shares += Int128{other.weight[kind]} * other.share;
    }
    rate =
        std::min(rate, std::max(Int128{link.capacity.count} * path.share / shares, left / weight));
  }
  return std::max<Int128>(rate, 1);
}

}  // namespace

CopyTimes copy_times(const ProgramBuilder& builder, const MachinePaths& paths,
                     ActivationOffload::To to) {
  using Way = Route (MachinePaths::*)(Bytes) const;
  std::vector<Way> out{&MachinePaths::from_gpu}, in{&MachinePaths::to_gpu};
  if (to == ActivationOffload::To::kSsd) {
    if (paths.direct()) {
      out.clear();
      in.clear();
    }
    out.push_back(paths.direct() ? &MachinePaths::straight_to_ssd : &MachinePaths::to_ssd);
    in.push_back(paths.direct() ? &MachinePaths::straight_to_gpu : &MachinePaths::from_ssd);
  }
  const auto path = [&](Way way) { return builder.path((paths.*way)(Bytes(1)).path); };
  const auto both_legs = [&](const std::vector<Way>& legs) {
    std::vector<std::pair<Way, std::int64_t>> rates;
    for (const Way leg : legs) {
      std::vector<Path> others;
      for (const std::vector<Way>* ways : {&out, &in}) {
        for (const Way other : *ways) {
          if (other != leg) others.push_back(path(other));
        }
      }
      rates.emplace_back(leg, static_cast<std::int64_t>(rate_beside(builder, path(leg), others)));
    }
    return [rates, &paths](Bytes bytes) {
      SimTime time{};
      for (const auto& [leg, rate] : rates) {
        time += (paths.*leg)(bytes).fixed + time_at_rate(bytes.count, rate);
      }
      return time;
    };
  };
  return {both_legs(out), both_legs(in)};
}

CopyTimes copy_times_alone(const ProgramBuilder& builder, const MachinePaths& paths) {
  const auto time = [&](Route (MachinePaths::*way)(Bytes) const) {
    const Path& path = builder.path((paths.*way)(Bytes(1)).path);
    const auto rate = static_cast<std::int64_t>(rate_alone(builder, path));
    return [rate, way, &paths](Bytes bytes) {
      return (paths.*way)(bytes).fixed + time_at_rate(bytes.count, rate);
    };
  };
  return {time(&MachinePaths::from_gpu), time(&MachinePaths::to_gpu)};
}

std::vector<SavedTensor> fit_in_windows(const std::vector<SavedTensor>& tensors,
                                        const StepGraph& graph, const Starts& starts,
                                        const CopyTimes& times) {
  const auto end_of = [&](OpId op) { return starts[std::size_t{index(op)} + 1]; };
  const std::vector<Visit> walk = visits(graph);
  std::vector<SavedTensor> taken;
  SimTime out_free{};  // when the last copy out of those taken ends
  Fetches fetches;
  std::uint32_t pass = kNoIndex;
  for (const SavedTensor& x : tensors) {
    if (pass != walk[x.visit].start) {
      pass = walk[x.visit].start;
      fetches = {};
    }
    const Bytes bytes = graph.tensor(x.tensor).bytes;
    const SimTime out = std::max(out_free, end_of(x.saved)) + times.out(bytes);
    const bool fits = fetches.try_add({.after = x.fetch_after,
                                       .first_use = x.first_backward,
                                       .release = std::max(out, end_of(x.fetch_after)),
                                       .deadline = starts[index(x.first_backward)],
                                       .time = times.in(bytes),
                                       .latest = {}});
    if (!fits) continue;
    out_free = out;
    taken.push_back(x);
  }
  return taken;
}

}  // namespace tidemark
