#include "sim/allocators/ideal.hpp"

namespace tidemark::sim {

// Nothing is cached or rounded: allocated, reserved and active are the same bytes.
AllocatorStatistics IdealAllocator::statistics() const {
  AllocatorStatistics statistics;
  statistics.allocated = statistics.reserved = statistics.active = allocated_;
  statistics.allocated_peak = statistics.reserved_peak = statistics.active_peak = peak_;
  return statistics;
}

}  // namespace tidemark::sim
