#pragma once
// Small inputs for lower(), and sums over what it returns.

#include <cstdint>

#include "graph/lower.hpp"

namespace tidemark::support {

inline LoweringInput gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                         std::int64_t sequence, std::int64_t micro_batch) {
  LoweringInput input;
  input.model.architecture = Architecture::kGpt;
  input.model.layers = layers;
  input.model.hidden = hidden;
  input.model.heads = input.model.kv_heads = heads;
  input.model.head_dim = hidden / heads;
  input.model.ffn = 4 * hidden;
  input.model.vocab = 1000;
  input.model.max_positions = sequence;
  input.model.dropout = true;
  input.training.sequence = sequence;
  input.training.micro_batch = micro_batch;
  input.training.precision = Precision::kBf16;
  return input;
}

inline LoweringInput llama(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                           std::int64_t kv_heads, std::int64_t ffn, std::int64_t sequence,
                           std::int64_t micro_batch) {
  LoweringInput input = gpt(layers, hidden, heads, sequence, micro_batch);
  input.model.architecture = Architecture::kLlama;
  input.model.kv_heads = kv_heads;
  input.model.ffn = ffn;
  input.model.dropout = false;
  return input;
}

// One checkpoint a block.
inline void checkpoint_every_block(LoweringInput& input) {
  input.checkpointing.segments.clear();
  for (std::int64_t i = 0; i < input.model.layers; ++i) {
    input.checkpointing.segments.push_back({i, i + 1});
  }
}

inline std::uint32_t last_op_of(const StepGraph& graph, Phase phase) {
  std::uint32_t last = kNoIndex;
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    if (graph.ops[i].phase == phase) last = i;
  }
  return last;
}

inline bool is_copy_of_parameter(const StepGraph& graph, const Tensor& tensor) {
  if (tensor.initial() || graph.op(tensor.producer).kind != OpKind::kToCopy) return false;
  const auto inputs = graph.inputs_of(tensor.producer);
  return inputs.size() == 1 && graph.tensor(inputs[0]).category == Category::kParameters;
}

// What forward made in `layer` and is still there when forward has ended; copies of weights apart.
inline std::int64_t kept_by_layer(const StepGraph& graph, int layer) {
  const std::uint32_t end = last_op_of(graph, Phase::kForward);
  std::int64_t bytes = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.initial() || tensor.layer != layer) continue;
    if (graph.op(tensor.producer).phase != Phase::kForward) continue;
    if (!tensor.persistent() && index(tensor.last_use) <= end) continue;
    if (!is_copy_of_parameter(graph, tensor)) bytes += tensor.bytes.count;
  }
  return bytes;
}

inline std::int64_t copies_of_weights(const StepGraph& graph, int layer) {
  std::int64_t bytes = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.layer == layer && is_copy_of_parameter(graph, tensor) &&
        graph.op(tensor.producer).phase == Phase::kForward) {
      bytes += tensor.bytes.count;
    }
  }
  return bytes;
}

inline std::int64_t matmul_flops(const StepGraph& graph) {
  std::int64_t flops = 0;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (graph.ops[i].work == WorkClass::kMatmul) flops += graph.ops[i].flops.count;
  }
  return flops;
}

inline std::int64_t initial_bytes(const StepGraph& graph, Category category) {
  std::int64_t bytes = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.initial() && tensor.category == category) bytes += tensor.bytes.count;
  }
  return bytes;
}

}  // namespace tidemark::support
