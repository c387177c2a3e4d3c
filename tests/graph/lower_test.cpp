// What must come out of the lowering: closed forms from the literature and from measurements of
// autograd itself. None of them stands in the code.

#include "graph/lower.hpp"

#include <algorithm>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"

namespace tidemark {
namespace {

using namespace support;

// s b h (34 + 5 a s / h) bytes a block (Korthikanti et al., arXiv 2205.05198, equation 2), plus the
// fp32 mean and reciprocal deviation of two LayerNorms: 2 x 2 x 4 bytes a token.
std::int64_t korthikanti(std::int64_t s, std::int64_t b, std::int64_t h, std::int64_t a) {
  return 34 * s * b * h + 5 * a * s * s * b + 16 * s * b;
}

TEST_CASE("a GPT block of 7B keeps what the published formula says, to the byte") {
  struct Row {
    std::int64_t sequence, micro_batch, bytes;
  };
  // 2048 x 1: 956,301,312 + 32,768.
  for (const Row row : {Row{2048, 1, 956'334'080}, Row{2048, 4, 3'825'336'320},
                        Row{4096, 1, 3'254'845'440}, Row{4096, 4, 13'019'381'760}}) {
    const StepGraph graph = lower(gpt(2, 4096, 32, row.sequence, row.micro_batch));
    CHECK(kept_by_layer(graph, 1) == row.bytes);
    CHECK(korthikanti(row.sequence, row.micro_batch, 4096, 32) == row.bytes);
  }
}

// Bytes a block keeps, measured with autograd for each variant. s b h times a constant, a s^2 b
// times another, plus 16 bytes a token of LayerNorm statistics or 8 of RMSNorm's.
struct Variant {
  std::string name;
  LoweringInput input;
  std::int64_t sbh, ass, per_token, per_token_head = 0;
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  const LoweringInput base = gpt(3, 128, 8, 64, 3);
  const auto with = [&](const char* name, auto change, std::int64_t sbh, std::int64_t ass,
                        std::int64_t per_token, std::int64_t per_token_head = 0) {
    LoweringInput input = base;
    change(input);
    all.push_back({name, input, sbh, ass, per_token, per_token_head});
  };
  with(
      "gpt bf16", [](auto&) {}, 34, 5, 16);
  with(
      "gpt without dropout", [](auto& i) { i.model.dropout = false; }, 32, 2, 16);
  with(
      "gpt fp32", [](auto& i) { i.training.precision = Precision::kFp32; }, 66, 9, 16);
  with(
      "gpt autocast", [](auto& i) { i.training.precision = Precision::kAutocast; }, 38, 7, 16);
  // The result has the layout of the queries, so that turning it back to [s, b, h] copies nothing.
  with(
      "gpt flash", [](auto& i) { i.kernels.attention = Kernels::Attention::kFlash; }, 34, 0, 16, 4);
  with(
      "gpt with dropout masks in the tensor's dtype",
      [](auto& i) { i.kernels.dropout_mask = Kernels::DropoutMask::kDtype; }, 36, 6, 16);
  const auto hub = [](auto& i) { i.model.architecture = Architecture::kGpt2; };
  with("gpt2 bf16", hub, 58, 5, 16);
  with(
      "gpt2 fp32",
      [&](auto& i) {
        hub(i);
        i.training.precision = Precision::kFp32;
      },
      114, 9, 16);
  // 86: in fp32 instead of 16 bits what pow reads, tanh and 1 + tanh of 4 h elements a token.
  with(
      "gpt2 autocast",
      [&](auto& i) {
        hub(i);
        i.training.precision = Precision::kAutocast;
      },
      86, 7, 16);
  return all;
}

TEST_CASE("each variant of a GPT block keeps what autograd was measured to keep") {
  for (const Variant& variant : variants()) {
    INFO(variant.name);
    const std::int64_t s = 64, b = 3, h = 128, a = 8;
    const StepGraph graph = lower(variant.input);
    CHECK(kept_by_layer(graph, 1) == variant.sbh * s * b * h + variant.ass * a * s * s * b +
                                         variant.per_token * s * b +
                                         variant.per_token_head * a * s * b);
  }
}

TEST_CASE("each variant of a LLaMA block keeps what autograd was measured to keep") {
  struct Row {
    const char* name;
    Precision precision;
    Kernels::Attention attention;
    Kernels::Norm norm;
    Kernels::Mean mean;
    std::int64_t sbh, sbf, ass, kv_share, per_token_head;
  };
  const std::int64_t s = 48, b = 2, h = 128, a = 8, kv = 2, f = 344;
  using A = Kernels::Attention;
  using N = Kernels::Norm;
  using M = Kernels::Mean;
  // 24 sbh + 8 sbf + 6 ass and so on; flash keeps K and V with their own heads: 4 kv/a sbh.
  const Row rows[] = {
      {"bf16", Precision::kBf16, A::kEager, N::kEager, M::k2x, 24, 8, 6, 0, 0},
      {"bf16, mean of 1.13", Precision::kBf16, A::kEager, N::kEager, M::k113, 32, 8, 6, 0, 0},
      {"fp32", Precision::kFp32, A::kEager, N::kEager, M::k2x, 40, 16, 4, 0, 0},
      {"autocast", Precision::kAutocast, A::kEager, N::kEager, M::k2x, 34, 8, 6, 0, 0},
      {"flash", Precision::kBf16, A::kFlash, N::kEager, M::k2x, 20, 8, 0, 4, 4},
      {"flash, fused norm", Precision::kBf16, A::kFlash, N::kFused, M::k2x, 12, 8, 0, 4, 4},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    LoweringInput input = llama(3, h, a, kv, f, s, b);
    input.training.precision = row.precision;
    input.kernels.attention = row.attention;
    input.kernels.norm = row.norm;
    input.kernels.mean = row.mean;
    CHECK(kept_by_layer(lower(input), 1) ==
          row.sbh * s * b * h + row.sbf * s * b * f + row.ass * a * s * s * b +
              row.kv_share * s * b * h * kv / a + row.per_token_head * a * s * b + 8 * s * b);
  }
}

TEST_CASE("fused attention under autocast takes 16-bit operands, as of PyTorch 2.x on a GPU") {
  const std::int64_t s = 48, b = 2, h = 128, a = 8, kv = 2, f = 344;
  LoweringInput input = llama(3, h, a, kv, f, s, b);
  input.training.precision = Precision::kAutocast;
  input.kernels.attention = Kernels::Attention::kFlash;
  const StepGraph casts = lower(input);
  input.kernels.autocast_attention = Kernels::AutocastAttention::k113;
  const StepGraph takes = lower(input);
  // Rotary positions make q and k fp32. As they are, 4 bytes of each q and k are kept, and of the
  // output with a 16-bit copy for the projection; cast, 2 bytes of each q and k, and of the output.
  CHECK(kept_by_layer(takes, 1) - kept_by_layer(casts, 1) ==
        (2 + 4) * s * b * h + 2 * s * b * h * kv / a);
  const auto dtype_of = [](const StepGraph& graph) {
    const auto found = std::ranges::find(graph.ops, OpKind::kFlashAttention, &Op::kind);
    REQUIRE(found != graph.ops.end());
    return found->dtype;
  };
  CHECK(dtype_of(casts) == DType::kBf16);
  CHECK(dtype_of(takes) == DType::kF32);
  // The projections of gpt are 16-bit as they are.
  LoweringInput plain = gpt(3, 128, 8, 64, 3);
  plain.training.precision = Precision::kAutocast;
  plain.kernels.attention = Kernels::Attention::kFlash;
  const std::int64_t kept = kept_by_layer(lower(plain), 1);
  plain.kernels.autocast_attention = Kernels::AutocastAttention::k113;
  CHECK(kept_by_layer(lower(plain), 1) == kept);
}

TEST_CASE("autocast keeps a 16-bit copy of each weight matrix and bias of a block") {
  LoweringInput input = gpt(3, 128, 8, 64, 3);
  input.training.precision = Precision::kAutocast;
  // Weights 12 h^2, biases 3h + h + 4h + h; LayerNorm runs in fp32 and needs no copies.
  CHECK(copies_of_weights(lower(input), 1) == 2 * (12 * 128 * 128 + 9 * 128));
}

TEST_CASE("states take 16 bytes a parameter in mixed precision with AdamW") {
  LoweringInput input = gpt(2, 64, 4, 16, 1);
  input.training.precision = Precision::kBf16Mixed;
  input.kernels.zero_grad = Kernels::ZeroGrad::kKeep;
  input.kernels.master_gradients = Kernels::MasterGradients::kDirect;
  const StepGraph graph = lower(input);
  const std::int64_t n = graph.parameter_count;
  CHECK(initial_bytes(graph, Category::kParameters) == 2 * n);
  CHECK(initial_bytes(graph, Category::kGradients) == 2 * n);
  CHECK(initial_bytes(graph, Category::kMasterWeights) == 4 * n);
  CHECK(initial_bytes(graph, Category::kOptimizerState) == 8 * n);
}

TEST_CASE("the 7B model has exactly seven billion parameters with its extra ones") {
  LoweringInput input = gpt(32, 4096, 32, 2048, 1);
  input.model.vocab = 32000;
  input.model.extra_parameters = 285'304'320;
  checkpoint_every_block(input);
  const StepGraph graph = lower(input);
  CHECK(graph.parameter_count == 7'000'000'000);
  // Without them 6,714,695,680: the count of the published configuration.
  std::int64_t sum = 0;
  for (const Parameter& parameter : graph.parameters) sum += parameter.elements;
  CHECK(sum == 7'000'000'000);
}

// Matmuls of a step: 6 P_matmul tokens + 12 s^2 b h a block of attention (Narayanan et al., arXiv
// 2104.04473, appendix): a block has 12 h^2 weights, the head V h.
TEST_CASE("matmul FLOPs are those of the published count") {
  const std::int64_t layers = 3, s = 64, b = 2, h = 128, v = 1000;
  const LoweringInput input = gpt(layers, h, 8, s, b);
  const std::int64_t forward =
      2 * s * b * (layers * 12 * h * h + v * h) + 4 * layers * s * s * b * h;
  const StepGraph graph = lower(input);
  CHECK(matmul_flops(graph) == 3 * forward);
  CHECK(graph.model_flops.count == 3 * forward);
}

TEST_CASE("checkpointing every block replays the blocks' forward once") {
  const std::int64_t layers = 3, s = 64, b = 2, h = 128, v = 1000;
  LoweringInput input = gpt(layers, h, 8, s, b);
  checkpoint_every_block(input);
  const std::int64_t blocks = 2 * s * b * layers * 12 * h * h + 4 * layers * s * s * b * h;
  const std::int64_t head = 2 * s * b * v * h;
  const StepGraph graph = lower(input);
  CHECK(matmul_flops(graph) == 4 * blocks + 3 * head);  // 4/3 but for the head
  CHECK(graph.model_flops.count == 3 * (blocks + head));
  for (int layer = 0; layer < layers; ++layer) {
    CHECK(kept_by_layer(graph, layer) ==
          2 * s * b * h);  // the block's output: the next one's input
  }
}

TEST_CASE("every storage is born once and dies at an op that touches or holds it") {
  LoweringInput input = llama(3, 64, 4, 2, 176, 16, 2);
  input.training.precision = Precision::kAutocast;
  checkpoint_every_block(input);
  const StepGraph graph = lower(input);
  std::vector<int> born(graph.tensors.size()), last_seen(graph.tensors.size(), -1);
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    const OpId op{i};
    for (const TensorId t : graph.outputs_of(op)) {
      ++born[index(t)];
      CHECK(graph.tensor(t).producer == op);
    }
    for (const auto& row :
         {graph.inputs_of(op), graph.updated_by(op), graph.held_by(op), graph.outputs_of(op)}) {
      for (const TensorId t : row) {
        CHECK((graph.tensor(t).initial() || index(graph.tensor(t).producer) <= i));
        last_seen[index(t)] = static_cast<int>(i);
      }
    }
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    CHECK(born[t] == (graph.tensors[t].initial() ? 0 : 1));
    if (!graph.tensors[t].persistent()) {
      CHECK(last_seen[t] == static_cast<int>(index(graph.tensors[t].last_use)));
    }
  }
}

TEST_CASE("the estimate of ops is exact without partial checkpoints and never too low with them") {
  for (const std::int64_t layers : {1, 5, 12}) {
    for (const std::int64_t passes : {1, 3}) {
      LoweringInput input = llama(layers, 64, 4, 2, 176, 16, 2);
      input.training.micro_batches = passes;
      CHECK(estimate_ops(input) == static_cast<std::int64_t>(lower(input).op_count()));
      input.checkpointing.segments = {{0, 1}};
      const auto ops = static_cast<std::int64_t>(lower(input).op_count());
      CHECK(estimate_ops(input) >= ops);
      CHECK(estimate_ops(input) <= 2 * ops);
    }
  }
}

TEST_CASE("gradient accumulation adds into the gradients of the pass before") {
  LoweringInput input = gpt(2, 64, 4, 16, 1);
  const std::size_t one = lower(input).op_count();
  input.training.micro_batches = 3;
  const StepGraph graph = lower(input);
  std::size_t sums = 0;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.ops[i];
    const bool gradient =
        op.kind == OpKind::kAddInplace && op.phase == Phase::kBackward &&
        graph.tensor(graph.updated_by(OpId{static_cast<std::uint32_t>(i)})[0]).category ==
            Category::kGradients;
    sums += gradient ? 1 : 0;
  }
  CHECK(sums == 2 * graph.parameters.size());
  CHECK(graph.op_count() > one);
}

}  // namespace
}  // namespace tidemark
