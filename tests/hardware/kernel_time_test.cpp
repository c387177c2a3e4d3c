#include "hardware/kernel_time.hpp"

#include <cmath>
#include <limits>

#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

// Round figures: 200 TFLOP/s of 16-bit matmul x 0.5 = 100; 20 of 32-bit x 0.5 = 10; 10 vector;
// 2000 GB/s x 0.5 = 1000 GB/s; 3 us a launch. Fused attention: 50 forward, 40 backward. Work has no
// shape here: what a shape adds, the tests of matmul_time and attention_time say.
Gpu round_gpu() {
  Gpu gpu{};
  gpu.bandwidth = 2000_GBps;
  gpu.matmul_16bit = 200_TFLOPs;
  gpu.matmul_32bit = 20_TFLOPs;
  gpu.vector_32bit = 10_TFLOPs;
  gpu.matmul_efficiency = 0.5;
  gpu.stream_efficiency = 0.5;
  gpu.launch_latency = 3_us;
  gpu.matmul_tf32 = 40_TFLOPs;
  gpu.flash_forward_efficiency = 0.25;
  gpu.flash_backward_efficiency = 0.2;
  return gpu;
}

KernelWork work(WorkClass kind, std::int64_t flops, std::int64_t bytes) {
  KernelWork result;
  result.work = kind;
  result.flops = Flops(flops);
  result.bytes = Bytes(bytes);
  return result;
}

TEST_CASE("a compute-bound matmul takes its FLOPs over the achieved peak, and a launch") {
  // 2 x 1000 x 5000 x 10000 = 1e11 FLOP at 100 TFLOP/s: 1 ms; 1e8 bytes at 1000 GB/s: 0.1 ms.
  const KernelWork matmul = work(WorkClass::kMatmul, 100'000'000'000, 100'000'000);
  CHECK(kernel_time(round_gpu(), matmul) == 1000_us + 3_us);
}

TEST_CASE("a matmul in 32 bits runs at its own peak") {
  KernelWork matmul = work(WorkClass::kMatmul, 100'000'000'000, 100'000'000);
  matmul.arithmetic = Arithmetic::k32Bit;
  CHECK(kernel_time(round_gpu(), matmul) == 10'000_us + 3_us);
}

TEST_CASE("a matmul whose bytes take longer is bound by bandwidth") {
  // 1 ms of FLOPs is 1e9 bytes at 1000 GB/s: the edge, from both sides.
  CHECK(kernel_time(round_gpu(), work(WorkClass::kMatmul, 100'000'000'000, 1'000'000'000)) ==
        1003_us);
  CHECK(kernel_time(round_gpu(), work(WorkClass::kMatmul, 100'000'000'000, 1'000'000'001)) ==
        1003_us + 1_ps);  // 1 byte more at 1 byte a picosecond
  CHECK(kernel_time(round_gpu(), work(WorkClass::kMatmul, 100'000'000'000, 999'999'999)) ==
        1003_us);
}

TEST_CASE("a matmul that may round to TF32 runs at a peak between the two") {
  KernelWork matmul = work(WorkClass::kMatmul, 100'000'000'000, 100'000'000);
  matmul.arithmetic = Arithmetic::kTf32;  // 40 x 0.5 = 20 TFLOP/s
  CHECK(kernel_time(round_gpu(), matmul) == 5'000_us + 3_us);
}

TEST_CASE("fused attention has shares of the tensor peak of its own, forward and backward") {
  CHECK(kernel_time(round_gpu(), work(WorkClass::kAttention, 100'000'000'000, 0)) == 2003_us);
  CHECK(kernel_time(round_gpu(), work(WorkClass::kAttentionBackward, 100'000'000'000, 0)) ==
        2503_us);
}

TEST_CASE("a streaming kernel takes its bytes over the achieved bandwidth") {
  // 1e9 bytes at 1000 GB/s: 1 ms. 1e9 FLOP at 10 TFLOP/s: 0.1 ms, hidden.
  CHECK(kernel_time(round_gpu(), work(WorkClass::kStream, 1'000'000'000, 1'000'000'000)) ==
        1003_us);
  // 2e10 FLOP at 10 TFLOP/s: 2 ms, no longer hidden; vector FLOPs have no efficiency.
  CHECK(kernel_time(round_gpu(), work(WorkClass::kStream, 20'000'000'000, 1'000'000'000)) ==
        2003_us);
}

TEST_CASE("each launch that an op stands for adds the latency") {
  KernelWork stream = work(WorkClass::kStream, 0, 1'000'000'000);
  stream.kernels = 4;
  CHECK(kernel_time(round_gpu(), stream) == 1000_us + 12_us);
  stream.kernels = 0;
  CHECK(kernel_time(round_gpu(), stream) == 1000_us);
}

TEST_CASE("an empty kernel takes a launch, host work takes nothing") {
  CHECK(kernel_time(round_gpu(), work(WorkClass::kStream, 0, 0)) == 3_us);
  CHECK(kernel_time(round_gpu(), work(WorkClass::kNone, 1'000, 1'000)) == SimTime(0));
}

TEST_CASE("time is rounded up to a whole picosecond") {
  // 1 FLOP at 100 TFLOP/s is 0.01 ps.
  CHECK(kernel_time(round_gpu(), work(WorkClass::kMatmul, 1, 0)) == 3_us + 1_ps);
  CHECK(kernel_time(round_gpu(), work(WorkClass::kMatmul, 100, 0)) == 3_us + 1_ps);
  CHECK(kernel_time(round_gpu(), work(WorkClass::kMatmul, 101, 0)) == 3_us + 2_ps);
}

TEST_CASE("absurd latencies saturate instead of overflowing") {
  Gpu gpu = round_gpu();
  gpu.launch_latency = SimTime(std::int64_t{1} << 60);
  KernelWork many = work(WorkClass::kStream, 0, 1);
  many.kernels = 1;  // 1 byte at 1000 GB/s: 1 ps
  CHECK(kernel_time(gpu, many) == SimTime((std::int64_t{1} << 60) + 1));
  many.kernels = 2;  // 2^61 + 1 ps, the first that is above 2^63 / 4
  CHECK(kernel_time(gpu, many) == SimTime(std::numeric_limits<std::int64_t>::max() / 4));
  many.kernels = 1000;  // more than 64 bits
  CHECK(kernel_time(gpu, many) == SimTime(std::numeric_limits<std::int64_t>::max() / 4));
}

TEST_CASE("a GPU without peaks or with impossible efficiencies breaks an invariant") {
  const KernelWork matmul = work(WorkClass::kMatmul, 1, 1);
  Gpu gpu = round_gpu();
  gpu.matmul_16bit = FlopRate(0);
  CHECK_THROWS_AS(kernel_time(gpu, matmul), InternalError);
  gpu = round_gpu();
  gpu.vector_32bit = FlopRate(0);
  CHECK_THROWS_AS(kernel_time(gpu, work(WorkClass::kStream, 1, 1)), InternalError);
  for (const double share : {0.0, -0.1, 1.1, std::nan("")}) {
    gpu = round_gpu();
    gpu.matmul_efficiency = share;
    CHECK_THROWS_AS(kernel_time(gpu, matmul), InternalError);
    gpu = round_gpu();
    gpu.stream_efficiency = share;
    CHECK_THROWS_AS(kernel_time(gpu, matmul), InternalError);
    gpu = round_gpu();
    gpu.flash_forward_efficiency = gpu.flash_backward_efficiency = share;
    CHECK_THROWS_AS(kernel_time(gpu, work(WorkClass::kAttention, 1, 1)), InternalError);
    CHECK_THROWS_AS(kernel_time(gpu, work(WorkClass::kAttentionBackward, 1, 1)), InternalError);
  }
  CHECK_THROWS_AS(kernel_time(round_gpu(), work(WorkClass::kMatmul, -1, 1)), InternalError);
  CHECK_THROWS_AS(kernel_time(round_gpu(), work(WorkClass::kMatmul, 1, -1)), InternalError);
}

}  // namespace
}  // namespace tidemark
