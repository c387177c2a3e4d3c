// What an op's time is made of: bytes, launches, arithmetic, and how its operands lie.

#include "graph/op_time.hpp"

#include "graph/autograd.hpp"
#include "graph/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"
#include "tests/support/machines.hpp"

namespace tidemark {
namespace {

struct Script {
  explicit Script(const Kernels& kernels = {}) : tape(kernels) {}
  Value leaf(const Shape& shape, DType dtype = DType::kBf16) {
    const Value x = tape.initial(shape, dtype, Category::kInputs, "x");
    tape.make_leaf(x);
    return x;
  }
  const Op& last() { return tape.graph().ops.back(); }
  std::int64_t last_bytes() { return last().bytes_read.count + last().bytes_written.count; }
  void go_back(const Value& y) {
    backward(tape, y, tape.initial(y.shape(), y.dtype(), Category::kInputs, "dy"));
  }
  const Op& find(OpKind kind) {
    for (const Op& op : tape.graph().ops) {
      if (op.kind == kind) return op;
    }
    FAIL("no such op");
    return tape.graph().ops.front();
  }
  Tape tape;
};

TEST_CASE("operands of 16 bits multiply in 16 bits, of 32 as the kernels say") {
  Script half;
  mm(half.leaf({8, 4}), half.leaf({4, 8}));
  CHECK(half.last().arithmetic == Arithmetic::k16Bit);
  Script exact;
  mm(exact.leaf({8, 4}, DType::kF32), exact.leaf({4, 8}, DType::kF32));
  CHECK(exact.last().arithmetic == Arithmetic::k32Bit);
  Kernels kernels;
  kernels.fp32_matmul = Kernels::Fp32Matmul::kTf32;
  Script rounded(kernels);
  mm(rounded.leaf({8, 4}, DType::kF32), rounded.leaf({4, 8}, DType::kF32));
  CHECK(rounded.last().arithmetic == Arithmetic::kTf32);
  mm(rounded.leaf({8, 4}), rounded.leaf({4, 8}));
  CHECK(rounded.last().arithmetic == Arithmetic::k16Bit);
}

TEST_CASE("an elementwise kernel is strided where its operands lie differently") {
  Script s;
  const Value x = s.leaf({6, 4, 2}), y = s.leaf({6, 4, 2});
  add(x, y);
  CHECK_FALSE(s.last().strided);
  add(transpose(x, 0, 1), transpose(y, 0, 1));  // alike, and dense in another order
  CHECK_FALSE(s.last().strided);
  add(x, s.leaf({4, 2}));  // broadcast
  CHECK(s.last().strided);
  mul_scalar(x);
  CHECK_FALSE(s.last().strided);
  mul(x, s.leaf({1}));  // one element is passed along
  CHECK_FALSE(s.last().strided);
  mul_scalar(slice(x, 1, 2));  // gaps
  CHECK(s.last().strided);
  contiguous(transpose(x, 0, 1));
  CHECK(s.last().strided);
  cat(x, y, 0);
  CHECK(s.last().strided);
  sum_last(transpose(x, 0, 1));  // a reduction has a kernel of its own
  CHECK_FALSE(s.last().strided);
  mm(view(x, Shape{12, 4}), transpose(s.leaf({8, 4}), 0, 1));
  CHECK_FALSE(s.last().strided);
}

TEST_CASE("strided ops run at the strided bandwidth") {
  Machine machine = test::round_machine();  // 1 byte a picosecond
  machine.gpu.strided_efficiency = 0.5;
  Op op;
  op.work = WorkClass::kStream;
  op.bytes_read = 300_B;
  op.bytes_written = 100_B;
  CHECK(op_time(machine.gpu, op) == 400_ps);
  op.strided = true;
  CHECK(op_time(machine.gpu, op) == 800_ps);
}

TEST_CASE("an operation costs the host its issue, however many kernels; none if it runs none") {
  Machine machine = test::round_machine();
  machine.host.issue = 7_us;
  Op op;
  op.kernels = 30;
  op.work = WorkClass::kStream;
  CHECK(issue_time(machine.host, op) == 7_us);
  op.work = WorkClass::kNone;
  CHECK(issue_time(machine.host, op) == 0_us);
}

TEST_CASE("filling out of place clones first: two kernels, four passes and the mask") {
  Script s;
  const Value mask = s.tape.initial({10, 10}, DType::kBool, Category::kConstants, "mask");
  masked_fill(s.leaf({10, 10}), mask);
  CHECK(s.last().kernels == 2);
  CHECK(s.last_bytes() == 4 * 200 + 100);
}

TEST_CASE("the loss reads one element a row of what log-softmax wrote") {
  // 16 rows of 100 in fp32: log-softmax reads and writes 6400 bytes. The loss reads 16 x 4 bytes
  // and 16 labels of 8, and writes two numbers.
  Script s;
  const Value labels = s.tape.initial({16}, DType::kI64, Category::kInputs, "labels");
  const Value loss = nll_loss(log_softmax(s.leaf({16, 100}, DType::kF32)), labels);
  CHECK(s.find(OpKind::kLogSoftmax).bytes_read == 6400_B);
  CHECK(s.last().bytes_read == 16_B * 4 + 16_B * 8);
  CHECK(s.last().bytes_written == 8_B);
  s.go_back(loss);
  CHECK(s.find(OpKind::kLogSoftmaxBackward).bytes_read == 2 * 6400_B);
}

TEST_CASE("rows that exceed shared memory are read three times forward, the gradient twice back") {
  // 48 KiB hold 12288 fp32 numbers; 100 x 12289 x 4 = 4,915,600 bytes.
  Script s;
  const Value labels = s.tape.initial({100}, DType::kI64, Category::kInputs, "labels");
  const Value loss = nll_loss(log_softmax(s.leaf({100, 12289}, DType::kF32)), labels);
  CHECK(s.find(OpKind::kLogSoftmax).bytes_read == 3 * 4'915'600_B);
  s.go_back(loss);
  CHECK(s.find(OpKind::kLogSoftmaxBackward).bytes_read == 3 * 4'915'600_B);
  Script fits;
  const Value few = fits.tape.initial({100}, DType::kI64, Category::kInputs, "labels");
  nll_loss(log_softmax(fits.leaf({100, 12288}, DType::kF32)), few);
  CHECK(fits.find(OpKind::kLogSoftmax).bytes_read == 4'915'200_B);
}

TEST_CASE("the backward of a LayerNorm is two kernels that both read gradient and input") {
  // 100 rows of 64 in bf16: 12800 bytes each of dy, x and dx; 100 means and 100 deviations of 4.
  Script s;
  const Value y = layer_norm(s.leaf({10, 10, 64}), s.leaf({64}), s.leaf({64}));
  s.go_back(y);
  const Op& op = s.find(OpKind::kLayerNormBackward);
  CHECK(op.kernels == 2);
  CHECK(op.bytes_read == 4 * 12800_B + 128_B + 800_B);
  CHECK(op.bytes_written == 12800_B + 2 * 128_B);
}

TEST_CASE("list kernels that change a list in place read it too") {
  // foreach AdamW (2.x) in fp32, passes of 4 bytes an element: weight decay 2, m x beta 2, m + g 3,
  // v x beta 2, v + g g 3, sqrt 2, div 2, add 2, addcdiv 4: 22.
  LoweringInput input = support::gpt(1, 16, 2, 8, 1);
  input.training.precision = Precision::kFp32;
  input.kernels.optimizer = Kernels::OptimizerKernel::kForeach2x;
  const StepGraph graph = lower(input);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.ops[i];
    if (op.phase == Phase::kOptimizer) bytes += op.bytes_read.count + op.bytes_written.count;
  }
  CHECK(bytes == 22 * 4 * graph.parameter_count);
}

TEST_CASE("fused AdamW streams each parameter once: gradient, weight and two states, three back") {
  LoweringInput input = support::gpt(1, 16, 2, 8, 1);
  input.training.precision = Precision::kFp32;
  input.kernels.optimizer = Kernels::OptimizerKernel::kFused;
  const StepGraph graph = lower(input);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.ops[i];
    if (op.phase == Phase::kOptimizer) bytes += op.bytes_read.count + op.bytes_written.count;
  }
  CHECK(bytes == 7 * 4 * graph.parameter_count);
}

TEST_CASE("causal fused attention counts half of the scores, two products forward, five back") {
  // 2 heads of 8 on 64 tokens: a whole product is 2 x 2 x 64 x 64 x 8 = 131072 FLOPs.
  Script s;
  const Value q = s.leaf({1, 64, 2, 8}), k = s.leaf({1, 64, 2, 8}), v = s.leaf({1, 64, 2, 8});
  const Value y = flash_attention(q, k, v);
  CHECK(s.last().flops == Flops(131'072));
  s.go_back(y);
  const Op& op = s.find(OpKind::kFlashAttentionBackward);
  CHECK(op.flops == Flops(5 * 131'072 / 2));
  CHECK(op.work == WorkClass::kAttentionBackward);
  CHECK(op.kernels == 3);
}

}  // namespace
}  // namespace tidemark
