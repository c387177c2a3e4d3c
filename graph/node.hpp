#pragma once
// A node of the autograd graph: how to go back through one op.

#include <array>
#include <cstdint>
#include <vector>

#include "graph/op.hpp"
#include "graph/value.hpp"

namespace tidemark {

struct Node;
class OpCache;
inline constexpr int kMostEdges = 4;  // differentiable inputs, or outputs, of one node
inline constexpr int kMostSaved = 6;

using Gradients = std::array<Value, kMostEdges>;

// What an op's backward is. `backward` gets the gradients of the node's outputs (empty where there
// is none) and returns those of its inputs, issuing kernels on the way; it may leave out (return
// empty) what node.needs(i) denies. The gradients it returns may still have to be summed or cast to
// the input's shape and dtype: the engine does that, as the framework's does.
struct DerivativeRule {
  const char* name;
  Gradients (*backward)(Tape& tape, Node& node, const Gradients& outputs);
};

struct Edge {
  std::uint32_t node = kNoNode;
  std::uint32_t leaf = kNoNode;
  std::uint8_t input = 0;  // which of that node's outputs this gradient belongs to
  bool valid() const { return node != kNoNode || leaf != kNoNode; }
};

struct TensorMeta {
  Shape shape;
  DType dtype{};
};

struct Node {
  const DerivativeRule* rule = nullptr;
  std::array<Edge, kMostEdges> next{};          // by differentiable input
  std::array<TensorMeta, kMostEdges> inputs{};  // shape and dtype that the gradient must get
  std::array<Value, kMostSaved> saved{};
  std::array<std::int64_t, Shape::kMost> numbers{};  // whatever else the rule wrote down
  Layout layout;                                     // one layout that the rule wrote down
  Gradients gradients;                               // the engine's input buffer, by output
  std::int32_t dependencies = 0;                     // gradients still to come
  std::uint32_t recompute = kNoNode;   // the checkpoint that must run before `saved` is read
  std::uint32_t checkpoint = kNoNode;  // whose arguments it keeps until it has run
  std::uint8_t input_count = 0;
  std::uint8_t output_count = 0;
  std::uint8_t saved_count = 0;
  std::int16_t layer = -1;
  Module module{};

  bool needs(int input) const { return next[static_cast<std::size_t>(input)].valid(); }
};

// A tensor in which gradients end.
struct Leaf {
  Value tensor;
  bool parameter = false;        // else the detached input of a checkpoint's replay
  bool gradient_leaves = false;  // something else takes its gradient once it is complete
  Value gradient;
  Value incoming;  // the engine's buffer
  std::int32_t dependencies = 0;
  OpId gradient_ready = kNoOp;  // the op after which the gradient is complete
  TensorId gradient_tensor = kNoTensor;
};

// Where saved tensors go while a non-reentrant checkpoint's function runs: on the way forward
// nothing is kept and each place is noted; on the replay each is caught, in the same order.
struct SavedTensorHooks {
  struct Place {
    std::uint32_t node;
    std::uint8_t slot;
  };
  bool replay = false;
  OpCache* cache = nullptr;            // of a selective checkpoint
  std::size_t stop_after = 0;          // replay: ends with that many caught; 0: as the piece ends
  std::uint32_t checkpoint = kNoNode;  // forward: which checkpoint the nodes wait for
  std::vector<Place> places;           // forward
  std::vector<Value> caught;           // replay
};

}  // namespace tidemark
