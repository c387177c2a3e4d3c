#include "sim/allocators/packing_rank.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace tidemark::sim {
namespace {

enum class Preference : std::uint8_t { kContention, kArea, kLength, kSize };
constexpr std::array<std::array<Preference, 3>, kAttemptsARound> kPreferences = {{
    {Preference::kLength, Preference::kArea, Preference::kContention},
    {Preference::kContention, Preference::kArea, Preference::kLength},
    {Preference::kContention, Preference::kLength, Preference::kArea},
    {Preference::kArea, Preference::kContention, Preference::kLength},
    {Preference::kSize, Preference::kLength, Preference::kContention},
}};

constexpr double kJitter = 0.1;  // of what is preferred, either way

// The same numbers with every library: Steele, Lea and Flood's SplitMix64, between 0 and 1.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}
  double next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    return static_cast<double>(mixed >> 11) / 9007199254740992.0;  // of 2^53
  }

 private:
  std::uint64_t state_;
};

// Sums over the sections that an interval lives in, and the largest of them.
struct Crossed {
  double sum = 0;
  double most = 0;
};
Crossed crossed(std::span<const double> sections, SectionSpan span) {
  Crossed found;
  for (std::uint32_t s = span.first; s < span.second; ++s) {
    found.sum += sections[s];
    found.most = std::max(found.most, sections[s]);
  }
  return found;
}

// How often attempts failed where the interval lives, counted in one of three ways, or not at all.
double trouble(const Crossed& failures, double size, std::uint32_t way) {
  switch (way) {
    case 1:
      return failures.sum;
    case 2:
      return failures.most * size;
    case 3:
      return failures.sum * size;
    default:
      return 0;
  }
}

}  // namespace

std::vector<std::uint32_t> ranks_for(std::uint32_t attempt, std::span<const Interval> intervals,
                                     std::span<const SectionSpan> spans,
                                     std::span<const double> failures) {
  const auto& preferences = kPreferences[attempt % kAttemptsARound];
  const std::uint32_t round = attempt / kAttemptsARound;
  std::vector<double> alive(failures.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    for (std::uint32_t s = spans[i].first; s < spans[i].second; ++s) {
      alive[s] += static_cast<double>(intervals[i].size);
    }
  }
  Chance chance(attempt);
  std::vector<std::array<double, 4>> keys(intervals.size());
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const auto length = static_cast<double>(intervals[i].upper - intervals[i].lower);
    const auto size = static_cast<double>(intervals[i].size);
    const double by = round == 0 ? 1 : 1 + kJitter * (2 * chance.next() - 1);
    keys[i][0] = -by * trouble(crossed(failures, spans[i]), size, round % 4);
    for (std::size_t k = 0; k < preferences.size(); ++k) {
      double value = size;
      if (preferences[k] == Preference::kArea) value = length * size;
      if (preferences[k] == Preference::kLength) value = length;
      if (preferences[k] == Preference::kContention) value = crossed(alive, spans[i]).most;
      keys[i][k + 1] = -by * value;
    }
  }
  std::vector<std::uint32_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return keys[i]; });
  std::vector<std::uint32_t> ranks(intervals.size());
  for (std::uint32_t r = 0; r < order.size(); ++r) ranks[order[r]] = r;
  return ranks;
}

}  // namespace tidemark::sim
