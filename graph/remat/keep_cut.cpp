#include "graph/remat/keep_cut.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <limits>

namespace tidemark::remat {

namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Graph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS,
    boost::property<boost::vertex_index_t, std::size_t,
                    boost::property<boost::vertex_color_t, boost::default_color_type,
                                    boost::property<boost::vertex_distance_t, double,
                                                    boost::property<boost::vertex_predecessor_t,
                                                                    Traits::edge_descriptor>>>>,
    boost::property<
        boost::edge_capacity_t, double,
        boost::property<boost::edge_residual_capacity_t, double,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

constexpr double kForever = 1e300;

// Nodes: source, sink, the ops, then two for each tensor that they make.
class CutGraph {
 public:
  CutGraph(const KeepProblem& what, double price)
      : tensor_node_(what.problem->tensor_count(), kNone) {
    const Problem& problem = *what.problem;
    auto next = static_cast<std::uint32_t>(2 + what.ops.size());
    for (const OpIndex op : what.ops) {
      for (const TensorIndex tensor : problem.outputs(op)) {
        tensor_node_[tensor] = next;
        next += 2;
      }
    }
    graph_ = Graph(next);
    for (std::size_t i = 0; i < what.ops.size(); ++i) {
      const Op& op = problem.op(what.ops[i]);
      const bool again = what.may_run_again(what.ops[i]);
      connect(kSource, 2 + i, again ? static_cast<double>(op.cost) : kForever);
      for (const TensorIndex tensor : problem.outputs(what.ops[i])) {
        const bool free = what.held[tensor] == Held::kFree;
        const std::uint32_t node = tensor_node_[tensor];
        connect(2 + i, node, kForever);
        connect(node, node + 1,
                free ? 0 : price * static_cast<double>(problem.tensor(tensor).bytes));
      }
      for (const TensorIndex tensor : problem.inputs(what.ops[i])) {
        if (tensor_node_[tensor] != kNone) connect(tensor_node_[tensor] + 1, 2 + i, kForever);
      }
    }
    for (const TensorIndex tensor : what.needed) {
      connect(tensor_node_[tensor] + 1, kSink, kForever);
    }
  }

  std::vector<TensorIndex> solve() {
    boost::boykov_kolmogorov_max_flow(graph_, kSource, kSink);
    // The source's tree is what can still be reached from it.
    const auto color = get(boost::vertex_color, graph_);
    std::vector<TensorIndex> kept;
    for (TensorIndex t = 0; t < tensor_node_.size(); ++t) {
      const std::uint32_t node = tensor_node_[t];
      if (node == kNone) continue;
      if (color[node] == boost::black_color && color[node + 1] != boost::black_color) {
        kept.push_back(t);
      }
    }
    return kept;
  }

 private:
  static constexpr std::size_t kSource = 0, kSink = 1;

  void connect(std::size_t from, std::size_t to, double capacity) {
    const auto there = add_edge(from, to, graph_).first;
    const auto back = add_edge(to, from, graph_).first;
    put(boost::edge_capacity, graph_, there, capacity);
    put(boost::edge_capacity, graph_, back, 0.0);
    put(boost::edge_reverse, graph_, there, back);
    put(boost::edge_reverse, graph_, back, there);
  }

  std::vector<std::uint32_t> tensor_node_;
  Graph graph_;
};

double slope(const KeepSet& more, const KeepSet& fewer) {
  return static_cast<double>(fewer.cost - more.cost) /
         static_cast<double>(more.bytes - fewer.bytes);
}

// Hull points strictly between two neighbours, in order.
void refine(const KeepProblem& what, const KeepSet& more, const KeepSet& fewer, std::size_t most,
            std::vector<KeepSet>& hull) {
  if (hull.size() >= most || more.bytes <= fewer.bytes || fewer.cost <= more.cost) return;
  const double price = slope(more, fewer);
  KeepSet between = keep_at_price(what, price);
  const auto total = [&](const KeepSet& set) {
    return static_cast<double>(set.cost) + price * static_cast<double>(set.bytes);
  };
  const bool below = total(between) < total(more) * (1 - 1e-12);
  if (!below || between.bytes >= more.bytes || between.bytes <= fewer.bytes) return;
  refine(what, more, between, most, hull);
  hull.push_back(between);
  refine(what, between, fewer, most, hull);
}

}  // namespace

KeepSet evaluate(const KeepProblem& what, std::span<const TensorIndex> kept) {
  const Problem& problem = *what.problem;
  std::vector<char> keep(problem.tensor_count(), 0), needed(problem.tensor_count(), 0);
  for (const TensorIndex tensor : kept) keep[tensor] = 1;
  for (const TensorIndex tensor : what.needed) needed[tensor] = 1;
  KeepSet result;
  for (std::size_t i = what.ops.size(); i-- > 0;) {
    const OpIndex op = what.ops[i];
    bool again = false;
    for (const TensorIndex tensor : problem.outputs(op)) {
      again =
          again || (needed[tensor] != 0 && keep[tensor] == 0 && what.held[tensor] == Held::kChoose);
    }
    if (again && what.may_run_again(op)) {
      result.cost += problem.op(op).cost;
      for (const TensorIndex tensor : problem.inputs(op)) needed[tensor] = 1;
    }
    for (const TensorIndex tensor : problem.outputs(op)) {
      const bool stays = keep[tensor] != 0 || !what.may_run_again(op);
      if (needed[tensor] == 0 || !stays || what.held[tensor] == Held::kFree) continue;
      result.bytes += problem.tensor(tensor).bytes;
      result.kept.push_back(tensor);
    }
  }
  std::sort(result.kept.begin(), result.kept.end());
  return result;
}

KeepSet keep_at_price(const KeepProblem& what, double price) {
  return evaluate(what, CutGraph(what, price).solve());
}

std::vector<KeepSet> keep_hull(const KeepProblem& what, std::size_t most) {
  // Nothing runs again: all that is needed is kept. Prices above this one keep the fewest bytes.
  std::int64_t cost = 1;
  for (const OpIndex op : what.ops) cost += what.problem->op(op).cost;
  std::vector<KeepSet> hull = {evaluate(what, what.needed)};
  const KeepSet fewest = keep_at_price(what, static_cast<double>(cost));
  if (fewest.bytes >= hull.front().bytes) return hull;
  refine(what, KeepSet(hull.front()), fewest, most, hull);
  hull.push_back(fewest);
  return hull;
}

}  // namespace tidemark::remat
