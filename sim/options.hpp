#pragma once

#include <array>
#include <cstdint>

#include "graph/program.hpp"
#include "sim/allocators/allocator.hpp"

namespace tidemark::sim {

enum class Capacity : std::uint8_t {
  kEnforced,
  kIgnored,  // for finding what a step would need
};

struct SimulateOptions {
  // Who hands out the bytes of a tier, empty at first; nullptr: ideal, with the program's capacity.
  std::array<Allocator*, kTierCount> allocators{};
  // Concerns only tiers without an allocator of their own: others were made with their capacity.
  Capacity capacity = Capacity::kEnforced;
};

}  // namespace tidemark::sim
