#include "graph/offload/windows.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

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

SimTime at_share(Bytes bytes, Bandwidth rate) {
  return time_at_rate(bytes.count, std::max<std::int64_t>(1, rate.count));
}

}  // namespace

CopyTimes copy_times(const Machine& machine, ActivationOffload::To to) {
  const bool ssd = to == ActivationOffload::To::kSsd;
  // Max-min: the other direction leaves at least half, or what it cannot use.
  const auto share = [](Bandwidth own, Bandwidth other, Bandwidth both) {
    return std::min(own, std::max(Bandwidth(both.count / 2), both - other));
  };
  const Pcie& pcie = machine.pcie;
  const Bandwidth dram(machine.host.bandwidth.count / (ssd ? 4 : 2));
  const Bandwidth out = std::min(dram, share(pcie.d2h, pcie.h2d, pcie.both));
  const Bandwidth in = std::min(dram, share(pcie.h2d, pcie.d2h, pcie.both));
  const Bandwidth write = std::min(dram, machine.ssd.write * machine.ssd.drives);
  const Bandwidth read = std::min(dram, machine.ssd.read * machine.ssd.drives);
  const SimTime fixed = pcie.latency + (ssd ? machine.ssd.latency : SimTime(0));
  const auto way = [fixed, ssd](Bandwidth link, Bandwidth drive) {
    return [=](Bytes bytes) {
      return fixed + at_share(bytes, link) + (ssd ? at_share(bytes, drive) : SimTime(0));
    };
  };
  return {way(out, write), way(in, read)};
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
