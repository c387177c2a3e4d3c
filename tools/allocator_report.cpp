#include "tools/allocator_report.hpp"

#include <array>

#include "sim/allocators/caching_settings.hpp"

namespace tidemark::tools {
namespace {

// Garbage is collected only under a limit of the process, so that one comes with it. With
// expandable segments PyTorch does not take max_split_size_mb.
constexpr auto kSettings = std::to_array<std::string_view>({
    "expandable_segments:True",
    "max_split_size_mb:128",
    "max_split_size_mb:512",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:1",
    "roundup_power2_divisions:8",
    "expandable_segments:True,roundup_power2_divisions:8",
    "expandable_segments:True,garbage_collection_threshold:0.8,per_process_memory_fraction:1",
    "max_split_size_mb:128,garbage_collection_threshold:0.8,per_process_memory_fraction:1",
    "max_split_size_mb:512,garbage_collection_threshold:0.8,per_process_memory_fraction:1",
    "max_split_size_mb:128,roundup_power2_divisions:8",
    "max_split_size_mb:512,roundup_power2_divisions:8",
    "roundup_power2_divisions:8,garbage_collection_threshold:0.8,per_process_memory_fraction:1",
});

bool fits(const Steps& steps, const scenarios::AllocatorChoice& allocator) {
  return steps.play(allocator, sim::Capacity::kEnforced).fits();
}

}  // namespace

std::span<const std::string_view> settings_to_try() { return kSettings; }

AllocatorFigures figures_of(const sim::AllocatorRecord& record) {
  AllocatorFigures figures;
  figures.allocated_peak = record.end.allocated_peak;
  figures.active_peak = record.end.active_peak;
  figures.reserved_peak = record.end.reserved_peak;
  figures.inactive_split_peak = record.end.inactive_split_peak;
  figures.fragmentation_at_peak = record.at_peak.reserved - record.at_peak.allocated;
  figures.driver_allocations = record.end.driver_allocations;
  figures.driver_frees = record.end.driver_frees;
  figures.retries = record.end.retries;
  figures.driver_time = record.end.driver_time;
  figures.placement = record.placement;
  return figures;
}

SettingsSearch search_settings(const Steps& steps, const scenarios::AllocatorChoice& allocator) {
  SettingsSearch search;
  search.ideal_fits = fits(steps, {"ideal", ""});
  if (!search.ideal_fits) return search;
  const sim::CachingSettings own = sim::parse_caching_settings(allocator.settings).settings;
  for (const std::string_view setting : kSettings) {
    const bool splits = setting.find("max_split_size_mb") != std::string_view::npos;
    if (splits && own.expandable_segments) continue;
    const bool limits = setting.find("per_process_memory_fraction") != std::string_view::npos;
    if (limits && own.memory_fraction) continue;  // would lift the user's own limit
    scenarios::AllocatorChoice other = allocator;
    if (!other.settings.empty()) other.settings += ',';
    other.settings += setting;
    ++search.tried;
    if (fits(steps, other)) {
      search.fits = setting;
      break;
    }
  }
  return search;
}

}  // namespace tidemark::tools
