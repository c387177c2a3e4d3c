#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/offload/mover.hpp"

namespace tidemark {

// Host buffers of one size that take turns: turn i has buffer i mod their number, once whatever the
// turn before it there waited for has finished. They are there all the time.
class Pool {
 public:
  // At most `most` buffers, and no more than there are turns.
  Pool(Mover& mover, std::int64_t most, std::size_t turns, Bytes bytes, const std::string& name);

  std::size_t size() const { return slots_.size(); }
  // `first` begins the turn; `instance` belongs to it; it is over when all that `end` was told of
  // have finished.
  void begin(std::size_t turn, InstanceId first);
  void use(std::size_t turn, InstanceId instance);
  void end(std::size_t turn, InstanceId last);

 private:
  struct Slot {
    BufferId buffer{};
    std::size_t turn = 0;
    std::vector<InstanceId> free_after;
  };
  Slot& slot(std::size_t turn) { return slots_[turn % slots_.size()]; }

  Mover& mover_;
  std::vector<Slot> slots_;
};

}  // namespace tidemark
