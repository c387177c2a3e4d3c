#pragma once
// Places as compilers do: where each buffer of a step lies is computed before the step, from the
// order in which a run without fragmentation takes and gives back its buffers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/program.hpp"
#include "sim/allocators/allocator.hpp"
#include "sim/allocators/packing.hpp"
#include "sim/result.hpp"

namespace tidemark::sim {

struct PlannedSettings {
  std::int64_t search_nodes = 20'000;  // placements that the search may try
};

// The text of `allocator.settings`: "search_nodes:100000". What is wrong with it is in `fault`.
PlannedSettings parse_planned_settings(std::string_view text, std::optional<std::string>& fault);

struct PlacementPlan {
  std::vector<Bytes> sizes;           // in the order in which they are taken
  std::vector<std::int64_t> offsets;  // of each
  PackingChoice choice;               // without what the driver itself takes
};

// Of the tier's buffers in a run that came to its end (Result::memory).
PlacementPlan plan_placement(const Program& program, const Result& ideal, Tier tier,
                             const PlannedSettings& settings);

// Hands out the plan's offsets, one after the other. It refuses what does not fit by count, as the
// ideal allocator does, so that a run makes the same steps; and what the plan has placed beyond
// the capacity.
class PlannedAllocator final : public Allocator {
 public:
  PlannedAllocator(Bytes capacity, PlacementPlan plan);

  std::optional<Allocation> allocate(Bytes bytes, Stream stream) override;
  void free(std::uint64_t handle) override;
  Bytes available() const override { return capacity_ - allocated_; }
  // `reserved` reaches from the first byte to the last one of the plan that was in use.
  AllocatorStatistics statistics() const override;
  std::optional<PlacementFigures> placement() const override;
  // The driver's part is below the plan, and counted with it.
  bool set_aside(Bytes bytes) override;
  void reset_peaks() override;
  void begin_attempt(Attempt) override;
  SimTime abandon_attempt() override;

 private:
  Bytes capacity_;
  PlacementPlan plan_;
  std::size_t next_ = 0;  // row of the plan
  std::size_t attempt_ = 0;
  bool beyond_ = false;  // what is next lies beyond the capacity: the plan cannot be followed
  Bytes aside_;
  Bytes allocated_, allocated_peak_;
  Bytes reserved_peak_, peak_at_attempt_, reserved_at_attempt_;
};

}  // namespace tidemark::sim
