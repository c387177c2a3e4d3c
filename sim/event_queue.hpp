#pragma once
// What happens next: plain events of 16 bytes in order of time, first in first out among equals.
// There is no cancel: whoever pushes an event that may become stale numbers it and drops it later.
//
//   push(30, a)  push(10, b)  push(30, c)   pop: b  pop: a  pop: c

#include <cstddef>
#include <cstdint>

#include "hardware/ensure.hpp"
#include "hardware/units.hpp"
#include "sim/min_heap.hpp"

namespace tidemark::sim {

struct Event {
  SimTime time{};       // not negative
  std::uint64_t tag{};  // push number, then what

  std::uint32_t what() const { return static_cast<std::uint32_t>(tag); }

  // One comparison of 128 bits.
  friend bool operator<(const Event& a, const Event& b) { return a.key() < b.key(); }

 private:
  Int128 key() const {
    return (static_cast<Int128>(time.count()) << 64) | static_cast<Int128>(tag);
  }
};
static_assert(sizeof(Event) == 16);

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  void reserve(std::size_t n) { heap_.reserve(n); }
  SimTime next_time() const { return heap_.top().time; }

  // `what` is the caller's own word for the event.
  void push(SimTime time, std::uint32_t what) {
    ensure(pushed_ != 0xffffffffu, "a run should have fewer than 2^32 events");
    heap_.push({time, (std::uint64_t{pushed_++} << 32) | what});
  }
  Event pop() { return heap_.pop(); }

 private:
  MinHeap<Event> heap_;
  std::uint32_t pushed_ = 0;
};

}  // namespace tidemark::sim
