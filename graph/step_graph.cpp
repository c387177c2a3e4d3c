#include "graph/step_graph.hpp"

#include <utility>

#include "graph/dependency_graph.hpp"

namespace tidemark {
namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

// What is known of a storage while the ops pass by. Its readers since the last write form a list
// through `Reading::next`, newest first.
struct State {
  std::uint32_t writer = kNoIndex;
  std::uint32_t newest_reading = kNoIndex;
};

struct Reading {
  std::uint32_t op;
  std::uint32_t next;
};

}  // namespace

DependencyGraph dependency_graph(const StepGraph& graph) {
  const auto ops = static_cast<std::uint32_t>(graph.op_count());
  std::vector<State> states(graph.tensors.size());
  std::vector<Reading> readings;
  readings.reserve(graph.inputs.size());
  std::vector<Edge> edges;
  edges.reserve(graph.inputs.size() + graph.updated.size());
  std::vector<std::uint32_t> linked_to(ops, kNoIndex);  // last target of each source: no edge twice

  for (std::uint32_t op = 0; op < ops; ++op) {
    const auto after = [&](std::uint32_t source) {
      if (source == kNoIndex || source == op || linked_to[source] == op) return;
      linked_to[source] = op;
      edges.emplace_back(source, op);
    };
    for (const TensorId tensor : graph.inputs_of(OpId{op})) {
      State& state = states[index(tensor)];
      after(state.writer);
      readings.push_back({op, state.newest_reading});
      state.newest_reading = static_cast<std::uint32_t>(readings.size() - 1);
    }
    for (const TensorId tensor : graph.updated_by(OpId{op})) {
      State& state = states[index(tensor)];
      after(state.writer);
      for (std::uint32_t r = state.newest_reading; r != kNoIndex; r = readings[r].next) {
        after(readings[r].op);
      }
      state = {op, kNoIndex};
    }
    for (const TensorId tensor : graph.outputs_of(OpId{op})) states[index(tensor)] = {op, kNoIndex};
  }
  return {boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), ops};
}

}  // namespace tidemark
