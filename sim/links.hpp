#pragma once
// Transfers that share links max-min fairly, in whole numbers.
//
// All transfers on one path run at the same rate, so each path keeps one clock, `served`: what each
// of its transfers would have been given since the path last became busy. A transfer of n bytes
// that starts at clock s is done at clock s + n. A change costs O(log K) for K transfers on the
// path, plus a refill over paths and links, of which there are few.
//
// Running example: two links of 10 B/s, paths A over both and B over the second alone.
//
//   at 0 s   A starts with 20 B     rate A 10           A.served 0     A due 20
//   at 1 s   B starts with 15 B     rates A 5, B 5      A.served 10    B.served 0, due 15
//   at 3 s   A is done (20)         rate B 10           B.served 10
//   at 3.5 s B is done (15)
//
// The arithmetic, which is part of the contract: rates are whole bytes per second (at least 1), the
// clock is in byte picoseconds per second, exact; a completion is rounded up to a whole picosecond.
// Rates are filled as follows, and only counts of transfers matter. Of the links, the one with the
// least level floor(room / load) of its unfixed transfers is the tightest (the first in the list
// among equals; load counts each transfer with its weight times its path's share). If paths have a
// cap not above share x level, they are fixed at their caps; otherwise all unfixed paths over the
// tightest link are fixed at share x level. Repeat with the room that is left until all are fixed.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/program.hpp"
#include "hardware/units.hpp"
#include "sim/min_heap.hpp"

namespace tidemark::sim {

class LinkNetwork {
 public:
  // A link that is not listed has no limit. Capacities are positive; a path needs a listed link or
  // a cap.
  LinkNetwork(std::span<const Link> links, std::span<const Path> paths);

  // bytes > 0; time never runs backward between calls. `tag` is the caller's name for the transfer.
  void start(SimTime now, PathId path, Bytes bytes, std::uint32_t tag);

  // Takes the transfers that are done at `now` and appends their tags to `done`: by path, then by
  // clock, then by order of start.
  void finish(SimTime now, std::vector<std::uint32_t>& done);

  // When the next transfer will be done if none is started before; nullopt: none is in flight.
  // Call finish() at that time.
  std::optional<SimTime> next_completion();

  std::size_t in_flight() const { return in_flight_; }

 private:
  struct Due {
    Int128 clock;
    std::uint32_t order;
    std::uint32_t tag;

    friend bool operator<(const Due& a, const Due& b) {
      return a.clock != b.clock ? a.clock < b.clock : a.order < b.order;
    }
  };

  struct PathState {
    Int128 served = 0;      // byte ps / s
    std::int64_t rate = 0;  // bytes per second, of each transfer
    std::int64_t cap = 0;   // 0: none
    std::int64_t share = 1;
    std::array<std::uint8_t, kLinkCount> weight{};  // 0 for links that are not listed
    MinHeap<Due> due;

    std::int64_t count() const { return static_cast<std::int64_t>(due.size()); }
    std::int64_t parts() const { return count() * share; }
  };

  void advance(SimTime now);
  void refill();
  void fill_rates();
  std::int64_t tightest_level(int& tightest) const;
  bool fix_capped(std::int64_t level);
  void fix(std::uint32_t path, std::int64_t rate);

  std::array<std::int64_t, kLinkCount> capacity_{};
  std::array<int, kLinkCount> listed_{};  // link kinds in the order of the program's list
  int listed_count_ = 0;
  std::vector<PathState> paths_;
  std::vector<std::uint32_t> busy_;  // paths with transfers, ascending
  std::size_t in_flight_ = 0;
  std::uint32_t started_ = 0;
  SimTime clock_{};              // up to where all `served` are
  std::optional<SimTime> next_;  // stays right while time passes
  bool stale_ = false;           // rates and next_ are not those of the present transfers

  // Scratch of fill_rates().
  std::array<std::int64_t, kLinkCount> room_{};
  std::array<std::int64_t, kLinkCount> load_{};
  std::vector<std::uint32_t> unfixed_;
};

}  // namespace tidemark::sim
