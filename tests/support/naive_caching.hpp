#pragma once
// The caching allocator once more, as slowly and plainly as possible, to check the real model
// against. Everything is found by looking at every block; sums are taken anew after every step.
// Shares no code with sim/allocators, only the words for what is compared.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace tidemark::test {

struct NaiveSettings {
  std::int64_t capacity = 0;
  std::int64_t max_split = 0;  // 0: unlimited
  std::int64_t max_non_split_rounding = 20 << 20;
  double gc_threshold = 0;
  double fraction = -1;  // below 0: none
  std::array<std::int64_t, 16> divisions{};
  bool expandable = false;
};

struct NaiveEvent {
  int action = 0;  // the row of kMemoryActionNames
  std::uint64_t address = 0;
  std::int64_t size = 0;
  int stream = 0;
  friend bool operator==(const NaiveEvent&, const NaiveEvent&) = default;
};

struct NaiveSums {
  std::int64_t allocated = 0, active = 0, reserved = 0, inactive_split = 0, requested = 0;
};

class NaiveCaching {
 public:
  enum class Is { kFree, kUsed, kPending, kUnmapped };
  struct Piece {
    std::uint64_t address = 0;
    std::int64_t size = 0;
    std::int64_t requested = 0;
    Is is = Is::kFree;
    std::uint64_t born = 0;
    std::set<int> used_on;
    int waits_for = 0;
  };
  struct Segment {
    std::uint64_t address = 0;
    std::int64_t size = 0;
    int stream = 0;
    bool small = false;
    std::int64_t page = 0;  // 0: ordinary
    std::vector<Piece> pieces;
  };

  explicit NaiveCaching(const NaiveSettings& settings) : settings_(settings) {}

  std::optional<std::uint64_t> allocate(std::int64_t bytes, int stream) {
    if (bytes == 0) return 0;
    poll();
    const std::int64_t size = rounded(bytes);
    const bool small = size <= (1 << 20);
    std::int64_t ask = small ? 2 << 20 : 20 << 20;
    if (size >= 10 << 20) ask = (size + (2 << 20) - 1) / (2 << 20) * (2 << 20);
    std::optional<Where> at = search(size, stream, small);
    if (!at && collects()) collect();
    if (!at) at = fresh(size, ask, stream, small);
    if (!at && oversize(size, stream, small)) at = fresh(size, ask, stream, small);
    if (!at) {
      empty_cache();
      ++retries;
      at = fresh(size, ask, stream, small);
    }
    if (!at) {
      ++failures;
      log(7, static_cast<std::uint64_t>(settings_.capacity - reserved()), size, stream);
      return std::nullopt;
    }
    return hand_out(*at, size, bytes);
  }

  void free(std::uint64_t address) {
    if (address == 0) return;
    const Where at = find(address);
    Piece& piece = segments[at.segment].pieces[at.piece];
    log(1, address, piece.requested, segments[at.segment].stream);
    if (piece.used_on.empty()) return complete(address);
    piece.is = Is::kPending;
    for (const int stream : piece.used_on) {
      waiting_.push_back({stream, ++recorded[static_cast<std::size_t>(stream)], address});
      ++piece.waits_for;
    }
    piece.used_on.clear();
    note();
  }

  void use(std::uint64_t address, int stream) {
    const Where at = find(address);
    if (stream != segments[at.segment].stream) {
      segments[at.segment].pieces[at.piece].used_on.insert(stream);
    }
  }

  void empty_cache();

  NaiveSums sums() const {
    NaiveSums sum;
    for (const Segment& segment : segments) {
      for (const Piece& piece : segment.pieces) {
        if (piece.is != Is::kUnmapped) sum.reserved += piece.size;
        if (piece.is == Is::kUsed) sum.allocated += piece.size;
        if (piece.is == Is::kUsed || piece.is == Is::kPending) {
          sum.active += piece.size;
          sum.requested += piece.requested;
        }
        if (piece.is == Is::kFree && segment.page == 0 && segment.pieces.size() > 1) {
          sum.inactive_split += piece.size;
        }
      }
    }
    return sum;
  }

  std::vector<Segment> segments;
  std::vector<NaiveEvent> events;
  std::array<std::uint64_t, 7> recorded{}, completed{};
  NaiveSums peaks;
  std::int64_t retries = 0, failures = 0, synchronizations = 0, driver_allocations = 0,
               driver_frees = 0;

 private:
  struct Where {
    std::size_t segment = 0, piece = 0;
  };
  struct Waiting {
    int stream;
    std::uint64_t number;
    std::uint64_t address;
  };

  bool collects() const { return settings_.fraction >= 0 && settings_.gc_threshold > 0; }
  std::int64_t allowed() const {
    return static_cast<std::int64_t>(settings_.fraction * static_cast<double>(settings_.capacity));
  }
  std::int64_t reserved() const { return sums().reserved; }
  void log(int action, std::uint64_t address, std::int64_t size, int stream) {
    events.push_back({action, address, size, stream});
  }
  void note() {
    const NaiveSums now = sums();
    peaks.allocated = std::max(peaks.allocated, now.allocated);
    peaks.active = std::max(peaks.active, now.active);
    peaks.reserved = std::max(peaks.reserved, now.reserved);
    peaks.inactive_split = std::max(peaks.inactive_split, now.inactive_split);
    peaks.requested = std::max(peaks.requested, now.requested);
  }

  std::int64_t rounded(std::int64_t bytes) const {
    if (bytes < 512) return 512;
    int interval = 0;
    while (interval < 15 && (std::int64_t{2} << 20 << interval) <= bytes) ++interval;
    const std::int64_t n = settings_.divisions[static_cast<std::size_t>(interval)];
    std::int64_t step = 512;
    if (n > 1 && bytes > 512 * n) {
      std::int64_t power = 1;
      while (power * 2 <= bytes) power *= 2;
      step = power / n;
    }
    while (bytes % step != 0) bytes += step - bytes % step;
    return bytes;
  }

  Where find(std::uint64_t address) const {
    for (std::size_t s = 0; s < segments.size(); ++s) {
      for (std::size_t p = 0; p < segments[s].pieces.size(); ++p) {
        const Piece& piece = segments[s].pieces[p];
        if (piece.address == address) return {s, p};
      }
    }
    std::abort();
  }

  // Free blocks of a pool by stream, size, address.
  std::vector<Where> free_in_order(bool small) const {
    std::vector<Where> all;
    for (std::size_t s = 0; s < segments.size(); ++s) {
      for (std::size_t p = 0; p < segments[s].pieces.size(); ++p) {
        if (segments[s].small == small && segments[s].pieces[p].is == Is::kFree) {
          all.push_back({s, p});
        }
      }
    }
    std::sort(all.begin(), all.end(), [&](const Where& a, const Where& b) {
      const Segment &sa = segments[a.segment], &sb = segments[b.segment];
      const Piece &pa = sa.pieces[a.piece], &pb = sb.pieces[b.piece];
      return std::tie(sa.stream, pa.size, pa.address) < std::tie(sb.stream, pb.size, pb.address);
    });
    return all;
  }

  std::int64_t could_grow_to(const Where& at) const {
    const Segment& segment = segments[at.segment];
    std::int64_t size = segment.pieces[at.piece].size;
    if (at.piece + 1 < segment.pieces.size() && segment.pieces[at.piece + 1].is == Is::kUnmapped) {
      size += segment.pieces[at.piece + 1].size;
    }
    return size;
  }

  std::optional<Where> search(std::int64_t size, int stream, bool small) {
    if (collects()) ++searches_[small ? 0 : 1];
    std::vector<Where> fitting;
    for (const Where& at : free_in_order(small)) {
      const Segment& segment = segments[at.segment];
      if (segment.stream == stream && segment.pieces[at.piece].size >= size) fitting.push_back(at);
    }
    if (fitting.empty()) return std::nullopt;
    std::size_t best = 0;
    if (settings_.expandable) {
      while (best + 1 < fitting.size() &&
             could_grow_to(fitting[best + 1]) < could_grow_to(fitting[best])) {
        ++best;
      }
    }
    const Where at = fitting[best];
    const std::int64_t found = segments[at.segment].pieces[at.piece].size;
    if (settings_.max_split > 0) {
      if (size < settings_.max_split && found >= settings_.max_split) return std::nullopt;
      if (size >= settings_.max_split && found >= size + settings_.max_non_split_rounding) {
        return std::nullopt;
      }
    }
    return at;
  }

  // The lowest address from 4 GiB on where nothing is.
  std::uint64_t place(std::int64_t size) const {
    std::vector<std::uint64_t> candidates = {std::uint64_t{1} << 32};
    for (const Segment& segment : segments) {
      candidates.push_back(segment.address + static_cast<std::uint64_t>(segment.size));
    }
    std::uint64_t best = ~std::uint64_t{0};
    for (const auto candidate : candidates) {
      const bool free = std::none_of(segments.begin(), segments.end(), [&](const Segment& s) {
        return s.address < candidate + static_cast<std::uint64_t>(size) &&
               candidate < s.address + static_cast<std::uint64_t>(s.size);
      });
      if (free) best = std::min(best, candidate);
    }
    return best;
  }

  std::optional<Where> fresh(std::int64_t size, std::int64_t ask, int stream, bool small) {
    if (settings_.fraction >= 0 && reserved() + ask > allowed()) return std::nullopt;
    if (settings_.expandable) return grow(size, stream, small);
    if (reserved() + ask > settings_.capacity) return std::nullopt;
    Segment segment{place(ask), ask, stream, small, 0, {}};
    segment.pieces.push_back({segment.address, ask, 0, Is::kFree, 0, {}, 0});
    log(3, segment.address, ask, stream);
    ++driver_allocations;
    segments.push_back(segment);
    note();
    return Where{segments.size() - 1, 0};
  }

  std::optional<Where> grow(std::int64_t size, int stream, bool small);

  bool map(Segment& segment, std::size_t p, std::int64_t wanted);

  // Merges piece p with neighbours of the same state; returns where it is now.
  std::size_t join(Segment& segment, std::size_t p) {
    auto& pieces = segment.pieces;
    if (p + 1 < pieces.size() && pieces[p + 1].is == pieces[p].is) {
      pieces[p].size += pieces[p + 1].size;
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(p) + 1);
    }
    if (p > 0 && pieces[p - 1].is == pieces[p].is) {
      pieces[p].address = pieces[p - 1].address;
      pieces[p].size += pieces[p - 1].size;
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(p) - 1);
      --p;
    }
    return p;
  }

  std::uint64_t hand_out(const Where& at, std::int64_t size, std::int64_t requested) {
    Segment& segment = segments[at.segment];
    const std::int64_t rest = segment.pieces[at.piece].size - size;
    const bool can_split =
        segment.small || settings_.expandable
            ? rest >= 512
            : rest > 1 << 20 && (settings_.max_split == 0 || size < settings_.max_split);
    if (can_split) {
      Piece high = segment.pieces[at.piece];
      high.address += static_cast<std::uint64_t>(size);
      high.size = rest;
      high.born = searches_[segment.small ? 0 : 1];
      segment.pieces[at.piece].size = size;
      segment.pieces.insert(segment.pieces.begin() + static_cast<std::ptrdiff_t>(at.piece) + 1,
                            high);
    }
    Piece& piece = segment.pieces[at.piece];
    piece.is = Is::kUsed;
    piece.requested = requested;
    log(0, piece.address, requested, segment.stream);
    note();
    return piece.address;
  }

  void complete(std::uint64_t address) {
    const Where at = find(address);
    Segment& segment = segments[at.segment];
    log(2, address, segment.pieces[at.piece].requested, segment.stream);
    segment.pieces[at.piece].is = Is::kFree;
    const std::size_t p = join(segment, at.piece);
    segment.pieces[p].born = searches_[segment.small ? 0 : 1];
    note();
  }

  void poll() {
    for (int stream = 0; stream < 7; ++stream) {
      for (std::size_t w = 0; w < waiting_.size();) {
        const Waiting event = waiting_[w];
        if (event.stream != stream) {
          ++w;
          continue;
        }
        if (event.number > completed[static_cast<std::size_t>(stream)]) break;
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(w));
        const Where at = find(event.address);
        if (--segments[at.segment].pieces[at.piece].waits_for == 0) complete(event.address);
      }
    }
  }

  void give_back(std::uint64_t address);

  void unmap(std::uint64_t address);

  void collect();

  bool oversize(std::int64_t size, int stream, bool small);

  NaiveSettings settings_;
  std::array<std::uint64_t, 2> searches_{};  // small, large
  std::vector<Waiting> waiting_;             // in order of recording
};

}  // namespace tidemark::test

#include "tests/support/naive_caching_memory.hpp"  // the rest of its functions
