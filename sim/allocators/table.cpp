#include "sim/allocators/table.hpp"

#include <array>

#include "sim/allocators/caching.hpp"
#include "sim/allocators/ideal.hpp"
#include "sim/allocators/planned.hpp"

namespace tidemark::sim {
namespace {

std::optional<std::string> check_ideal(std::string_view settings) {
  if (settings.empty()) return std::nullopt;
  return "the ideal allocator has no settings";
}

std::unique_ptr<Allocator> make_ideal(Bytes capacity, std::string_view) {
  return std::make_unique<IdealAllocator>(capacity);
}

// As PYTORCH_CUDA_ALLOC_CONF has them.
constexpr auto kCachingSettings = std::to_array<AllocatorSetting>({
    {"expandable_segments", "False", "True: segments that grow page by page instead of new ones"},
    {"max_split_size_mb", "unlimited", "blocks of this many MiB and above are never split; >= 20"},
    {"max_non_split_rounding_mb", "20",
     "how many MiB an unsplit block may exceed its request; >= 20"},
    {"garbage_collection_threshold", "off",
     "share of the allowed memory, in (0, 1), above which unused segments are returned before a "
     "new "
     "one is taken; needs per_process_memory_fraction"},
    {"roundup_power2_divisions", "off",
     "round to 1/n of a power of two: n, or [256:1,512:2,>:4] by request size in MiB"},
    {"per_process_memory_fraction", "1",
     "share of the device's memory that may be used, 0.001 to 1"},
    {"segment_alloc_us", "140", "time of a cudaMalloc, in microseconds"},
    {"segment_free_us", "140", "time of a cudaFree"},
    {"page_map_us", "140", "time to map a page of an expandable segment"},
    {"page_unmap_us", "140", "time to unmap one"},
});

std::optional<std::string> check_caching(std::string_view settings) {
  const ParsedSettings parsed = parse_caching_settings(settings);
  if (parsed.errors.empty()) return std::nullopt;
  std::string reasons;
  for (const SettingsError& error : parsed.errors) {
    reasons += (reasons.empty() ? "" : "; ") + error.reason;
  }
  return reasons;
}

std::unique_ptr<Allocator> make_caching(Bytes capacity, std::string_view settings) {
  return std::make_unique<CachingAllocator>(capacity, parse_caching_settings(settings).settings);
}

constexpr auto kPlannedSettings = std::to_array<AllocatorSetting>({
    {"search_nodes", "20000",
     "placements that the search may try where simple rules leave gaps; 0: no search"},
});

std::optional<std::string> check_planned(std::string_view settings) {
  std::optional<std::string> fault;
  parse_planned_settings(settings, fault);
  return fault;
}

constexpr auto kKinds = std::to_array<AllocatorKind>({
    {"ideal", "live bytes only: no rounding, no fragmentation", {}, check_ideal, make_ideal},
    {"caching", "PyTorch's CUDA caching allocator, rule by rule", kCachingSettings, check_caching,
     make_caching, true},
    {"planned", "offsets computed before the step, as compilers do", kPlannedSettings,
     check_planned, nullptr},
});

}  // namespace

std::span<const AllocatorKind> allocator_kinds() { return kKinds; }

const AllocatorKind* find_allocator(std::string_view name) {
  for (const AllocatorKind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace tidemark::sim
