#pragma once
// Decides while a step runs, as a hook of a framework's allocator and dispatcher does: what leaves
// memory when an allocation fails, and what runs again before a kernel that reads it. One at a
// time: a kernel that runs again may need memory, and others run again before it.

#include <span>

#include "graph/ids.hpp"
#include "hardware/units.hpp"

namespace tidemark::sim {

class RuntimePolicy {
 public:
  virtual ~RuntimePolicy() = default;

  // `next`, an instance of the compute stream, could start now but for its memory. The instance of
  // that stream that has to run again first; kNoInstance: none. Asked again after each.
  virtual InstanceId again_before(InstanceId next) = 0;

  // HBM has no room for what is to start. The buffer that is taken from it; kNoBuffer: none may be.
  virtual BufferId evict(SimTime now) = 0;

  // What `instance` needs to allocate where it runs again and that is not there.
  virtual std::span<const BufferId> makes(InstanceId instance) = 0;

  // `instance` of the compute stream has run, `again` or as the program says.
  virtual void ran(InstanceId instance, bool again, SimTime now) = 0;

  // With that, or with something on another stream, the program's last user of `buffer` is done.
  // Whether it is freed: else it stays until it is evicted or `needless` names it.
  virtual bool lets_go(BufferId buffer) = 0;

  // Asked after that: what the policy has kept or made again and needs no more. What the program
  // still uses may be among it, and stays.
  virtual std::span<const BufferId> needless() = 0;
};

// Rules a run from `from` on, an instance of the compute stream.
struct Ruled {
  RuntimePolicy* policy = nullptr;  // null: nobody
  InstanceId from = kNoInstance;
  Bytes hbm;  // what HBM hands out from there on, with what lies in it. Its allocator is ideal.
};

}  // namespace tidemark::sim
