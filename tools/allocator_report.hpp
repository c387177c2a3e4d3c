#pragma once
// What the allocator of HBM did in a run, and whether other settings would have let it fit.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hardware/units.hpp"
#include "scenarios/scenario.hpp"
#include "sim/result.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {

// Of one step: what was there before it counts for the peaks, and not for the driver's calls.
struct AllocatorFigures {
  Bytes allocated_peak, active_peak, reserved_peak, inactive_split_peak;
  Bytes fragmentation_at_peak;  // reserved - allocated when most was alive
  std::int64_t driver_allocations = 0;
  std::int64_t driver_frees = 0;
  std::int64_t retries = 0;  // requests that emptied the cache
  SimTime driver_time{};
  std::optional<sim::PlacementFigures> placement;  // where it was computed before the step
};

struct AllocatorReport {
  std::string kind;
  bool keeps_cache = false;
  AllocatorFigures steady, first_step;
};

AllocatorFigures figures_of(const sim::AllocatorRecord& record);

// Whether a run that failed for want of HBM fits with other settings of the same allocator: each
// one played, in the order of settings_to_try(), up to the first that fits.
struct SettingsSearch {
  bool ideal_fits = false;  // without any fragmentation; if not, nothing else is tried
  std::size_t tried = 0;
  std::string fits;  // added to the run's own settings; empty: none of those tried
};

// Longer steps are not tried: each setting plays up to kMostLaterSteps + 1 of them.
inline constexpr std::size_t kMostInstancesToTry = 300'000;

// One or two settings each, as PYTORCH_CUDA_ALLOC_CONF has them.
std::span<const std::string_view> settings_to_try();

SettingsSearch search_settings(const Steps& steps, const scenarios::AllocatorChoice& allocator);

}  // namespace tidemark::tools
