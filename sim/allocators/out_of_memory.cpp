#include "sim/allocators/out_of_memory.hpp"

#include <array>
#include <cstdio>

namespace tidemark::sim {

// format_size in c10/cuda/CUDACachingAllocator.cpp: the border belongs to the smaller unit.
std::string pytorch_size(Bytes bytes) {
  if (bytes.count <= 1024) return std::to_string(bytes.count) + " bytes";
  double value = static_cast<double>(bytes.count) / 1024;
  const char* unit = "KiB";
  if (bytes.count > (1 << 30)) {
    value /= 1 << 20;
    unit = "GiB";
  } else if (bytes.count > (1 << 20)) {
    value /= 1 << 10;
    unit = "MiB";
  }
  // Whole hundredths, so that no locale decides what the point looks like.
  std::array<char, 64> text{};
  const auto hundredths = static_cast<long long>(value * 100 + 0.5);
  std::snprintf(text.data(), text.size(), "%lld.%02lld %s", hundredths / 100, hundredths % 100,
                unit);
  return text.data();
}

std::string pytorch_message(const AllocationFailure& failure) {
  std::string text = "CUDA out of memory. Tried to allocate " + pytorch_size(failure.tried) +
                     ". GPU 0 has a total capacity of " + pytorch_size(failure.capacity) +
                     " of which " + pytorch_size(failure.free) + " is free. ";
  if (failure.allowed) text += pytorch_size(*failure.allowed) + " allowed; ";
  return text + "Of the allocated memory " + pytorch_size(failure.allocated) +
         " is allocated by PyTorch, and " + pytorch_size(failure.reserved_unallocated) +
         " is reserved by PyTorch but unallocated.";
}

}  // namespace tidemark::sim
