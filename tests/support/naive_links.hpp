#pragma once
// Fair shares the slow way: every transfer is a thing of its own, all are looked at on every
// change.

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "graph/program.hpp"
#include "hardware/units.hpp"

namespace tidemark::test {

struct NaiveTransfer {
  Path path;
  Int128 left = 0;  // byte ps / s
  std::uint32_t tag = 0;
  std::int64_t rate = 0;
  bool fixed = false;
};

class NaiveLinks {
 public:
  explicit NaiveLinks(std::span<const Link> links) : links_(links.begin(), links.end()) {}

  void start(const Path& path, Bytes bytes, std::uint32_t tag) {
    transfers_.push_back(
        {path, static_cast<Int128>(bytes.count) * 1'000'000'000'000, tag, 0, false});
  }

  // Picoseconds until the next transfer is done.
  std::optional<std::int64_t> wait() {
    share_out();
    std::optional<std::int64_t> least;
    for (const NaiveTransfer& transfer : transfers_) {
      Int128 time = transfer.left / transfer.rate;
      if (time * transfer.rate < transfer.left) ++time;
      if (!least || time < *least) least = static_cast<std::int64_t>(time);
    }
    return least;
  }

  // Lets `picoseconds` pass and takes what is done by then, in order of start.
  std::vector<std::uint32_t> pass(std::int64_t picoseconds) {
    share_out();
    std::vector<std::uint32_t> done;
    for (NaiveTransfer& transfer : transfers_) {
      transfer.left -= static_cast<Int128>(transfer.rate) * picoseconds;
      if (transfer.left <= 0) done.push_back(transfer.tag);
    }
    std::erase_if(transfers_, [](const NaiveTransfer& transfer) { return transfer.left <= 0; });
    return done;
  }

 private:
  void share_out() {
    for (NaiveTransfer& transfer : transfers_) transfer.fixed = false;
    while (std::ranges::any_of(transfers_, [](const NaiveTransfer& t) { return !t.fixed; })) {
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      std::size_t tightest = kLinkCount;
      for (const Link& link : links_) {
        const auto l = static_cast<std::size_t>(link.kind);
        std::int64_t room = link.capacity.count;
        std::int64_t load = 0;
        for (const NaiveTransfer& transfer : transfers_) {
          if (transfer.fixed) room -= transfer.path.weight[l] * transfer.rate;
          if (!transfer.fixed) load += transfer.path.weight[l] * transfer.path.share;
        }
        if (load > 0 && room / load < least) {
          least = room / load;
          tightest = l;
        }
      }
      bool capped = false;
      for (NaiveTransfer& transfer : transfers_) {
        if (transfer.fixed || transfer.path.cap.count == 0) continue;
        if (transfer.path.cap.count > static_cast<Int128>(least) * transfer.path.share) continue;
        transfer.rate = transfer.path.cap.count;
        transfer.fixed = capped = true;
      }
      if (capped) continue;
      for (NaiveTransfer& transfer : transfers_) {
        if (transfer.fixed || transfer.path.weight[tightest] == 0) continue;
        transfer.rate = least * transfer.path.share;
        transfer.fixed = true;
      }
    }
  }

  std::vector<Link> links_;
  std::vector<NaiveTransfer> transfers_;
};

}  // namespace tidemark::test
