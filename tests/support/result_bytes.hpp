#pragma once
// Every field of a Result in a row, to compare two of them.

#include <string>

#include "sim/result.hpp"

namespace tidemark::test {

inline std::string bytes_of(const sim::Result& result) {
  std::string text;
  const auto put = [&](std::int64_t n) { text += std::to_string(n) + ' '; };
  put(result.end.count());
  put(result.compute_busy.count());
  for (const Bytes bytes : result.moved) put(bytes.count);
  for (const sim::InstanceRecord& r : result.records) {
    put(r.ready.count());
    put(r.start.count());
    put(r.finish.count());
    put(r.events_at_finish);
  }
  for (const sim::MemoryEvent& event : result.memory) {
    put(event.time.count());
    put(index(event.buffer));
    put(index(event.instance));
    put(event.allocated ? 1 : 0);
  }
  for (const sim::Stall& stall : result.stalls) {
    put(stall.begin.count());
    put(stall.end.count());
    put(static_cast<int>(stall.cause));
    put(index(stall.waiting));
    put(index(stall.blocker));
  }
  if (result.out_of_memory) {
    put(static_cast<int>(result.out_of_memory->tier));
    put(index(result.out_of_memory->instance));
    put(index(result.out_of_memory->buffer));
    put(result.out_of_memory->requested.count);
    put(result.out_of_memory->free.count);
  }
  return text;
}

}  // namespace tidemark::test
