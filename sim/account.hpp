#pragma once
// What a Result adds up to: levels, peaks and what was alive at them, phases, busy times.
//
// Phases follow the compute stream. A span of a phase runs from the finish of the last compute
// instance of the span before it to the finish of its own last one, frees included; recompute
// counts as backward, and instances of other kinds belong to the span that they stand in.
//
//   compute        f  f  f | b  r  b  b | o        b: backward, r: recompute, o: optimizer
//   spans          forward | backward   | optimizer
//   live after     .......^.............^..........^
//
// For peaks nothing is left out: where gradients are zeroed counts with the optimizer, and so does
// what copies and CPU updates do once the last kernel has finished (with the last part, where
// nothing is updated).

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/program.hpp"
#include "sim/result.hpp"

namespace tidemark::sim {

enum class StepPart : std::uint8_t { kForward, kBackward, kOptimizer };
inline constexpr std::array<std::string_view, 3> kStepPartNames = {"forward", "backward",
                                                                   "optimizer"};
inline constexpr int kStepPartCount = static_cast<int>(kStepPartNames.size());

constexpr std::string_view name_of(StepPart part) {
  return kStepPartNames[static_cast<std::size_t>(part)];
}

using ByCategory = std::array<Bytes, kCategoryCount>;  // indexed by Category

struct Level {
  Bytes total;
  ByCategory by_category{};
};

// The first event after which the level was highest.
struct Peak {
  Level level;
  SimTime time{};
  std::uint32_t event = kNoIndex;     // row of Result::memory; kNoIndex: the tier was never used
  InstanceId instance = kNoInstance;  // for which it was allocated; kNoInstance: before the step
  std::vector<BufferId> largest;      // alive then, by size, then by id
};

struct TierAccount {
  Level start;  // once initial buffers are there
  Level end;
  Peak peak;
  // Highest level in the spans of a part, the level at their beginning included; nullopt: the step
  // has not reached any. Unless that holds of all parts, the highest of them is the peak.
  std::array<std::optional<Bytes>, kStepPartCount> phase_peak{};  // indexed by StepPart
  // Once the last compute instance of a part has finished and what it used last has been freed,
  // before anything starts; nullopt: there is none, or it was not reached.
  std::array<std::optional<Level>, kStepPartCount> live_after{};
};

struct Account {
  std::array<TierAccount, kTierCount> tiers;        // indexed by Tier
  std::array<SimTime, kStreamCount> busy{};         // indexed by Stream
  std::array<SimTime, kStallCauseCount> stalled{};  // indexed by StallCause
  SimTime recompute{};                              // of the compute stream's busy time
};

// `largest`: how many buffers to list at each peak.
Account account(const Program& program, const Result& result, std::size_t largest = 10);

// Level of one category in one tier right after a memory event.
struct Sample {
  SimTime time{};
  Tier tier{};
  Category category{};
  Bytes bytes;
};

// One sample per row of Result::memory.
std::vector<Sample> timeline(const Program& program, const Result& result);

}  // namespace tidemark::sim
