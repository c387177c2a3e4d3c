#pragma once
// How bytes get from tier to tier and through the CPU, whatever they are, as plain data.

#include <cstdint>

namespace tidemark {

enum class CpuKernel : std::uint8_t { kFused, kNaive };  // one pass, or one an operation

struct Transport {
  enum class HostMemory : std::uint8_t { kPinned, kPageable };
  enum class SsdPath : std::uint8_t { kBounce, kDirect };

  enum class PinnedPool : std::uint8_t { kExact, kPowerOfTwo };

  HostMemory memory = HostMemory::kPinned;      // that the GPU copies from and to
  SsdPath ssd_path = SsdPath::kBounce;          // between SSD and GPU: through the host, or past it
  PinnedPool pinned_pool = PinnedPool::kExact;  // blocks of page-locked memory
};

}  // namespace tidemark
