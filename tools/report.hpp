#pragma once
// What a reader wants to know of one run: the numbers behind every output format.
//
// A run that does not fit is described as it would be with enough memory (a second run without
// limits), so that what a remedy costs in time can be told; `out_of_memory` says where it failed.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/category.hpp"
#include "graph/program.hpp"
#include "graph/step_graph.hpp"
#include "hardware/machine.hpp"
#include "hardware/units.hpp"
#include "scenarios/scenario.hpp"
#include "sim/account.hpp"
#include "sim/result.hpp"
#include "tools/allocator_report.hpp"
#include "tools/analysis/limits.hpp"
#include "tools/placement_note.hpp"
#include "tools/profile.hpp"
#include "tools/recompute_waste.hpp"
#include "tools/remedies.hpp"

namespace tidemark::tools {

using PerPart = std::array<Bytes, sim::kStepPartCount>;  // indexed by sim::StepPart

// A buffer that was alive at a peak.
struct Alive {
  std::string name;
  Bytes bytes;
  Category category{};
  std::string made_by;      // op or transfer that allocated it; empty: there before the step
  std::string freed_by;     // empty: there after the step
  std::int16_t layer = -1;  // block that it belongs to; -1: outside the blocks
  Phase made_in{};          // of what made_by and freed_by name
  Phase freed_in{};
};

// The first moment at which a tier held the most.
struct Peak {
  SimTime time{};
  Phase phase{};            // of the instance that allocated
  std::string op;           // what allocated; empty: the step starts at its peak
  std::int16_t layer = -1;  // -1: outside the blocks
  std::array<Bytes, kCategoryCount> by_category{};  // sums to TierReport::peak
  std::vector<Alive> largest;                       // largest first, at most ReportOptions::largest
};

struct TierReport {
  Bytes capacity;
  Bytes peak;
  Bytes peak_reserved;  // taken from the driver, the context included; else equal to peak
  Bytes start;
  Bytes end;
  PerPart live_after{};   // once the last op of the phase has finished
  PerPart phase_peaks{};  // most at once during the phase
  Bytes first_step_peak;  // of the step that makes the optimizer states
  Bytes saved_per_layer;  // HBM: what a block keeps from forward to backward, median over blocks
  Peak peak_moment;
};

// Where a run ended for want of memory. Training starts with the first step, so where that one does
// not fit either, it is the one that is told of.
struct OutOfMemoryReport {
  Tier tier{};
  std::string op;      // empty: what stands there before the step does not fit
  std::string buffer;  // what was to be allocated
  Phase phase{};
  std::int16_t layer = -1;
  Bytes requested;
  Bytes free;
  // Most that the tier would hold, in the first or any later step, without limits: what lives, and
  // what the allocator would reserve for it.
  Bytes needed_live;
  Bytes needed;
  // Of places that were computed before the step, if they end beyond the capacity.
  std::optional<sim::PlacementFigures> placed;
  bool first_step = false;
  std::string message;  // what PyTorch would say; empty: the allocator has no words for it
  std::optional<SettingsSearch> settings;  // other settings that were tried; nullopt: none were
};

struct Report {
  std::string strategy;
  std::vector<std::pair<std::string, std::string>> point;

  std::optional<OutOfMemoryReport> out_of_memory;
  SimTime step_time{};
  SimTime lower_bound{};          // of step_time: graph/lower_bound.hpp
  std::int64_t update_delay = 0;  // steps between gradients and the update with them
  std::int64_t tokens = 0;        // a step
  std::int64_t parameters = 0;    // trainable elements
  Flops model_flops;              // matmuls of forward and backward
  Flops hardware_flops;           // matmuls that run, recompute included
  double tokens_per_second = 0;
  double mfu = 0;  // model_flops / (step time x matmul peak of the precision), 0..1

  std::array<TierReport, kTierCount> tiers{};  // indexed by Tier
  SimTime compute_busy{};
  SimTime matmul{};      // of compute_busy: matmul and attention kernels
  SimTime recompute{};   // of compute_busy
  RecomputeWaste waste;  // of recompute, of whole segments
  std::array<SimTime, sim::kStallCauseCount> stalls{};  // indexed by StallCause
  ByResource critical_path{};                           // of step_time, to which it adds up
  UpdatePace update_pace{};                             // of the CPU
  std::array<Bytes, kLinkCount> traffic{};              // indexed by LinkKind
  double days_to_rated_writes = 0;  // of the drives, training all day; 0: no writes, no rating
  AllocatorReport allocator;        // of HBM
  MemoryProfile profile;            // of the steady step
  std::string bottleneck;           // one sentence
  std::optional<PlacementNote> placement;  // of a checkpoint policy that plans for a budget
  std::optional<Remedies> remedies;        // where asked for and it does not fit

  bool fits() const { return !out_of_memory.has_value(); }
  const TierReport& tier(Tier t) const { return tiers[static_cast<std::size_t>(t)]; }
  SimTime stalled() const;
};

inline constexpr std::array<std::string_view, kTierCount> kTierNames = {"hbm", "host", "ssd"};

// One step as it was planned and played. `limited` ran with the machine's capacities; `free` is the
// same without limits where `limited` ran out of memory, otherwise null.
struct PlayedStep {
  const StepGraph& graph;
  const Program& program;
  const sim::Result& limited;
  const sim::Result* free = nullptr;

  const sim::Result& whole() const { return free != nullptr ? *free : limited; }
};

// What an instance does ("mm", "copy-out of …"), and whose bytes a buffer is.
std::string_view name_of(const PlayedStep& step, InstanceId instance);
std::string_view name_of(const PlayedStep& step, BufferId buffer);

struct ReportOptions {
  std::size_t largest = 10;   // buffers to list at each peak
  bool try_settings = false;  // of the allocator, where a run fails for want of HBM
  std::size_t columns = 0;    // of Report::profile; 0: none
};

// `first` is the step that makes the optimizer states, `steady` any later one.
Report make_report(const scenarios::RunSpec& run, const PlayedStep& steady, const PlayedStep& first,
                   const ReportOptions& options);

// What a run that fits may still trip over; a sentence each.
std::vector<std::string> warnings_of(const Report& report);

// The sentence that says what holds the run up.
std::string bottleneck_of(const Report& report);

}  // namespace tidemark::tools
