#pragma once
// Which instances waited for memory, and whose finish gave it to them.

#include <vector>

#include "graph/program.hpp"
#include "sim/result.hpp"

namespace tidemark::sim {

//    due         time                 start
//     | waits for |  the driver        |
//     |  memory   |  is asked          |  runs
struct Grant {
  InstanceId instance{};
  SimTime time{};  // when it had its memory: not before it was due, not after its start
  // Whose finish freed memory last before that, of one of its tiers if any did in that instant.
  InstanceId freed_by = kNoInstance;
};

// Reads records and memory of a result.
class Grants {
 public:
  Grants(const Program& program, const Result& result);

  // Of an instance that started later than it was due.
  Grant of(InstanceId instance) const;

 private:
  const Result& result_;
  std::vector<Grant> grants_;  // by instance: of those that took buffers of their own
};

}  // namespace tidemark::sim
