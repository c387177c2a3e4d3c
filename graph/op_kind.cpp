#include "graph/op_kind.hpp"

#include <array>

namespace tidemark {

namespace {

// In the order of the enumeration.
constexpr auto kRows = std::to_array<OpKindRow>({
    {"add", "sum of two tensors"},
    {"add_", "sum written over the first tensor"},
    {"addmm", "matrix product plus bias"},
    {"arange", "consecutive numbers"},
    {"baddbmm", "batched matrix product, scaled"},
    {"bmm", "batched matrix product"},
    {"cat", "concatenation"},
    {"clone", "copy, often into another layout"},
    {"copy_", "copy over an existing tensor"},
    {"cos", "cosine"},
    {"cross_entropy", "loss in one kernel"},
    {"div", "quotient"},
    {"native_dropout", "dropout with a byte mask"},
    {"native_dropout_backward", "gradient through a dropout mask"},
    {"embedding", "rows of a table"},
    {"embedding_dense_backward", "gradient of a table from its rows"},
    {"empty", "allocation without a kernel"},
    {"exp", "exponential"},
    {"fill", "a constant written out"},
    {"flash_attention", "attention in one kernel, scores never stored"},
    {"flash_attention_backward", "gradients of q, k and v, scores recomputed on chip"},
    {"fused_rms_norm", "RMSNorm in one kernel"},
    {"fused_rms_norm_backward", "gradient of RMSNorm in one kernel"},
    {"fused_softmax", "scale, causal mask and softmax in one kernel"},
    {"gather", "one element a row"},
    {"ge", "comparison"},
    {"gelu", "GELU in one kernel"},
    {"gelu_backward", "gradient of GELU"},
    {"native_layer_norm", "LayerNorm with its statistics"},
    {"native_layer_norm_backward", "gradients of LayerNorm, weight and bias"},
    {"log", "logarithm"},
    {"_log_softmax", "log-softmax over the vocabulary"},
    {"_log_softmax_backward_data", "gradient of log-softmax"},
    {"masked_fill", "a constant where a mask is set"},
    {"max", "largest of each row, with its index"},
    {"mean", "mean of each row"},
    {"mm", "matrix product"},
    {"mul", "product of two tensors or with a constant"},
    {"mul_", "product written over the first tensor"},
    {"neg", "negation"},
    {"nll_loss_forward", "negative log-likelihood of the labels"},
    {"nll_loss_backward", "gradient of the log-likelihood"},
    {"ones_like", "the gradient that backward starts from"},
    {"pow", "power with a constant exponent"},
    {"rsqrt", "reciprocal square root"},
    {"scatter_", "one element a row written over a tensor"},
    {"scatter_add", "one element a row added"},
    {"sigmoid", "logistic function"},
    {"silu", "SiLU in one kernel"},
    {"silu_backward", "gradient of SiLU"},
    {"sin", "sine"},
    {"slice_backward", "gradient of a slice in a zeroed tensor"},
    {"_softmax", "softmax of each row"},
    {"_softmax_backward_data", "gradient of softmax"},
    {"sqrt", "square root"},
    {"stack", "tensors side by side in a new dimension"},
    {"sub", "difference of two tensors"},
    {"sum", "sum over dimensions"},
    {"tanh", "hyperbolic tangent"},
    {"tanh_backward", "gradient of tanh, or of the logistic function"},
    {"_to_copy", "copy in another dtype"},
    {"triu_", "upper triangle kept, in place"},
    {"where", "selection by a mask"},
    {"zero_", "zeros written over a tensor"},
    {"zero_grad", "gradients and the loss are let go"},
    {"zeros_like", "a tensor of zeros"},
    {"addcdiv_", "a scaled quotient added in place"},
    {"addcmul_", "a scaled product added in place"},
    {"_foreach_add", "sums over a list of tensors"},
    {"_foreach_addcdiv_", "scaled quotients added over a list"},
    {"_foreach_addcmul_", "scaled products added over a list"},
    {"_foreach_div_", "quotients over a list"},
    {"_foreach_mul_", "products over a list"},
    {"_foreach_sqrt", "square roots over a list"},
    {"_foreach_zero_", "zeros over a list"},
    {"_fused_adamw_", "the whole AdamW step in one kernel a list"},
    {"sgd_step", "the whole SGD step of a tensor"},
});
static_assert(kRows.size() == static_cast<std::size_t>(kOpKindCount));

}  // namespace

const OpKindRow& row_of(OpKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

bool is_elementwise(OpKind kind) {
  switch (kind) {
    case OpKind::kAdd:
    case OpKind::kAddInplace:
    case OpKind::kCat:
    case OpKind::kClone:
    case OpKind::kCopy:
    case OpKind::kCos:
    case OpKind::kDiv:
    case OpKind::kDropout:
    case OpKind::kDropoutBackward:
    case OpKind::kExp:
    case OpKind::kGelu:
    case OpKind::kGeluBackward:
    case OpKind::kLog:
    case OpKind::kMaskedFill:
    case OpKind::kMul:
    case OpKind::kMulInplace:
    case OpKind::kNeg:
    case OpKind::kPow:
    case OpKind::kRsqrt:
    case OpKind::kSigmoid:
    case OpKind::kSilu:
    case OpKind::kSiluBackward:
    case OpKind::kSin:
    case OpKind::kSliceBackward:
    case OpKind::kSqrt:
    case OpKind::kStack:
    case OpKind::kSub:
    case OpKind::kTanh:
    case OpKind::kTanhBackward:
    case OpKind::kToCopy:
    case OpKind::kWhere:
      return true;
    default:
      return false;
  }
}

}  // namespace tidemark
