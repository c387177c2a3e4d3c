#pragma once
// The settings of PyTorch's caching allocator, written as users write PYTORCH_CUDA_ALLOC_CONF:
//
//   expandable_segments:True,max_split_size_mb:128,roundup_power2_divisions:[256:1,512:2,>:4]
//
// Names, ranges and meaning: c10/core/AllocatorConfig.cpp and c10/cuda/CUDAAllocatorConfig.cpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/units.hpp"
#include "sim/allocators/device_driver.hpp"

namespace tidemark::sim {

inline constexpr std::size_t kDivisionIntervals = 16;  // [1 MiB, 2 MiB) ... [32 GiB, infinity)
inline constexpr Bytes kUnlimited{std::numeric_limits<std::int64_t>::max()};

struct CachingSettings {
  // Blocks of this size and above are never split. A multiple of 1 MiB, at least 20 MiB.
  Bytes max_split_size = kUnlimited;
  // How much larger than the request an unsplittable block may be. PyTorch 2.6 and before: fixed.
  Bytes max_non_split_rounding{20 << 20};
  double garbage_collection_threshold = 0;  // share of the allowed memory in (0, 1); 0: off
  // 0 or 1: round to 512 B; otherwise to 1/n of the power of two below the request.
  std::array<std::int64_t, kDivisionIntervals> roundup_power2_divisions{};
  bool expandable_segments = false;
  // torch.cuda.set_per_process_memory_fraction, in [0, 1]. Without it nothing is garbage collected.
  std::optional<double> memory_fraction;
  // Tidemark's own: segment_alloc_us, segment_free_us, page_map_us, page_unmap_us.
  DriverCosts costs;
};

// One thing wrong with the text of the settings.
struct SettingsError {
  std::size_t position = 0;  // of the offending word, in bytes from the start of the text
  std::string reason;        // "max_split_size_mb: 19 is too small, the least is 20"
};

struct ParsedSettings {
  CachingSettings settings;
  std::vector<SettingsError> errors;  // empty: the settings hold
};

// Spaces are ignored, as PyTorch ignores them. Settings that concern threads, locks or registration
// and no byte are checked and then have no effect. A later setting overrides an earlier one.
ParsedSettings parse_caching_settings(std::string_view text);

}  // namespace tidemark::sim
