#pragma once

#include <cstdint>

#include "graph/category.hpp"
#include "graph/dtype.hpp"
#include "graph/ids.hpp"
#include "graph/op_kind.hpp"
#include "hardware/kernel_work.hpp"
#include "hardware/units.hpp"

namespace tidemark {

// Part of a block that an op belongs to, for policies and reports.
enum class Module : std::uint8_t {
  kNone,
  kEmbedding,
  kNorm,
  kQkv,  // the projections into attention
  kRotary,
  kAttentionCore,    // scores, mask, softmax, dropout, context
  kAttentionOutput,  // projection, dropout, residual sum
  kMlpIn,
  kMlpActivation,
  kMlpOut,  // projection, dropout, residual sum
  kHead,
  kLoss,
  kOptimizer,
};

// One kernel-sized operation.
struct Op {
  OpKind kind{};
  Phase phase{};
  WorkClass work{};
  Module module{};
  Arithmetic arithmetic{};                      // of a matmul
  DType dtype{};                                // of the arithmetic's inputs
  std::int16_t layer = -1;                      // block; -1: outside the blocks
  std::int64_t m = 0, n = 0, k = 0, batch = 0;  // of a matmul or attention kernel
  bool strided = false;                         // elementwise, its operands lie differently
  std::int32_t kernels = 1;                     // launches that this op stands for (multi-tensor)
  Flops flops;
  Bytes bytes_read;
  Bytes bytes_written;
  std::uint32_t first_input = 0;  // rows of StepGraph::inputs, held, outputs, updated
  std::uint32_t first_held = 0;
  std::uint32_t first_output = 0;
  std::uint32_t first_updated = 0;
};

}  // namespace tidemark
