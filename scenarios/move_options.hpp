#pragma once
// The tables of offload.activations and offload.parameters, for options.cpp.

#include <array>
#include <cstdint>
#include <string_view>

#include "graph/option.hpp"
#include "scenarios/offload_options.hpp"

namespace tidemark::scenarios {

// Choices stand in the order of the enumerators in graph/offload.hpp and graph/op.hpp; the first
// module there is none.
inline constexpr auto kWhich =
    std::to_array<std::string_view>({"saved", "block_inputs", "modules"});
inline constexpr auto kModules = std::to_array<std::string_view>(
    {"embedding", "norm", "qkv", "rotary", "attention_core", "attention_output", "mlp_in",
     "mlp_activation", "mlp_out", "head", "loss"});
inline constexpr auto kWhen = std::to_array<std::string_view>({"always", "fits_in_window"});
inline constexpr std::int64_t kMostVisitsAhead = 0x7fff;

inline constexpr auto kActivationsOptions = std::to_array<OptionSpec>({
    {.name = "to",
     .kind = OptionKind::kChoice,
     .preset = "gpu",
     .choices = kStateTiers,
     .text = "where saved tensors are between forward and backward"},
    {.name = "which",
     .kind = OptionKind::kChoice,
     .preset = "saved",
     .choices = kWhich,
     .text = "all that blocks save, their inputs alone, or what named modules save"},
    {.name = "modules",
     .kind = OptionKind::kNames,
     .choices = kModules,
     .text = "a list (which: modules)"},
    {.name = "larger_than",
     .kind = OptionKind::kBytes,
     .preset = "1 MiB",
     .least = 0,
     .text = "smaller tensors stay: a copy has a latency"},
    {.name = "keep_last",
     .kind = OptionKind::kInteger,
     .preset = "1",
     .least = 0,
     .most = kMostVisitsAhead,
     .text =
         "blocks whose tensors stay, as backward needs them at once; with one or more, those of "
         "head and loss do too"},
    {.name = "prefetch",
     .kind = OptionKind::kInteger,
     .preset = "1",
     .least = 0,
     .most = kMostVisitsAhead,
     .text = "blocks ahead of backward whose tensors come back"},
    {.name = "when",
     .kind = OptionKind::kChoice,
     .preset = "always",
     .choices = kWhen,
     .text = "fits_in_window: only tensors that can go and come back without the GPU waiting"},
    {.name = "pool",
     .kind = OptionKind::kBytes,
     .preset = "0 B",
     .least = 0,
     .text =
         "host memory for them: on the host tensors that find no room stay, to the ssd they wait; "
         "0 B: no bound on the host, 1 GiB to the ssd"},
    {.name = "synchronous",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "the GPU waits for each copy, as with PyTorch's save_on_cpu"},
});

inline constexpr auto kParametersOptions = std::to_array<OptionSpec>({
    {.name = "to",
     .kind = OptionKind::kChoice,
     .preset = "gpu",
     .choices = kStateTiers,
     .text =
         "where parameters are kept; off the GPU they come for each block's forward and backward"},
    {.name = "prefetch",
     .kind = OptionKind::kInteger,
     .preset = "1",
     .least = 0,
     .most = kMostVisitsAhead,
     .text = "blocks ahead whose parameters come in"},
    {.name = "buffers",
     .kind = OptionKind::kInteger,
     .preset = "2",
     .most = 1024,
     .text = "blocks in host memory at once (ssd)"},
});

}  // namespace tidemark::scenarios
