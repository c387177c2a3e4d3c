#include "sim/allocators/device_driver.hpp"

#include "hardware/ensure.hpp"

namespace tidemark::sim {
namespace {

// Any address that is not null would do: only the order of addresses matters.
constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 32;

}  // namespace

std::uint64_t DeviceDriver::place(Bytes size) {
  if (!next_addresses_.empty()) {
    const std::uint64_t address = next_addresses_.front();
    next_addresses_.pop_front();
    ranges_.emplace(address, size.count);
    return address;
  }
  std::uint64_t address = kFirstAddress;
  for (const auto& [begin, bytes] : ranges_) {
    if (begin >= address + static_cast<std::uint64_t>(size.count)) break;
    const std::uint64_t end = begin + static_cast<std::uint64_t>(bytes);
    if (end > address) address = end;
  }
  ranges_.emplace(address, size.count);
  return address;
}

std::optional<std::uint64_t> DeviceDriver::allocate(Bytes size) {
  time_ += costs_.segment_alloc;
  if (size > free_memory()) return std::nullopt;
  used_ += size;
  return place(size);
}

void DeviceDriver::free(std::uint64_t address) {
  const auto range = ranges_.find(address);
  ensure(range != ranges_.end(), "the driver frees only what it gave");
  time_ += costs_.segment_free;
  used_ -= Bytes(range->second);
  ranges_.erase(range);
}

std::uint64_t DeviceDriver::reserve(Bytes size) { return place(size); }

void DeviceDriver::release(std::uint64_t address) {
  ensure(ranges_.erase(address) == 1, "the driver releases only address space that it reserved");
}

bool DeviceDriver::map(std::int64_t pages, Bytes page) {
  const std::int64_t room = free_memory().count / page.count;
  time_ += costs_.page_map * (pages < room ? pages : room);
  if (pages > room) {  // what was mapped before the first refusal is given back
    time_ += costs_.page_unmap * room;
    return false;
  }
  used_ += page * pages;
  return true;
}

void DeviceDriver::unmap(std::int64_t pages, Bytes page) {
  time_ += costs_.page_unmap * pages;
  used_ -= page * pages;
}

bool DeviceDriver::set_aside(Bytes size) {
  if (size > free_memory()) return false;
  used_ += size;
  return true;
}

void DeviceDriver::occupy(std::uint64_t address, Bytes size) {
  used_ += size;
  ranges_.emplace(address, size.count);
}

}  // namespace tidemark::sim
