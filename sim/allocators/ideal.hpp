#pragma once
// Counts bytes: whatever is free can be had, wherever it lies. Defined here, so that the executor's
// calls are inlined.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sim/allocators/allocator.hpp"

namespace tidemark::sim {

class IdealAllocator final : public Allocator {
 public:
  explicit IdealAllocator(Bytes capacity) : capacity_(capacity) {}

  bool take(Bytes bytes) {
    if (bytes > capacity_ - allocated_) return false;
    allocated_ += bytes;
    peak_ = std::max(peak_, allocated_);
    return true;
  }
  void give_back(Bytes bytes) { allocated_ -= bytes; }
  // What is allocated stays so, also where it is more.
  void set_capacity(Bytes capacity) { capacity_ = capacity; }

  // The handle is the number of bytes.
  std::optional<Allocation> allocate(Bytes bytes, Stream) override {
    if (!take(bytes)) return std::nullopt;
    return Allocation{static_cast<std::uint64_t>(bytes.count), SimTime(0)};
  }
  void free(std::uint64_t handle) override { give_back(Bytes(static_cast<std::int64_t>(handle))); }
  Bytes available() const override { return capacity_ - allocated_; }
  AllocatorStatistics statistics() const override;
  void reset_peaks() override { peak_ = allocated_; }

 private:
  Bytes capacity_;
  Bytes allocated_;
  Bytes peak_;
};

}  // namespace tidemark::sim
