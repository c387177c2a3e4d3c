#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "graph/ids.hpp"
#include "graph/program.hpp"
#include "graph/rows.hpp"

namespace tidemark {

// Puts a Program together. Ids count up from 0 in the order of adding. A kernel goes to
// the end of its stream, everything else where finish() finds that it is issued (issue_order.hpp).
// Dependencies and uses may be added at any time, in any order, also repeatedly.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const std::array<Bytes, kTierCount>& capacity);

  void reserve(std::size_t instances, std::size_t buffers, std::size_t uses);

  void add_link(const Link& link);
  PathId add_path(const Path& path);
  BufferId add_buffer(const Buffer& buffer);
  InstanceId add_instance(const Instance& instance);

  // `later` starts once `earlier` has finished.
  void depend(InstanceId later, InstanceId earlier) { dependencies_.add(index(later), earlier); }
  void use(InstanceId instance, BufferId buffer) { uses_.add(index(instance), buffer); }

  const Instance& instance(InstanceId id) const { return program_.instances[index(id)]; }
  const Path& path(PathId id) const { return program_.paths[index(id)]; }
  const std::vector<Link>& links() const { return program_.links; }

  // Throws InternalError where check() (program_check.hpp) does.
  Program finish() &&;

 private:
  Program program_;
  RowCollector<InstanceId> dependencies_;
  RowCollector<BufferId> uses_;
};

}  // namespace tidemark
