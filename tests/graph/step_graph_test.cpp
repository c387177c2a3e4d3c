#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "graph/dependency_graph.hpp"
#include "graph/step_graph.hpp"
#include "hardware/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_step.hpp"

namespace tidemark {
namespace {

using test::SmallOp;
using test::SmallStep;
using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Edges edges_of(const DependencyGraph& graph) {
  Edges result;
  for (auto [edge, end] = boost::edges(graph); edge != end; ++edge) {
    result.emplace_back(boost::source(*edge, graph), boost::target(*edge, graph));
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool contains(std::span<const TensorId> row, TensorId tensor) {
  return std::find(row.begin(), row.end(), tensor) != row.end();
}

bool writes(const StepGraph& graph, OpId op, TensorId tensor) {
  return contains(graph.outputs_of(op), tensor) || contains(graph.updated_by(op), tensor);
}

// May not change places: both touch a storage that one of them writes.
bool conflict(const StepGraph& graph, OpId a, OpId b) {
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const TensorId tensor{t};
    const bool a_touches = contains(graph.inputs_of(a), tensor) || writes(graph, a, tensor);
    const bool b_touches = contains(graph.inputs_of(b), tensor) || writes(graph, b, tensor);
    if (a_touches && b_touches && (writes(graph, a, tensor) || writes(graph, b, tensor)))
      return true;
  }
  return false;
}

// linear, gelu and their backward, as step_graph.hpp draws them.
TEST_CASE("an edge leads from the maker of a storage to each op that reads it") {
  SmallStep step;
  const TensorId x = step.persistent(1_B), w = step.persistent(1_B), dz = step.persistent(1_B);
  const TensorId y = step.tensor(1_B), z = step.tensor(1_B), dy = step.tensor(1_B);
  const TensorId dx = step.tensor(1_B), dw = step.tensor(1_B);
  step.op({.reads = {x, w}, .makes = {y}});
  step.op({.reads = {y}, .makes = {z}});
  step.op({.reads = {dz, y}, .makes = {dy}});
  step.op({.reads = {dy, w}, .makes = {dx}});
  step.op({.reads = {dy, x}, .makes = {dw}});
  const DependencyGraph dependencies = dependency_graph(step.finish());
  CHECK(boost::num_vertices(dependencies) == 5);
  CHECK(edges_of(dependencies) == Edges{{0, 1}, {0, 2}, {2, 3}, {2, 4}});
}

TEST_CASE("an op that updates a storage comes after its readers, and the next readers after it") {
  SmallStep step;
  const TensorId w = step.persistent(1_B);
  step.op({.reads = {w}});
  step.op({.reads = {w}});
  step.op({.updates = {w}});
  step.op({.reads = {w}});
  step.op({.updates = {w}});
  // Readers 0 and 1 are no longer asked for by 4: update 2 stands between.
  CHECK(edges_of(dependency_graph(step.finish())) == Edges{{0, 2}, {1, 2}, {2, 3}, {2, 4}, {3, 4}});
}

TEST_CASE("an op that reads what it updates does not come after itself") {
  SmallStep step;
  const TensorId w = step.persistent(1_B);
  step.op({.reads = {w}, .updates = {w}});
  step.op({.reads = {w}, .updates = {w}});
  CHECK(edges_of(dependency_graph(step.finish())) == Edges{{0, 1}});
}

TEST_CASE("two storages between two ops are one edge") {
  SmallStep step;
  const TensorId a = step.tensor(1_B), b = step.tensor(1_B);
  step.op({.makes = {a, b}});
  step.op({.reads = {a, b, a}});
  CHECK(edges_of(dependency_graph(step.finish())) == Edges{{0, 1}});
}

TEST_CASE("a storage that is held is no dependency") {
  SmallStep step;
  const TensorId a = step.tensor(1_B);
  step.op({.makes = {a}});
  step.op({.holds = {a}});
  CHECK(edges_of(dependency_graph(step.finish())).empty());
}

TEST_CASE("a step without ops has no dependencies") {
  const DependencyGraph dependencies = dependency_graph(SmallStep().finish());
  CHECK(boost::num_vertices(dependencies) == 0);
}

TEST_CASE("ops that may not change places are joined by a path, and only such ops by an edge") {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 500; ++round) {
    SmallStep step;
    std::vector<TensorId> known{step.persistent(1_B), step.persistent(1_B)};
    const std::uint32_t ops = 1 + below(9);
    for (std::uint32_t op = 0; op < ops; ++op) {
      SmallOp small;
      for (std::uint32_t i = below(3); i > 0; --i) {
        small.reads.push_back(known[below(static_cast<std::uint32_t>(known.size()))]);
      }
      if (below(3) == 0) {
        small.updates.push_back(known[below(static_cast<std::uint32_t>(known.size()))]);
      }
      if (below(2) == 0) {
        small.makes.push_back(step.tensor(1_B));
        known.push_back(small.makes.back());
      }
      step.op(small);
    }
    const StepGraph graph = step.finish();
    const Edges edges = edges_of(dependency_graph(graph));

    std::vector<std::vector<char>> reaches(ops, std::vector<char>(ops, false));
    for (const auto& [from, to] : edges) {
      REQUIRE(from < to);
      REQUIRE(conflict(graph, OpId{from}, OpId{to}));
    }
    for (std::uint32_t from = ops; from-- > 0;) {
      for (const auto& [source, target] : edges) {
        if (source != from) continue;
        reaches[from][target] = true;
        for (std::uint32_t to = 0; to < ops; ++to) {
          if (reaches[target][to]) reaches[from][to] = true;
        }
      }
    }
    for (std::uint32_t a = 0; a < ops; ++a) {
      for (std::uint32_t b = a + 1; b < ops; ++b) {
        if (conflict(graph, OpId{a}, OpId{b})) REQUIRE(reaches[a][b]);
      }
    }
  }
}

}  // namespace
}  // namespace tidemark
