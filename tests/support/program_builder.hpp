#pragma once
// Programs written out by hand, a line per instance.

#include <initializer_list>
#include <utility>
#include <vector>

#include "graph/program.hpp"

namespace tidemark::test {

class ProgramBuilder {
 public:
  ProgramBuilder() { program_.capacity.fill(Bytes(1'000'000)); }

  void capacity(Tier tier, Bytes bytes) {
    program_.capacity[static_cast<std::size_t>(tier)] = bytes;
  }

  void link(LinkKind kind, Bandwidth capacity) { program_.links.push_back({kind, capacity}); }

  PathId path(std::initializer_list<std::pair<LinkKind, int>> weights, Bandwidth cap = {}) {
    Path path;
    for (const auto& [kind, weight] : weights) {
      path.weight[static_cast<std::size_t>(kind)] = static_cast<std::uint8_t>(weight);
    }
    path.cap = cap;
    program_.paths.push_back(path);
    return PathId{static_cast<std::uint32_t>(program_.paths.size() - 1)};
  }

  BufferId buffer(Bytes bytes, Tier tier = Tier::kHbm, Category category = Category::kTemporaries) {
    Buffer buffer;
    buffer.bytes = bytes;
    buffer.tier = tier;
    buffer.category = category;
    program_.buffers.push_back(buffer);
    return BufferId{static_cast<std::uint32_t>(program_.buffers.size() - 1)};
  }
  Buffer& edit(BufferId id) { return program_.buffers[index(id)]; }
  Instance& edit(InstanceId id) { return program_.instances[index(id)]; }

  InstanceId add(Stream stream, SimTime fixed, std::vector<InstanceId> dependencies = {},
                 std::vector<BufferId> uses = {}, Phase phase = Phase::kForward) {
    Instance instance;
    instance.stream = stream;
    instance.phase = phase;
    instance.fixed = fixed;
    program_.instances.push_back(instance);
    dependencies_.push_back(std::move(dependencies));
    uses_.push_back(std::move(uses));
    const InstanceId id{static_cast<std::uint32_t>(program_.instances.size() - 1)};
    program_.order[static_cast<std::size_t>(stream)].push_back(id);
    return id;
  }

  InstanceId move(Stream stream, PathId path, Bytes bytes,
                  std::vector<InstanceId> dependencies = {}, std::vector<BufferId> uses = {},
                  SimTime latency = {}) {
    const InstanceId id =
        add(stream, latency, std::move(dependencies), std::move(uses), Phase::kTransfer);
    edit(id).path = path;
    edit(id).bytes = bytes;
    return id;
  }

  Program build() const {
    Program program = program_;
    program.first_dependency.assign(1, 0);
    program.first_use.assign(1, 0);
    for (std::size_t i = 0; i < program.instances.size(); ++i) {
      program.dependency.insert(program.dependency.end(), dependencies_[i].begin(),
                                dependencies_[i].end());
      program.use.insert(program.use.end(), uses_[i].begin(), uses_[i].end());
      program.first_dependency.push_back(static_cast<std::uint32_t>(program.dependency.size()));
      program.first_use.push_back(static_cast<std::uint32_t>(program.use.size()));
    }
    return program;
  }

 private:
  Program program_;
  std::vector<std::vector<InstanceId>> dependencies_;
  std::vector<std::vector<BufferId>> uses_;
};

}  // namespace tidemark::test
