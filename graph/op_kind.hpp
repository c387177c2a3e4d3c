#pragma once
// Every kind of operation that a step is made of, named as the framework's own kernels are.
// To add one: a row in X below, its forward and derivative rule in graph/ops/.

#include <array>
#include <cstdint>
#include <string_view>

namespace tidemark {

struct OpKindRow {
  std::string_view name;
  std::string_view summary;
};

enum class OpKind : std::uint16_t {
  kAdd,
  kAddInplace,
  kAddmm,
  kArange,
  kBaddbmm,
  kBmm,
  kCat,
  kClone,
  kCopy,
  kCos,
  kCrossEntropy,
  kDiv,
  kDropout,
  kDropoutBackward,
  kEmbedding,
  kEmbeddingBackward,
  kEmpty,
  kExp,
  kFill,
  kFlashAttention,
  kFlashAttentionBackward,
  kFusedRmsNorm,
  kFusedRmsNormBackward,
  kFusedSoftmax,
  kGather,
  kGe,
  kGelu,
  kGeluBackward,
  kLayerNorm,
  kLayerNormBackward,
  kLog,
  kLogSoftmax,
  kLogSoftmaxBackward,
  kMaskedFill,
  kMax,
  kMean,
  kMm,
  kMul,
  kMulInplace,
  kNeg,
  kNllLoss,
  kNllLossBackward,
  kOnes,
  kPow,
  kRsqrt,
  kScatter,
  kScatterAdd,
  kSigmoid,
  kSilu,
  kSiluBackward,
  kSin,
  kSliceBackward,
  kSoftmax,
  kSoftmaxBackward,
  kSqrt,
  kStack,
  kSub,
  kSum,
  kTanh,
  kTanhBackward,
  kToCopy,
  kTriu,
  kWhere,
  kZero,
  kZeroGrad,
  kZeros,
  // optimizers
  kAddcdiv,
  kAddcmul,
  kForeachAdd,
  kForeachAddcdiv,
  kForeachAddcmul,
  kForeachDiv,
  kForeachMul,
  kForeachSqrt,
  kForeachZero,
  kFusedAdamW,
  kSgdStep,
  kCount,
};

inline constexpr int kOpKindCount = static_cast<int>(OpKind::kCount);

// Whether a kind is one element at a time, so that its speed depends on how its operands lie.
bool is_elementwise(OpKind kind);

// {name, summary} of a kind.
const OpKindRow& row_of(OpKind kind);
inline std::string_view name_of(OpKind kind) { return row_of(kind).name; }

}  // namespace tidemark
