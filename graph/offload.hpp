#pragma once
// What leaves the GPU and how it moves, as plain data.

#include <cstdint>

#include "hardware/units.hpp"

namespace tidemark {

struct Offload {
  enum class States : std::uint8_t { kGpu, kHost, kSsd };
  enum class GradientsLeave : std::uint8_t { kDuringBackward, kAfterBackward };
  enum class Processor : std::uint8_t { kCpu, kGpu };

  States optimizer = States::kGpu;         // where master weights and moments live
  Processor update_on = Processor::kCpu;   // kGpu: states stream through the GPU bucket by bucket
  double fraction = 1;                     // of all elements: their states live there, 0..1
  bool overlap = true;                     // copies of one bucket beside the update of another
  bool delayed_update = false;             // update with the gradients of the step before
  States gradients = States::kGpu;         // where they wait from pass to pass, and for the update
  Processor accumulate_on = Processor::kCpu;  // who adds one pass's gradients to those off the GPU
  GradientsLeave gradients_leave = GradientsLeave::kDuringBackward;
  Bytes bucket = Bytes(std::int64_t{512} << 20);  // bytes of gradients that leave in one transfer
  std::int64_t buffers = 3;  // buckets of states (ssd, update_on gpu) and of gradients in staging

  bool moves_states() const { return optimizer != States::kGpu; }
  bool updates_on_cpu() const { return moves_states() && update_on == Processor::kCpu; }
  bool streams_states() const { return moves_states() && update_on == Processor::kGpu; }
  bool moves_gradients() const { return gradients != States::kGpu; }
};

}  // namespace tidemark
