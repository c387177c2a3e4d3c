#pragma once
// Autograd's rules in the dumbest way: every reference is written in a list, and what is alive is
// whatever can be reached from the lists. Shares nothing with the tape. All tensors are 4 x 4.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace tidemark::support {

enum class Verb { kAdd, kMul, kGelu, kSoftmax, kView, kClone };

// variable `target` = verb(variable `a`, variable `b`), or `target` is deleted.
struct Statement {
  bool deletes = false;
  int target = 0;
  Verb verb{};
  int a = 0, b = 0;
};

struct NaiveOp {
  std::string kernel;
  std::set<int> alive;  // storages by order of birth: alive when the op starts, and what it makes
  friend bool operator==(const NaiveOp&, const NaiveOp&) = default;
};

class NaiveAutograd {
 public:
  NaiveAutograd(int parameters, int variables, bool in_place)
      : variables_(static_cast<std::size_t>(variables), -1), in_place_(in_place) {
    for (int i = 0; i < parameters; ++i) {
      objects_.push_back({new_storage(), -1, -1, i});
      parameters_.push_back(i);
      leaf_gradients_.push_back(-1);
      leaf_buffers_.push_back(-1);
    }
  }

  // Variables below 0 name parameters: -1 is the first.
  void run(const Statement& s) {
    if (s.deletes) {
      variables_[at(s.target)] = -1;
      return;
    }
    const int a = operand(s.a), b = operand(s.b);
    int made = -1;
    Node node{s.verb, {}, {}, {}};
    switch (s.verb) {
      case Verb::kAdd:
        made = kernel("add");
        node.inputs = {a, b};
        break;
      case Verb::kMul:
        made = kernel("mul");
        node.inputs = {a, b};
        node.saved = {a, b};
        break;
      case Verb::kGelu:
        made = kernel("gelu");
        node.inputs = {a};
        node.saved = {a};
        break;
      case Verb::kSoftmax:
        made = kernel("_softmax");
        node.inputs = {a};
        node.saved = {another(made)};
        break;
      case Verb::kClone:
        made = kernel("clone");
        node.inputs = {a};
        break;
      case Verb::kView:
        made = view(a);
        node.inputs = {a};
        break;
    }
    for (int& input : node.inputs) {
      node.edges.push_back({objects_[at(input)].node, objects_[at(input)].leaf});
    }
    node.inputs.clear();
    objects_[at(made)].node = static_cast<int>(nodes_.size());
    nodes_.push_back(node);
    buffers_.push_back(-1);
    variables_[at(s.target)] = made;
  }

  void backward(int variable) {
    const int root = objects_[at(operand(variable))].node;
    const int seed = kernel("ones_like");
    held_.push_back(seed);
    count(root);
    buffers_[at(root)] = seed;
    for (int i = root; i >= 0; --i) {
      if (buffers_[at(i)] >= 0) evaluate(i);
    }
    held_.clear();
  }

  std::vector<NaiveOp> ops;

 private:
  struct Object {
    int storage, base, node, leaf;
  };
  struct Edge {
    int node, leaf;
  };
  struct Node {
    Verb verb;
    std::vector<int> inputs, saved;
    std::vector<Edge> edges;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int operand(int v) const { return v < 0 ? parameters_[at(-1 - v)] : variables_[at(v)]; }
  int new_storage() { return storages_++; }

  // Every reference there is, by hand.
  std::vector<int> references() const {
    std::vector<int> all;
    for (const auto* list :
         {&variables_, &parameters_, &leaf_gradients_, &leaf_buffers_, &buffers_, &held_}) {
      for (const int o : *list) {
        if (o >= 0) all.push_back(o);
      }
    }
    for (const Node& node : nodes_) all.insert(all.end(), node.saved.begin(), node.saved.end());
    std::set<int> seen(all.begin(), all.end());
    std::vector<int> frontier(seen.begin(), seen.end());
    while (!frontier.empty()) {
      const int base = objects_[at(frontier.back())].base;
      frontier.pop_back();
      if (base < 0) continue;
      all.push_back(base);
      if (seen.insert(base).second) frontier.push_back(base);
    }
    return all;
  }

  void record(const std::string& name, int made) {
    NaiveOp op{name, {}};
    for (const int o : references()) op.alive.insert(objects_[at(o)].storage);
    if (made >= 0) op.alive.insert(made);
    ops.push_back(op);
  }

  int kernel(const std::string& name) {
    const int storage = new_storage();
    record(name, storage);
    objects_.push_back({storage, -1, -1, -1});
    return static_cast<int>(objects_.size()) - 1;
  }

  int view(int of) {
    const Object source = objects_[at(of)];
    objects_.push_back({source.storage, source.base >= 0 ? source.base : of, -1, -1});
    return static_cast<int>(objects_.size()) - 1;
  }

  int another(int of) {  // the same storage, no link to the record
    objects_.push_back({objects_[at(of)].storage, -1, -1, -1});
    return static_cast<int>(objects_.size()) - 1;
  }

  void count(int root) {
    std::set<int> seen = {root};
    std::vector<int> frontier = {root};
    leaf_dependencies_.assign(parameters_.size(), 0);
    while (!frontier.empty()) {
      const Node& node = nodes_[at(frontier.back())];
      frontier.pop_back();
      for (const Edge& edge : node.edges) {
        if (edge.leaf >= 0) ++leaf_dependencies_[at(edge.leaf)];
        if (edge.node >= 0 && seen.insert(edge.node).second) frontier.push_back(edge.node);
      }
    }
  }

  void evaluate(int i) {
    const std::size_t mark = held_.size();
    const int g = buffers_[at(i)];
    buffers_[at(i)] = -1;
    held_.push_back(g);
    Node& node = nodes_[at(i)];
    std::vector<int> results(node.edges.size(), -1);
    const auto result = [&](std::size_t which, int value) {
      results[which] = value;
      held_.push_back(value);
    };
    switch (node.verb) {
      case Verb::kAdd:
        result(0, g);
        result(1, g);
        break;
      case Verb::kMul:
        result(1, kernel("mul"));
        result(0, kernel("mul"));
        break;
      case Verb::kGelu:
        result(0, kernel("gelu_backward"));
        break;
      case Verb::kSoftmax:
        result(0, kernel("_softmax_backward_data"));
        break;
      case Verb::kClone:
        result(0, g);
        break;
      case Verb::kView:
        result(0, view(g));
        break;
    }
    node.saved.clear();
    held_.resize(mark);
    held_.insert(held_.end(), results.begin(), results.end());
    for (std::size_t e = 0; e < results.size(); ++e) {
      held_.erase(
          std::find(held_.begin() + static_cast<std::ptrdiff_t>(mark), held_.end(), results[e]));
      const Edge edge = node.edges[e];
      if (edge.leaf >= 0) {
        add(leaf_buffers_[at(edge.leaf)], results[e]);
        if (--leaf_dependencies_[at(edge.leaf)] == 0) due_.push_back(edge.leaf);
      } else {
        add(buffers_[at(edge.node)], results[e]);
      }
    }
    held_.resize(mark);
    std::sort(due_.begin(), due_.end(), std::greater<>());
    for (const int leaf : due_) accumulate(leaf);
    due_.clear();
  }

  bool alone(int object) const {
    const std::vector<int> all = references();
    if (std::count(all.begin(), all.end(), object) != 1) return false;
    std::set<int> owners;
    for (const int o : all) {
      if (objects_[at(o)].storage == objects_[at(object)].storage) owners.insert(o);
    }
    return owners.size() == 1;
  }

  void add(int& buffer, int gradient) {
    if (buffer < 0) {
      buffer = gradient;
      return;
    }
    held_.push_back(gradient);
    if (in_place_ && alone(buffer)) {
      record("add_", -1);
    } else {
      buffer = kernel("add");
    }
    held_.pop_back();
  }

  void accumulate(int leaf) {
    const int g = leaf_buffers_[at(leaf)];
    const std::vector<int> all = references();
    if (std::count(all.begin(), all.end(), g) == 1) {
      leaf_gradients_[at(leaf)] = another(g);
    } else {
      leaf_gradients_[at(leaf)] = kernel("clone");
    }
    leaf_buffers_[at(leaf)] = -1;
  }

  int storages_ = 0;
  std::vector<Object> objects_;
  std::vector<int> parameters_, variables_, leaf_gradients_, leaf_buffers_, buffers_, held_, due_;
  std::vector<int> leaf_dependencies_;
  std::vector<Node> nodes_;
  bool in_place_;
};

}  // namespace tidemark::support
