#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/program.hpp"
#include "sim/allocators/allocator.hpp"
#include "sim/result.hpp"
#include "sim/runtime_policy.hpp"

namespace tidemark::sim {

enum class Capacity : std::uint8_t {
  kEnforced,
  kIgnored,  // for finding what a step would need
};

// What the driver itself takes: no allocator hands it out, it is set aside.
constexpr bool is_set_aside(const Buffer& buffer) {
  return buffer.category == Category::kRuntime && buffer.initial && buffer.persistent;
}

// Kernels that a stream holds beside the running one; the host waits when it is full. NVIDIA
// developer forum 68937 finds about 1000.
inline constexpr std::size_t kLaunchQueue = 1024;

struct SimulateOptions {
  // Who hands out the bytes of a tier; nullptr: ideal, with the program's capacity. An allocator
  // may hold `carried` and have more cached; its peaks start anew.
  std::array<Allocator*, kTierCount> allocators{};
  // Concerns only tiers without an allocator of their own: others were made with their capacity.
  Capacity capacity = Capacity::kEnforced;
  // Initial buffers that an earlier run has left in their tier's allocator (Result::kept). Other
  // initial buffers are allocated before the step.
  std::span<const KeptBuffer> carried = {};
  std::size_t launch_queue = kLaunchQueue;  // positive
  // What the policy evicts and runs again is in no record but the memory events and the clock: the
  // result tells when the program's instances ran, and has no stalls.
  Ruled ruled = {};
};

}  // namespace tidemark::sim
