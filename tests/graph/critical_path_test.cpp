#include "graph/critical_path.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "graph/program_builder.hpp"
#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_step.hpp"

namespace tidemark {
namespace {

using test::SmallStep;
using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

DependencyGraph graph_of(const Edges& edges, std::uint32_t vertices) {
  return {boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), vertices};
}

// Walks every path that begins at `vertex`.
SimTime longest_from(std::uint32_t vertex, const Edges& edges,
                     const std::vector<SimTime>& durations) {
  SimTime rest{};
  for (const auto& [from, to] : edges) {
    if (from == vertex) rest = std::max(rest, longest_from(to, edges, durations));
  }
  return durations[vertex] + rest;
}

TEST_CASE("the longest path of a diamond leads through its slower side") {
  //      1 (5)
  //  0 (1)     3 (2)      0 + 2 + 3: 1 + 7 + 2 = 10
  //      2 (7)
  const auto result =
      longest_path(graph_of({{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 4),
                   std::vector<SimTime>{SimTime(1), SimTime(5), SimTime(7), SimTime(2)});
  CHECK(result.length == SimTime(10));
  CHECK(result.path == std::vector<std::uint32_t>{0, 2, 3});
}

TEST_CASE("a vertex that takes no time still stands in the path that leads through it") {
  const auto result = longest_path(graph_of({{0, 1}, {1, 2}}, 3),
                                   std::vector<SimTime>{SimTime(0), SimTime(0), SimTime(4)});
  CHECK(result.length == SimTime(4));
  CHECK(result.path == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("nothing to do takes no time") {
  const auto result = longest_path(graph_of({}, 0), {});
  CHECK(result.length == SimTime(0));
  CHECK(result.path.empty());
}

TEST_CASE("a cycle has no longest path") {
  const std::vector<SimTime> durations(2, SimTime(1));
  CHECK_THROWS_AS(longest_path(graph_of({{0, 1}, {1, 0}}, 2), durations), InternalError);
}

TEST_CASE("the longest path of random graphs is the longest of all of their paths") {
  std::mt19937 random(11);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 2000; ++round) {
    const std::uint32_t vertices = 1 + below(8);
    std::vector<std::uint32_t> label(vertices);  // so that edges lead both up and down
    for (std::uint32_t i = 0; i < vertices; ++i) label[i] = i;
    std::shuffle(label.begin(), label.end(), random);
    Edges edges;
    for (std::uint32_t a = 0; a < vertices; ++a) {
      for (std::uint32_t b = a + 1; b < vertices; ++b) {
        if (below(3) == 0) edges.emplace_back(label[a], label[b]);
      }
    }
    std::vector<SimTime> durations;
    for (std::uint32_t i = 0; i < vertices; ++i) durations.emplace_back(below(6));

    SimTime expected{};
    for (std::uint32_t i = 0; i < vertices; ++i) {
      expected = std::max(expected, longest_from(i, edges, durations));
    }
    const auto result = longest_path(graph_of(edges, vertices), durations);
    REQUIRE(result.length == expected);
    SimTime sum{};
    for (std::size_t i = 0; i < result.path.size(); ++i) {
      sum += durations[result.path[i]];
      if (i == 0) continue;
      REQUIRE(std::count(edges.begin(), edges.end(),
                         std::pair{result.path[i - 1], result.path[i]}) == 1);
    }
    REQUIRE(sum == expected);
  }
}

TEST_CASE("the critical path of a step follows what its ops read") {
  SmallStep step;
  const TensorId a = step.tensor(1_B), b = step.tensor(1_B);
  const OpId first = step.op({.makes = {a}});
  step.op({.makes = {b}});  // nothing joins it to the others, though it is issued between them
  const OpId last = step.op({.reads = {a}});
  const StepGraph graph = step.finish();
  const auto result = critical_path(graph, std::vector<SimTime>{3_ns, 4_ns, 2_ns});
  CHECK(result.length == 5_ns);
  CHECK(result.path == std::vector{first, last});
}

struct Streams {
  ProgramBuilder builder{{1_B, 1_B, 1_B}};

  InstanceId add(Stream stream, SimTime fixed, Bytes bytes = {}, PathId path = kNoPath) {
    Instance instance;
    instance.stream = stream;
    instance.fixed = fixed;
    instance.bytes = bytes;
    instance.path = path;
    return builder.add_instance(instance);
  }
};

TEST_CASE("the critical path of a program keeps the order of its streams") {
  // compute: a (3), b (4); copy: c (10) after a. a, c = 13 is longer than a, b = 7.
  Streams streams;
  const InstanceId a = streams.add(Stream::kCompute, 3_ns);
  const InstanceId b = streams.add(Stream::kCompute, 4_ns);
  SimTime copy = 10_ns;
  std::vector<InstanceId> expected_path;
  SimTime expected{};
  SECTION("the copy is longer than the kernel beside it") { expected = 13_ns; }
  SECTION("the kernels are longer") {
    copy = 2_ns;
    expected = 7_ns;
  }
  const InstanceId c = streams.add(Stream::kCopyOut, copy);
  streams.builder.depend(c, a);
  const auto result = critical_path(std::move(streams.builder).finish());
  CHECK(result.length == expected);
  CHECK(result.path == std::vector{a, copy == 10_ns ? c : b});
}

TEST_CASE("a transfer alone takes its latency and its bytes over the slowest link") {
  Streams streams;
  streams.builder.add_link({LinkKind::kPcieD2h, 10_GBps});
  streams.builder.add_link({LinkKind::kDram, 15_GBps});
  Path path;
  path.weight[static_cast<std::size_t>(LinkKind::kPcieD2h)] = 1;
  path.weight[static_cast<std::size_t>(LinkKind::kDram)] = 1;
  const PathId once = streams.builder.add_path(path);
  path.weight[static_cast<std::size_t>(LinkKind::kDram)] = 2;
  const PathId twice = streams.builder.add_path(path);
  path.cap = 5_GBps;
  const PathId capped = streams.builder.add_path(path);

  // 30 kB: 3 us at 10 GB/s. Twice over DRAM: 60 kB at 15 GB/s, 4 us. At most 5 GB/s: 6 us.
  const InstanceId over_pcie = streams.add(Stream::kCopyOut, 1_us, Bytes(30'000), once);
  const InstanceId over_dram = streams.add(Stream::kCopyOut, 1_us, Bytes(30'000), twice);
  const InstanceId at_cap = streams.add(Stream::kCopyOut, 1_us, Bytes(30'000), capped);
  const InstanceId kernel = streams.add(Stream::kCompute, 7_us);
  // 1 B at 15 GB/s is 66.67 ps; twice 133.33, above the 100 of 10 GB/s.
  const InstanceId one_byte = streams.add(Stream::kCopyOut, 0_us, 1_B, twice);
  const Program program = std::move(streams.builder).finish();
  CHECK(uncontended_time(program, over_pcie) == 4_us);
  CHECK(uncontended_time(program, over_dram) == 5_us);
  CHECK(uncontended_time(program, at_cap) == 7_us);
  CHECK(uncontended_time(program, kernel) == 7_us);
  CHECK(uncontended_time(program, one_byte) == 134_ps);
  // The four copies stand in one stream.
  CHECK(critical_path(program).length == 16_us + 134_ps);
}

}  // namespace
}  // namespace tidemark
