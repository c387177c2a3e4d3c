#pragma once
// Page-locked memory comes in blocks of a power of two where PyTorch's pool hands it out
// (aten/src/ATen/core/CachingHostAllocator.h rounds each request up). What is lost that way:
//
//   wanted    80 KB     4 KiB    17 GiB
//   block    128 KiB    4 KiB    32 GiB
//   lost    51,072 B      0 B    15 GiB

#include "graph/program.hpp"

namespace tidemark {

// Adds what is lost as a buffer beside each buffer on the host, there as long as that is, called
// `name` and in the category rounding. The CPU's own temporaries are not page-locked.
void round_pinned_buffers(Program& program, NameId name);

}  // namespace tidemark
