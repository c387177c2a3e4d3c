#include "graph/program_check.hpp"

#include <utility>

#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

std::size_t position(LinkKind kind) { return static_cast<std::size_t>(kind); }

template <class Id>
void check_rows(const std::vector<std::uint32_t>& first, const std::vector<Id>& values,
                std::size_t rows, std::size_t value_count) {
  ensure(first.size() == rows + 1, "there is a row for each instance");
  ensure(first.front() == 0 && first.back() == values.size(), "rows cover all of their values");
  for (std::size_t i = 0; i < rows; ++i) {
    ensure(first[i] <= first[i + 1], "a row ends after it begins");
  }
  for (const Id value : values) ensure(index(value) < value_count, "a row refers to what exists");
}

void check_uses_once(const Program& program) {
  std::vector<std::uint32_t> seen_in(program.buffers.size(), kNoIndex);
  for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
    for (const BufferId buffer : program.uses(InstanceId{i})) {
      ensure(std::exchange(seen_in[index(buffer)], i) != i, "an instance uses a buffer once");
    }
  }
}

void check_order(const Program& program) {
  std::vector<bool> listed(program.instances.size(), false);
  std::size_t count = 0;
  for (std::size_t stream = 0; stream < program.order.size(); ++stream) {
    for (const InstanceId id : program.order[stream]) {
      ensure(index(id) < program.instances.size(), "a stream lists instances that exist");
      ensure(static_cast<std::size_t>(program.instances[index(id)].stream) == stream,
             "a stream lists its own instances");
      ensure(!listed[index(id)], "an instance stands in its stream once");
      listed[index(id)] = true;
    }
    count += program.order[stream].size();
  }
  ensure(count == program.instances.size(), "every instance stands in its stream");
}

void check_paths(const Program& program) {
  std::array<bool, kLinkCount> exists{};
  for (const Link& link : program.links) {
    ensure(link.capacity.count > 0, "a link has a capacity");
    ensure(!std::exchange(exists[position(link.kind)], true), "there is one link of a kind");
  }
  for (const Path& path : program.paths) {
    bool bounded = path.cap.count > 0;
    for (std::size_t link = 0; link < exists.size(); ++link) {
      if (path.weight[link] == 0) continue;
      ensure(exists[link], "a path leads over links that exist");
      bounded = true;
    }
    ensure(bounded, "a path has a link or a cap");
    ensure(path.share > 0, "a path has a share");
  }
  for (const Instance& instance : program.instances) {
    ensure(instance.fixed.count() >= 0 && instance.bytes.count >= 0,
           "time and bytes are not negative");
    if (instance.bytes.count == 0) continue;
    ensure(index(instance.path) < program.paths.size(), "a transfer has a path");
  }
}

// Plays the streams without time: each goes on until its head waits for an unfinished instance.
// That ends with all finished exactly when there is no cycle.
void check_acyclic(const Program& program) {
  std::vector<bool> finished(program.instances.size(), false);
  std::array<std::size_t, kStreamCount> at{};
  const auto runnable = [&](InstanceId id) {
    for (const InstanceId earlier : program.dependencies(id)) {
      if (!finished[index(earlier)]) return false;
    }
    return true;
  };
  std::size_t left = program.instances.size();
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stream = 0; stream < at.size(); ++stream) {
      const std::vector<InstanceId>& order = program.order[stream];
      for (; at[stream] < order.size() && runnable(order[at[stream]]); ++at[stream]) {
        finished[index(order[at[stream]])] = true;
        moved = true;
        --left;
      }
    }
  }
  ensure(left == 0, "dependencies and the order of the streams have no cycle");
}

}  // namespace

void check(const Program& program) {
  check_rows(program.first_dependency, program.dependency, program.instances.size(),
             program.instances.size());
  check_rows(program.first_use, program.use, program.instances.size(), program.buffers.size());
  for (const Buffer& buffer : program.buffers) {
    ensure(buffer.bytes.count >= 0, "a buffer's bytes are not negative");
  }
  check_uses_once(program);
  check_order(program);
  check_paths(program);
  check_acyclic(program);
}

}  // namespace tidemark
