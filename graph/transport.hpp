#pragma once
// How bytes get from tier to tier, whatever they are, as plain data.

#include <cstdint>

namespace tidemark {

struct Transport {
  enum class HostMemory : std::uint8_t { kPinned, kPageable };
  enum class SsdPath : std::uint8_t { kBounce, kDirect };

  HostMemory memory = HostMemory::kPinned;  // that the GPU copies from and to
  SsdPath ssd_path = SsdPath::kBounce;      // between SSD and GPU: through the host, or past it
};

}  // namespace tidemark
