#pragma once
// What tests ask of a plan, and a small step to plan.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/offload.hpp"
#include "graph/program.hpp"
#include "graph/step_graph.hpp"
#include "tests/support/small_step.hpp"

namespace tidemark::test {

inline Bytes bytes_of(const Program& program, Stream stream) {
  Bytes sum;
  for (const InstanceId id : program.order[static_cast<std::size_t>(stream)]) {
    sum += program.instances[index(id)].bytes;
  }
  return sum;
}

inline Bytes bytes_of(const Program& program, Tier tier, Category category) {
  Bytes sum;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.tier == tier && buffer.category == category) sum += buffer.bytes;
  }
  return sum;
}

inline const std::vector<InstanceId>& order(const Program& program, Stream stream) {
  return program.order[static_cast<std::size_t>(stream)];
}

inline const Instance& instance(const Program& program, InstanceId id) {
  return program.instances[index(id)];
}

inline bool depends(const Program& program, InstanceId later, InstanceId earlier) {
  const auto row = program.dependencies(later);
  return std::find(row.begin(), row.end(), earlier) != row.end();
}

inline bool uses(const Program& program, InstanceId id, BufferId buffer) {
  const auto row = program.uses(id);
  return std::find(row.begin(), row.end(), buffer) != row.end();
}

inline std::optional<BufferId> buffer_named(const Program& program, const StepGraph& graph,
                                            std::string_view name) {
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const NameId id = program.buffers[i].name;
    if (index(id) != kNoIndex && graph.name(id) == name) return BufferId{i};
  }
  return std::nullopt;
}

inline std::vector<std::string_view> names_of(const Program& program, const StepGraph& graph,
                                              Stream stream) {
  std::vector<std::string_view> names;
  for (const InstanceId id : order(program, stream)) {
    names.push_back(graph.name(instance(program, id).name));
  }
  return names;
}

// `count` parameters of `elements` each. Ops: forward 0 .. count - 1 reads them in order; backward
// count .. 2 count - 1 reads them again in reverse and makes their gradients; one more op of
// backward ends it.
struct Chain {
  StepGraph graph;
  std::vector<TensorId> weights, gradients;
  std::vector<OpId> ready;
  OpId end{};

  Chain(std::size_t count, std::int64_t elements, std::int64_t width = 2) {
    SmallStep step;
    for (std::size_t p = 0; p < count; ++p) {
      const Parameter& parameter = step.parameter(elements, width);
      weights.push_back(parameter.weight);
      gradients.push_back(parameter.gradient);
    }
    for (const TensorId weight : weights) step.op({.reads = {weight}, .streams = 100_B});
    ready.resize(count);
    for (std::size_t p = count; p-- > 0;) {
      ready[p] = step.op({.phase = Phase::kBackward,
                          .reads = {weights[p]},
                          .makes = {gradients[p]},
                          .streams = 200_B});
    }
    end = step.op({.phase = Phase::kBackward});
    graph = step.finish();
    for (std::size_t p = 0; p < count; ++p) graph.parameters[p].gradient_ready = ready[p];
  }
};

inline Offload on_host(Bytes bucket) {
  Offload offload;
  offload.optimizer = Offload::States::kHost;
  offload.bucket = bucket;
  return offload;
}

inline Offload on_ssd(Bytes bucket, std::int64_t buffers) {
  Offload offload = on_host(bucket);
  offload.optimizer = Offload::States::kSsd;
  offload.buffers = buffers;
  return offload;
}

}  // namespace tidemark::test
