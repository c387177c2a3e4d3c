#include "graph/critical_path.hpp"

#include <algorithm>
#include <array>
#include <boost/graph/topological_sort.hpp>
#include <iterator>
#include <utility>

#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

enum class Orders : std::uint8_t { kAll, kCompute };

DependencyGraph dependency_graph(const Program& program, Orders orders,
                                 std::span<const Precedence> more) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  edges.reserve(program.dependency.size() + program.instances.size() + more.size());
  for (std::size_t stream = 0; stream < program.order.size(); ++stream) {
    const bool compute = stream == static_cast<std::size_t>(Stream::kCompute);
    if (orders == Orders::kCompute && !compute) continue;
    const std::vector<InstanceId>& order = program.order[stream];
    for (std::size_t i = 1; i < order.size(); ++i) {
      edges.emplace_back(index(order[i - 1]), index(order[i]));
    }
  }
  const auto instances = static_cast<std::uint32_t>(program.instances.size());
  for (std::uint32_t i = 0; i < instances; ++i) {
    for (const InstanceId earlier : program.dependencies(InstanceId{i})) {
      edges.emplace_back(index(earlier), i);
    }
  }
  for (const Precedence& pair : more) edges.emplace_back(index(pair.earlier), index(pair.later));
  return {boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), instances};
}

std::vector<std::uint32_t> topological_order(const DependencyGraph& graph) {
  std::vector<std::uint32_t> order;  // boost::topological_sort yields the last vertex first
  order.reserve(boost::num_vertices(graph));
  try {
    boost::topological_sort(graph, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    throw InternalError("dependencies have no cycle");
  }
  std::reverse(order.begin(), order.end());
  return order;
}

template <class Id>
CriticalPath<Id> with_ids(const CriticalPath<std::uint32_t>& plain) {
  CriticalPath<Id> result{plain.length, {}};
  result.path.reserve(plain.path.size());
  for (const std::uint32_t vertex : plain.path) result.path.push_back(Id{vertex});
  return result;
}

CriticalPath<InstanceId> longest_path(const Program& program, Orders orders) {
  std::vector<SimTime> durations(program.instances.size());
  for (std::uint32_t i = 0; i < durations.size(); ++i) {
    durations[i] = uncontended_time(program, InstanceId{i});
  }
  return with_ids<InstanceId>(
      tidemark::longest_path(dependency_graph(program, orders, {}), durations));
}

}  // namespace

CriticalPath<std::uint32_t> longest_path(const DependencyGraph& graph,
                                         std::span<const SimTime> durations) {
  ensure(durations.size() == boost::num_vertices(graph), "there is a duration for each vertex");
  std::vector<SimTime> start(durations.size());  // earliest, as far as it has been relaxed
  std::vector<std::uint32_t> before(durations.size(), kNoIndex);
  CriticalPath<std::uint32_t> result;
  std::uint32_t last = kNoIndex;
  for (const std::uint32_t vertex : topological_order(graph)) {
    const SimTime finish = start[vertex] + durations[vertex];
    if (last == kNoIndex || finish > result.length) {
      result.length = finish;
      last = vertex;
    }
    for (auto [edge, end] = boost::out_edges(vertex, graph); edge != end; ++edge) {
      const std::uint32_t target = boost::target(*edge, graph);
      if (before[target] != kNoIndex && start[target] >= finish) continue;
      start[target] = finish;
      before[target] = vertex;
    }
  }
  for (; last != kNoIndex; last = before[last]) result.path.push_back(last);
  std::reverse(result.path.begin(), result.path.end());
  return result;
}

CriticalPath<OpId> critical_path(const StepGraph& graph, std::span<const SimTime> durations) {
  return with_ids<OpId>(longest_path(tidemark::dependency_graph(graph), durations));
}

CriticalPath<InstanceId> critical_path(const Program& program) {
  return longest_path(program, Orders::kAll);
}

CriticalPath<InstanceId> dependency_path(const Program& program) {
  return longest_path(program, Orders::kCompute);
}

CriticalPath<InstanceId> critical_path(const Program& program, std::span<const SimTime> durations,
                                       std::span<const Precedence> more) {
  return with_ids<InstanceId>(
      longest_path(dependency_graph(program, Orders::kAll, more), durations));
}

SimTime uncontended_time(const Program& program, InstanceId id) {
  const Instance& instance = program.instances[index(id)];
  if (instance.bytes.count == 0) return instance.fixed;
  const Path& path = program.paths[index(instance.path)];
  SimTime transfer{};
  if (path.cap.count > 0) transfer = time_at_rate(instance.bytes.count, path.cap.count);
  for (const Link& link : program.links) {
    const std::int64_t weight = path.weight[static_cast<std::size_t>(link.kind)];
    if (weight == 0) continue;
    // bytes x weight may pass 2^63 only for absurd sizes; times are bounded by 2^61 ps anyway.
    transfer = std::max(transfer, time_at_rate(instance.bytes.count * weight, link.capacity.count));
  }
  return instance.fixed + transfer;
}

}  // namespace tidemark
