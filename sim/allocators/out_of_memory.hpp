#pragma once
// PyTorch's out-of-memory message, so that a user can compare it with what was seen.

#include <string>

#include "sim/allocators/allocator.hpp"

namespace tidemark::sim {

// "512 bytes", "2.00 KiB", "20.00 MiB", "79.15 GiB": as PyTorch writes sizes.
std::string pytorch_size(Bytes bytes);

// "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79.15 GiB of
// which 12.00 MiB is free. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 8.50 GiB
// is reserved by PyTorch but unallocated."
std::string pytorch_message(const AllocationFailure& failure);

}  // namespace tidemark::sim
