#pragma once
// The device driver as an allocator meets it: memory by the segment or by the page, address space,
// and the time that each call takes.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "hardware/units.hpp"

namespace tidemark::sim {

// Time of driver calls. A published log of a real GPU (PyTorch 2.x, 512 MiB segments, one after the
// other) puts 139 to 155 us between the end of the host's work before a cudaMalloc and its end: an
// upper bound, taken as the default. No source was found for cudaFree and for cuMemCreate,
// cuMemMap, cuMemSetAccess and cuMemUnmap: they default to the same. That mapping costs time per
// page, whatever the page's size, stands in pytorch/pytorch pull request 96995.
struct DriverCosts {
  SimTime segment_alloc = 140_us;  // cudaMalloc, whether it succeeds or not
  SimTime segment_free = 140_us;   // cudaFree, without the wait for the device
  SimTime page_map = 140_us;       // one page of an expandable segment
  SimTime page_unmap = 140_us;
};

class DeviceDriver {
 public:
  DeviceDriver(Bytes capacity, const DriverCosts& costs) : capacity_(capacity), costs_(costs) {}

  // cudaMalloc; nullopt: out of memory. The lowest free address that fits, in steps of 2 MiB. (The
  // real driver's choice is not documented; it decides between blocks of equal size.)
  std::optional<std::uint64_t> allocate(Bytes size);
  void free(std::uint64_t address);

  std::uint64_t reserve(Bytes size);  // address space only
  void release(std::uint64_t address);
  bool map(std::int64_t pages, Bytes page);  // all of them or none
  void unmap(std::int64_t pages, Bytes page);

  // Memory of others; false: there is not as much.
  bool set_aside(Bytes size);
  // Memory that was there before the first call.
  void occupy(std::uint64_t address, Bytes size);
  // Addresses for the next calls of allocate(), in turn: for replaying a recorded run.
  void place_next_at(std::uint64_t address) { next_addresses_.push_back(address); }

  Bytes free_memory() const { return capacity_ - used_; }
  SimTime time() const { return time_; }

 private:
  std::uint64_t place(Bytes size);

  Bytes capacity_;
  Bytes used_;
  DriverCosts costs_;
  SimTime time_{};
  std::map<std::uint64_t, std::int64_t> ranges_;  // address -> size: segments and reservations
  std::deque<std::uint64_t> next_addresses_;
};

}  // namespace tidemark::sim
