#include "graph/autograd.hpp"

#include <queue>
#include <utility>
#include <vector>

#include "graph/checkpoint.hpp"
#include "graph/ops/ops.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Leaves come before nodes, then the node made last (torch/csrc/autograd/engine.cpp,
// CompareNodeTaskTime; AccumulateGrad has the highest sequence number).
constexpr std::uint64_t kLeafFirst = std::uint64_t{1} << 40;

class Engine {
 public:
  explicit Engine(Tape& tape) : tape_(tape) {}

  void run(const Value& root, const Value& seed) {
    ensure(root->node != kNoNode, "backward starts at a tensor that some op made");
    count_dependencies(root->node);
    Node& first = tape_.nodes()[root->node];
    first.gradients[root->output] = seed;
    ready_.push(root->node);
    while (!ready_.empty()) {
      const std::uint64_t next = ready_.top();
      ready_.pop();
      if (next >= kLeafFirst) {
        accumulate_into_leaf(static_cast<std::uint32_t>(next - kLeafFirst));
      } else {
        evaluate(static_cast<std::uint32_t>(next));
      }
    }
  }

 private:
  void count_dependencies(std::uint32_t root) {
    std::vector<std::uint32_t> stack = {root};
    std::vector<std::uint32_t> seen = {root};
    visited_.assign(tape_.nodes().size(), false);
    visited_[root] = true;
    while (!stack.empty()) {
      const Node& node = tape_.nodes()[stack.back()];
      stack.pop_back();
      for (int i = 0; i < node.input_count; ++i) {
        const Edge& edge = node.next[at(i)];
        if (edge.leaf != kNoNode) ++tape_.leaves()[edge.leaf].dependencies;
        if (edge.node == kNoNode) continue;
        ++tape_.nodes()[edge.node].dependencies;
        if (visited_[edge.node]) continue;
        visited_[edge.node] = true;
        stack.push_back(edge.node);
      }
    }
  }

  void evaluate(std::uint32_t id) {
    Node& node = tape_.nodes()[id];
    const std::int16_t layer_before = std::exchange(tape_.layer, node.layer);
    const Module module_before = std::exchange(tape_.module, node.module);
    Gradients results;
    {
      const Gradients incoming = std::exchange(node.gradients, {});
      if (node.recompute != kNoNode) replay_checkpoint(tape_, node.recompute);
      results = node.rule->backward(tape_, node, incoming);
      const bool handed_over = tape_.kernels().replayed == Kernels::Replayed::k2x;
      if (node.checkpoint != kNoNode && handed_over) forget_saved(node);
      for (int i = 0; i < node.input_count; ++i) {
        if (!node.next[at(i)].valid()) results[at(i)].reset();
        if (results[at(i)]) fit(results[at(i)], node.inputs[at(i)]);
      }
    }
    forget_saved(node);
    if (node.checkpoint != kNoNode) leave_checkpoint(tape_, node.checkpoint);
    for (int i = 0; i < node.input_count; ++i) {
      if (node.next[at(i)].valid()) deliver(node.next[at(i)], std::move(results[at(i)]));
    }
    tape_.layer = layer_before;
    tape_.module = module_before;
  }

  static void forget_saved(Node& node) {
    for (Value& saved : node.saved) saved.reset();
  }

  // What the engine does to a gradient before it passes it on (validate_outputs).
  static void fit(Value& gradient, const TensorMeta& meta) {
    if (gradient.shape() != meta.shape) gradient = sum_to(gradient, meta.shape);
    if (gradient.dtype() != meta.dtype) gradient = to_copy(gradient, meta.dtype);
  }

  void deliver(const Edge& edge, Value gradient) {
    if (edge.leaf != kNoNode) {
      Leaf& leaf = tape_.leaves()[edge.leaf];
      if (gradient) add(leaf.incoming, std::move(gradient));
      if (--leaf.dependencies == 0) ready_.push(kLeafFirst + edge.leaf);
      return;
    }
    Node& node = tape_.nodes()[edge.node];
    if (gradient) add(node.gradients[edge.input], std::move(gradient));
    if (--node.dependencies == 0) ready_.push(edge.node);
  }

  // InputBuffer::add. In place when nobody else holds the first addend (2.x), else a new tensor.
  void add(Value& buffer, Value gradient) {
    if (!buffer) {
      buffer = std::move(gradient);
      return;
    }
    const bool in_place = tape_.kernels().accumulate == Kernels::Accumulate::kInplace &&
                          tape_.sole_owner(buffer) && buffer.shape() == gradient.shape() &&
                          buffer.dtype() == gradient.dtype();
    if (in_place) {
      tape_.update(OpKind::kAddInplace, buffer, {&buffer, &gradient});
    } else {
      const Layout* const operands[] = {&buffer.layout(), &gradient.layout()};
      buffer = tape_.make(OpKind::kAdd, {&buffer, &gradient}, elementwise_layout(operands),
                          buffer.dtype());
    }
  }

  // AccumulateGrad: keeps the tensor itself when it may, copies it when its layout differs from the
  // parameter's or somebody else holds it, adds in place to a gradient that is there already.
  void accumulate_into_leaf(std::uint32_t id) {
    Leaf& leaf = tape_.leaves()[id];
    const std::int16_t layer_before = tape_.layer;
    if (leaf.parameter) tape_.layer = tape_.graph().tensors[leaf.tensor->storage].layer;
    Value gradient = std::move(leaf.incoming);
    if (gradient) {
      if (leaf.gradient) {
        tape_.update(OpKind::kAddInplace, leaf.gradient, {&leaf.gradient, &gradient});
      } else if (gradient->references == 1 && obeys(gradient.layout(), leaf.tensor.layout())) {
        leaf.gradient = tape_.alias_of(gradient, gradient.layout());
      } else {
        leaf.gradient =
            tape_.make(OpKind::kClone, {&gradient}, leaf.tensor.layout(), gradient.dtype());
      }
    }
    leaf.gradient_ready = tape_.last_op();
    if (leaf.gradient) leaf.gradient_tensor = TensorId(leaf.gradient->storage);
    if (leaf.gradient_leaves) leaf.gradient.reset();
    tape_.layer = layer_before;
  }

  static bool obeys(const Layout& gradient, const Layout& variable) {
    if (!variable.dense()) return gradient.contiguous();
    for (int i = 0; i < variable.shape.rank; ++i) {
      if (variable.shape.at(i) != 1 && gradient.stride_at(i) != variable.stride_at(i)) return false;
    }
    return true;
  }

  Tape& tape_;
  std::priority_queue<std::uint64_t> ready_;
  std::vector<bool> visited_;
};

// A sum over rows that is spread over several thread blocks a column (ATen/native/cuda/Reduce.cuh,
// global_memory_size and semaphore_size): partial results, 8 bytes an element of the operand, and
// one 4-byte counter for every 128 columns. Sizes and the threshold are those of the allocator log
// of a real run, torch 2.11: there with 1024 rows and more, not with 512.
void make_reduction_scratch(Tape& tape, const Shape& from, const Shape& to) {
  constexpr std::int64_t kFewestRows = 1024;
  const std::int64_t columns = from.at(-1);
  const bool over_rows = to.rank > 0 && to.at(-1) == columns && to.elements() == columns;
  if (!over_rows || from.elements() / columns < kFewestRows) return;
  // Few of the partial results are ever written: the sum's time does not change.
  const Bytes written = tape.graph().ops.back().bytes_written;
  const Value partial =
      tape.makes(Layout(Shape{2, from.elements() / columns, columns}), DType::kF32);
  const Value counters = tape.makes(Layout(Shape{4 * ((columns + 127) / 128)}), DType::kU8);
  tape.graph().ops.back().bytes_written = written;
}

}  // namespace

void backward(Tape& tape, const Value& root, const Value& seed) {
  const GradientMode off(tape, false);
  Engine(tape).run(root, seed);
}

Value sum_to(const Value& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Tape& tape = x.tape();
  const int extra = x.shape().rank - shape.rank;
  Shape kept = x.shape();
  for (int i = 0; i < kept.rank; ++i) {
    const bool summed = i < extra || (shape.at(i - extra) == 1 && kept.at(i) != 1);
    if (summed) kept.size[at(i)] = 1;
  }
  const Work work{.flops = Flops(x.shape().elements())};
  Value y = tape.make(OpKind::kSum, {&x}, Layout(kept), x.dtype(), work);
  if (tape.kernels().reduction_scratch) make_reduction_scratch(tape, x.shape(), shape);
  return extra > 0 ? tape.view_of(y, Layout(shape)) : y;
}

}  // namespace tidemark
