#pragma once
// Keys of the section offload, for options.cpp. Choices stand in the order of the enumerators in
// graph/offload.hpp.

#include <array>
#include <cstdint>
#include <string_view>

#include "graph/option.hpp"

namespace tidemark::scenarios {

inline constexpr auto kStateTiers = std::to_array<std::string_view>({"gpu", "host", "ssd"});
inline constexpr auto kGradientsLeave =
    std::to_array<std::string_view>({"during_backward", "after_backward"});
inline constexpr auto kProcessors = std::to_array<std::string_view>({"cpu", "gpu"});

inline constexpr auto kHostMemory = std::to_array<std::string_view>({"pinned", "pageable"});
inline constexpr auto kPinnedPool = std::to_array<std::string_view>({"exact", "power_of_two"});
inline constexpr auto kSsdPaths = std::to_array<std::string_view>({"bounce", "direct"});
inline constexpr auto kCpuKernels = std::to_array<std::string_view>({"fused", "naive"});

inline constexpr auto kOffloadOptions = std::to_array<OptionSpec>({
    {.name = "preset",
     .text = "a known system's settings, below the keys written here (tidemark list strategies)"},
    {.name = "optimizer",
     .kind = OptionKind::kChoice,
     .preset = "gpu",
     .choices = kStateTiers,
     .text = "where optimizer states live"},
    {.name = "gradients_leave",
     .kind = OptionKind::kChoice,
     .preset = "during_backward",
     .choices = kGradientsLeave,
     .text = "when gradients go to the host"},
    {.name = "bucket",
     .kind = OptionKind::kBytes,
     .preset = "512 MiB",
     .least = std::int64_t{4096},
     .text = "gradients that leave in one transfer"},
    {.name = "buffers",
     .kind = OptionKind::kInteger,
     .preset = "3",
     .most = 1024,
     .text = "buckets at once in staging buffers: states and gradients of the SSD, states that "
             "stream through the GPU, gradients that the CPU adds"},
    {.name = "update_on",
     .kind = OptionKind::kChoice,
     .preset = "cpu",
     .choices = kProcessors,
     .text = "what updates the parameters whose states are off the GPU; gpu: states stream "
             "through it"},
    {.name = "fraction",
     .kind = OptionKind::kNumber,
     .preset = "1",
     .text = "share of the elements whose states leave: the first parameters of the model; the "
             "others are updated on the GPU"},
    {.name = "overlap",
     .kind = OptionKind::kFlag,
     .preset = "true",
     .text = "copies of one bucket beside the update of another; false: one after the other"},
    {.name = "delayed_update",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "the CPU applies the gradients of the step before, beside this step's forward and "
             "backward"},
    {.name = "gradients",
     .kind = OptionKind::kChoice,
     .preset = "gpu",
     .choices = kStateTiers,
     .text = "where gradients wait for the next pass and for the update"},
    {.name = "accumulate_on",
     .kind = OptionKind::kChoice,
     .preset = "cpu",
     .choices = kProcessors,
     .text = "what adds the gradients of several passes that are off the GPU; gpu: they come back "
             "for it"},
    {.name = "activations",
     .kind = OptionKind::kSection,
     .text = "tensors that forward saves for backward"},
    {.name = "parameters", .kind = OptionKind::kSection, .text = "weights, fetched block by block"},
    {.name = "memory",
     .kind = OptionKind::kChoice,
     .preset = "pinned",
     .choices = kHostMemory,
     .text = "that the GPU copies from and to; pageable: through a core's copies, slower, and the "
             "host waits for each copy"},
    {.name = "pinned_pool",
     .kind = OptionKind::kChoice,
     .preset = "exact",
     .choices = kPinnedPool,
     .text = "blocks of page-locked memory; power_of_two as PyTorch's pool rounds them"},
    {.name = "cpu_kernel",
     .kind = OptionKind::kChoice,
     .preset = "fused",
     .choices = kCpuKernels,
     .text =
         "how the CPU updates: in one pass, or in one an operation as the framework's own does"},
    {.name = "upcast",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "the CPU widens the gradients to the update's precision in a pass of its own"},
    {.name = "clip",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "the CPU reads all gradients for their norm (and overflow) before the first update"},
    {.name = "ssd_path",
     .kind = OptionKind::kChoice,
     .preset = "bounce",
     .choices = kSsdPaths,
     .text = "of activations and parameters on the SSD: through host memory, or straight between "
             "the drives and the GPU"},
});

// Rows of kOffloadOptions that may also be written below `optimizer` or `gradients`, after `to`.
template <std::size_t kCount>
consteval std::array<OptionSpec, kCount + 1> offload_rows(
    const std::array<std::string_view, kCount>& names, std::string_view place) {
  const auto row = [](std::string_view name) {
    for (const OptionSpec& option : kOffloadOptions) {
      if (option.name == name) return option;
    }
    throw "no such option";  // does not compile
  };
  std::array<OptionSpec, kCount + 1> rows{};
  rows[0] = row(place);
  rows[0].name = "to";
  for (std::size_t i = 0; i < kCount; ++i) rows[i + 1] = row(names[i]);
  return rows;
}

inline constexpr auto kOptimizerOptions =
    offload_rows(std::to_array<std::string_view>(
                     {"gradients_leave", "bucket", "buffers", "update_on", "fraction", "overlap",
                      "delayed_update", "cpu_kernel", "upcast", "clip"}),
                 "optimizer");
inline constexpr auto kGradientsOptions = offload_rows(
    std::to_array<std::string_view>({"gradients_leave", "accumulate_on"}), "gradients");

}  // namespace tidemark::scenarios
