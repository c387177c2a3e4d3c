#pragma once
// Where optimizer states live and how they move, as plain data.

#include <cstdint>

#include "hardware/units.hpp"

namespace tidemark {

struct Offload {
  enum class States : std::uint8_t { kGpu, kHost, kSsd };
  enum class GradientsLeave : std::uint8_t { kDuringBackward, kAfterBackward };

  States optimizer = States::kGpu;
  GradientsLeave gradients_leave = GradientsLeave::kDuringBackward;
  Bytes bucket = Bytes(std::int64_t{512} << 20);  // bytes of gradients that leave in one transfer
  std::int64_t buffers =
      3;  // ssd: buckets of states, and of gradients, in pinned host memory at once
};

}  // namespace tidemark
