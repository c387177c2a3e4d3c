#pragma once
// What is trained and how, as plain data: the input of lower(). The loader fills it from a
// scenario.

#include <cstdint>
#include <string>
#include <vector>

#include "graph/op_kind.hpp"
#include "hardware/units.hpp"

namespace tidemark {

enum class Architecture : std::uint8_t {
  kGpt,    // Megatron style: [s, b, h], LayerNorm, biases, fused qkv, gelu, learned positions
  kGpt2,   // Hugging Face style: [b, s, h], conv1d projections, gelu from elementary ops
  kLlama,  // Hugging Face style: RMSNorm, rotary, grouped KV heads, SwiGLU, no biases
  kCs336,  // RMSNorm, rotary pairs, einsum projections, SwiGLU, hand-written softmax and loss
};

struct ModelConfig {
  std::string name;  // catalogue name, or "custom"
  Architecture architecture{};
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // = heads unless grouped
  std::int64_t head_dim = 0;  // = hidden / heads unless stated
  std::int64_t ffn = 0;       // width of the MLP
  std::int64_t vocab = 0;
  std::int64_t max_positions = 0;
  bool tied_embeddings = false;       // the LM head is the token embedding
  bool qkv_bias = false;              // llama only: biases on q, k and v (Qwen2)
  bool dropout = false;               // probability > 0
  std::int64_t extra_parameters = 0;  // trainable elements that take no part in forward
};

enum class Precision : std::uint8_t {
  kFp32,
  kBf16,       // everything in bf16, optimizer states too
  kBf16Mixed,  // bf16 parameters and gradients, fp32 master copies and moments
  kAutocast,   // fp32 parameters, bf16 casts of them in matmuls
};

enum class Optimizer : std::uint8_t { kAdamW, kSgd, kSgdMomentum };

struct TrainingConfig {
  std::int64_t micro_batch = 1;    // sequences at once
  std::int64_t sequence = 0;       // tokens a sequence
  std::int64_t micro_batches = 1;  // forward and backward passes before the optimizer step
  Precision precision = Precision::kBf16Mixed;
  Optimizer optimizer = Optimizer::kAdamW;
};

// Which kernels run: decides what autograd saves and which temporaries exist.
struct Kernels {
  enum class Attention : std::uint8_t { kEager, kFlash };
  enum class Causal : std::uint8_t { kFill, kFillInplace, kMask, kFused };
  enum class Norm : std::uint8_t { kEager, kFused };
  enum class Loss : std::uint8_t { kNative, kFp32, kFp32Shift };
  enum class OptimizerKernel : std::uint8_t { kSingle, kForeach, kForeach2x, kFused };
  enum class DropoutMask : std::uint8_t { kBool, kDtype };
  enum class Accumulate : std::uint8_t { kInplace, kOutOfPlace };
  enum class Mean : std::uint8_t { k2x, k113 };
  enum class AutocastAttention : std::uint8_t { k2x, k113 };
  enum class Replayed : std::uint8_t { k2x, k113 };
  enum class ZeroGrad : std::uint8_t { kSetToNone, kKeep };
  enum class MasterGradients : std::uint8_t { kCopy, kDirect };
  enum class Fp32Matmul : std::uint8_t { kFp32, kTf32 };

  Attention attention = Attention::kEager;
  Causal causal = Causal::kFill;  // gpt; llama and gpt2 always add or select with a mask
  Norm norm = Norm::kEager;       // llama
  Loss loss = Loss::kFp32;
  bool keep_logits = false;  // the script keeps the model's output until the step ends
  OptimizerKernel optimizer = OptimizerKernel::kSingle;
  DropoutMask dropout_mask = DropoutMask::kBool;
  Accumulate accumulate = Accumulate::kInplace;
  Mean mean = Mean::k2x;
  // What fused attention does under autocast: on CUDA, PyTorch 2.x has scaled_dot_product_attention
  // on the list of functions whose operands are cast to 16 bits (aten/src/ATen/autocast_mode.cpp,
  // KERNEL_CUDA(scaled_dot_product_attention, lower_precision_fp)); 1.13 takes them as they come.
  AutocastAttention autocast_attention = AutocastAttention::k2x;
  // What a non-reentrant checkpoint made again: from PyTorch 2.0 on it is handed to the node that
  // waits for it and goes with the node's kernels (torch/utils/checkpoint.py, unpack_hook:
  // holder.handles[gid] = None); 1.13 keeps it as any saved tensor, until the engine has also
  // summed the node's gradients to the shapes of its inputs.
  Replayed replayed = Replayed::k2x;
  ZeroGrad zero_grad = ZeroGrad::kSetToNone;
  // bf16-mixed: fp32 copies of the gradients for the master step, or kernels that read 16-bit
  // gradients and update the master weights directly (apex FusedAdam with master_weights).
  MasterGradients master_gradients = MasterGradients::kCopy;
  // The GPU kernel that sums the gradient of a bias or norm weight over many tokens has a scratch
  // buffer of twice its fp32 operand's size while it runs.
  bool reduction_scratch = false;
  Fp32Matmul fp32_matmul = Fp32Matmul::kFp32;  // torch.set_float32_matmul_precision
};

// Blocks [first, last) that one checkpoint spans: their input is kept, their forward is replayed.
struct Segment {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// Ops whose results a selective checkpoint caches, so that its replay does not run them.
struct CachedOps {
  std::vector<OpKind> kinds;
  bool odd_products_only = false;  // of a segment's products (mm, addmm): first, third, ...

  bool operator==(const CachedOps&) const = default;
};

struct Checkpointing {
  std::vector<Segment> segments;  // disjoint, ascending; blocks outside keep what they save
  bool reentrant = true;          // which of the two PyTorch implementations
  bool early_stop = true;         // of the other one: replays no further than backward needs
  CachedOps cached;               // not reentrant
  bool keep_dropout = false;      // where single tensors are recomputed: not what dropout made
};

enum class StepKind : std::uint8_t {
  kFirst,   // optimizer states are made inside this step
  kSteady,  // they are there already
};

// Where a parameter's optimizer step runs decides whether lower() makes its ops.
enum class UpdateOn : std::uint8_t {
  kGpu,
  kElsewhere,  // no op and no state of it is here
  kStreamed,   // ops here, on states that come for them and leave again
};

// What becomes of the gradients of each pass over a micro-batch.
enum class PassGradients : std::uint8_t {
  kStay,    // the next pass adds to them
  kLeave,   // they leave; something else adds them up
  kReturn,  // they leave, and come back for the next pass to add to
};

struct LoweringInput {
  ModelConfig model;
  TrainingConfig training;
  Kernels kernels;
  Checkpointing checkpointing;
  StepKind step = StepKind::kSteady;
  UpdateOn update = UpdateOn::kGpu;
  // Of all elements: the first parameters of the model, as far as they are no more than that share,
  // are updated as `update` says, the others on the GPU.
  double update_share = 1;
  PassGradients pass_gradients = PassGradients::kStay;
  // Bytes of gradients that one call of the optimizer updates at most; 0: all in one call.
  Bytes update_group;
};

}  // namespace tidemark
