#pragma once
// The part of the naive caching allocator that returns memory and grows expandable segments.

#include "tests/support/naive_caching.hpp"

namespace tidemark::test {

inline void NaiveCaching::empty_cache() {
  completed = recorded;
  poll();
  ++synchronizations;
  for (const bool small : {false, true}) {
    // Order of release: stream, size, address; expandable segments last.
    std::vector<std::uint64_t> whole, growing;
    for (const Where& at : free_in_order(small)) {
      const Segment& segment = segments[at.segment];
      if (segment.page > 0) {
        growing.push_back(segment.pieces[at.piece].address);
      } else if (segment.pieces.size() == 1) {
        whole.push_back(segment.address);
      }
    }
    for (const auto address : whole) give_back(address);
    for (const auto address : growing) unmap(address);
  }
}

inline std::optional<NaiveCaching::Where> NaiveCaching::grow(std::int64_t size, int stream,
                                                             bool small) {
  // Every run of free and unmapped pieces in order of address; PyTorch looks from each unmapped
  // piece, or the free one right before it, upwards.
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (segments[s].stream == stream && segments[s].small == small) order.push_back(s);
  }
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return segments[a].address < segments[b].address; });
  std::optional<Where> first;
  for (const std::size_t s : order) {
    const auto& pieces = segments[s].pieces;
    for (std::size_t p = 0; p < pieces.size() && !first; ++p) {
      if (pieces[p].is != Is::kUnmapped) continue;
      std::size_t from = p > 0 && pieces[p - 1].is == Is::kFree ? p - 1 : p;
      std::int64_t room = 0;
      for (std::size_t q = from; q < pieces.size() && room < size &&
                                 (pieces[q].is == Is::kFree || pieces[q].is == Is::kUnmapped);
           ++q) {
        room += pieces[q].size;
      }
      if (room >= size) first = Where{s, from};
    }
  }
  if (!first) {
    const std::int64_t page = small ? 2 << 20 : 20 << 20;
    std::int64_t space = settings_.capacity + settings_.capacity / 8;
    while (space % page != 0) space += page - space % page;
    Segment segment{place(space), space, stream, small, page, {}};
    segment.pieces.push_back({segment.address, space, 0, Is::kUnmapped, 0, {}, 0});
    segments.push_back(segment);
    first = Where{segments.size() - 1, 0};
  }
  Segment& segment = segments[first->segment];
  const std::uint64_t start = segment.pieces[first->piece].address;
  if (segment.pieces[first->piece].is == Is::kUnmapped && !map(segment, first->piece, size)) {
    return std::nullopt;
  }
  for (;;) {
    // The piece that now covers `start`: mapping merges it with free neighbours.
    std::size_t p = 0;
    while (segment.pieces[p].address + static_cast<std::uint64_t>(segment.pieces[p].size) <=
           start) {
      ++p;
    }
    if (segment.pieces[p].size >= size) return Where{first->segment, p};
    if (!map(segment, p + 1, size - segment.pieces[p].size)) return std::nullopt;
  }
}

inline bool NaiveCaching::map(Segment& segment, std::size_t p, std::int64_t wanted) {
  wanted = std::min(wanted, segment.pieces[p].size);
  const std::int64_t bytes = (wanted + segment.page - 1) / segment.page * segment.page;
  if (reserved() + bytes > settings_.capacity) return false;
  Piece& piece = segment.pieces[p];
  const std::uint64_t address = piece.address;
  if (bytes < piece.size) {
    Piece rest{address + static_cast<std::uint64_t>(bytes),
               piece.size - bytes,
               0,
               Is::kUnmapped,
               0,
               {},
               0};
    piece.size = bytes;
    segment.pieces.insert(segment.pieces.begin() + static_cast<std::ptrdiff_t>(p) + 1, rest);
  }
  segment.pieces[p].is = Is::kFree;
  p = join(segment, p);
  segment.pieces[p].born = searches_[segment.small ? 0 : 1];
  log(5, address, bytes, segment.stream);
  ++driver_allocations;
  note();
  return true;
}

inline void NaiveCaching::give_back(std::uint64_t address) {
  const auto at = std::find_if(segments.begin(), segments.end(),
                               [&](const Segment& s) { return s.address == address; });
  log(4, address, at->size, at->stream);
  ++driver_frees;
  segments.erase(at);
}

inline void NaiveCaching::unmap(std::uint64_t address) {
  const Where at = find(address);
  Segment& segment = segments[at.segment];
  const Piece old = segment.pieces[at.piece];
  std::vector<Piece> parts;  // page by page: what of each lies in the free piece
  std::int64_t first = -1, last = -1;
  for (std::int64_t page = 0; page * segment.page < segment.size; ++page) {
    const std::uint64_t begin = segment.address + static_cast<std::uint64_t>(page * segment.page);
    const std::uint64_t end = begin + static_cast<std::uint64_t>(segment.page);
    if (begin >= old.address && end <= old.address + static_cast<std::uint64_t>(old.size)) {
      if (first < 0) first = page;
      last = page + 1;
    }
  }
  if (first < 0) return;
  const std::uint64_t begin = segment.address + static_cast<std::uint64_t>(first * segment.page);
  const std::uint64_t end = segment.address + static_cast<std::uint64_t>(last * segment.page);
  const std::uint64_t old_end = old.address + static_cast<std::uint64_t>(old.size);
  const std::uint64_t born = searches_[segment.small ? 0 : 1];
  if (begin > old.address) {
    parts.push_back(
        {old.address, static_cast<std::int64_t>(begin - old.address), 0, Is::kFree, born, {}, 0});
  }
  const std::size_t middle = at.piece + parts.size();
  parts.push_back(
      {begin, static_cast<std::int64_t>(end - begin), old.requested, Is::kUnmapped, 0, {}, 0});
  if (old_end > end) {
    parts.push_back({end, static_cast<std::int64_t>(old_end - end), 0, Is::kFree, born, {}, 0});
  }
  const auto place_of =
      segment.pieces.erase(segment.pieces.begin() + static_cast<std::ptrdiff_t>(at.piece));
  segment.pieces.insert(place_of, parts.begin(), parts.end());
  join(segment, middle);
  log(6, begin, static_cast<std::int64_t>(end - begin), segment.stream);
  ++driver_frees;
  if (segment.pieces.size() == 1 && segment.pieces[0].is == Is::kUnmapped) {
    segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(at.segment));
  }
}

inline void NaiveCaching::collect() {
  const auto threshold =
      static_cast<std::int64_t>(settings_.gc_threshold * static_cast<double>(allowed()));
  const std::int64_t target = reserved() - threshold;
  std::int64_t reclaimed = 0;
  while (target > 0 && reclaimed < target) {
    std::vector<std::uint64_t> addresses;
    std::vector<std::uint64_t> ages;
    std::uint64_t total = 0;
    for (const Where& at : free_in_order(false)) {
      const Segment& segment = segments[at.segment];
      if (segment.pieces.size() > 1) continue;
      addresses.push_back(segment.address);
      ages.push_back(searches_[1] - segment.pieces[0].born);
      total += ages.back();
    }
    if (addresses.empty()) return;
    const double average = static_cast<double>(total) / static_cast<double>(addresses.size());
    bool freed = false;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      if (static_cast<double>(ages[i]) < average) continue;
      reclaimed += segments[find(addresses[i]).segment].size;
      give_back(addresses[i]);
      freed = true;
    }
    if (!freed) return;
  }
}

inline bool NaiveCaching::oversize(std::int64_t size, int stream, bool small) {
  if (settings_.max_split == 0 || settings_.expandable) return false;
  const std::int64_t target = std::max(size, settings_.max_split);
  std::vector<Where> mine;
  for (const Where& at : free_in_order(small)) {
    if (segments[at.segment].stream == stream) mine.push_back(at);
  }
  std::vector<std::uint64_t> victims;
  std::int64_t released = 0;
  for (const Where& at : mine) {
    const Piece& piece = segments[at.segment].pieces[at.piece];
    if (piece.size >= target) {
      give_back(piece.address);
      return true;
    }
  }
  for (auto at = mine.rbegin(); at != mine.rend() && released < target; ++at) {
    const Piece& piece = segments[at->segment].pieces[at->piece];
    if (piece.size < settings_.max_split) break;
    released += piece.size;
    victims.push_back(piece.address);
  }
  for (const auto address : victims) give_back(address);
  return released >= target;
}

}  // namespace tidemark::test
