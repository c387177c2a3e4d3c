#include "hardware/attention_time.hpp"

#include "hardware/kernel_time.hpp"
#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

// 10 SMs, 10 TFLOP/s in all, half of it for attention forward and a quarter backward.
Gpu ten_sms() {
  Gpu gpu{};
  gpu.bandwidth = 1000_GBps;
  gpu.matmul_16bit = 10_TFLOPs;
  gpu.matmul_efficiency = 1;
  gpu.stream_efficiency = 1;
  gpu.flash_forward_efficiency = 0.5;
  gpu.flash_backward_efficiency = 0.25;
  gpu.sms = 10;
  return gpu;
}

// 2 products of s x s x d, the lower half of them.
KernelWork causal(std::int64_t s, std::int64_t d, std::int64_t heads) {
  KernelWork work;
  work.work = WorkClass::kAttention;
  work.m = work.n = s;
  work.k = d;
  work.batch = heads;
  work.flops = Flops(2 * heads * s * s * d);
  return work;
}

TEST_CASE("many heads take their half of the scores, the diagonal, and half a block at the end") {
  // 1280 x 1280, 100 heads of 50: 2 x 100 x 1280 x 1280 x 50 = 16.384 GFLOP, a tenth more for the
  // diagonal (128 of 1280): 18.0224. 100 x 10 blocks; all SMs for an average block: 1 % more.
  // 18.202624 GFLOP at 5 TFLOP/s.
  CHECK(attention_time(ten_sms(), causal(1280, 50, 100)) == SimTime(3'640'524'800));
}

TEST_CASE("a kernel is no shorter than its longest block, which does twice the average") {
  // One head: 10 blocks on 10 SMs. 163.84 MFLOP, 180.224 with the diagonal, 18.0224 a block, twice
  // that for the longest, on one SM of 0.5 TFLOP/s.
  CHECK(attention_time(ten_sms(), causal(1280, 50, 1)) == SimTime(72'089'600));
}

TEST_CASE("backward has a share of its own") {
  KernelWork work = causal(1280, 50, 100);
  work.work = WorkClass::kAttentionBackward;
  CHECK(attention_time(ten_sms(), work) == SimTime(2 * 3'640'524'800));
}

TEST_CASE("sequences shorter than a block are computed whole") {
  // 64 x 64 of 1000 heads: twice the half; 1000 blocks on 10 SMs: 1 % more.
  const KernelWork work = causal(64, 10, 1000);
  CHECK(attention_time(ten_sms(), work) ==
        time_at_rate(work.flops.count / 100 * 202, 5'000'000'000'000));
}

TEST_CASE("attention is bound by memory where its bytes take longer") {
  KernelWork work = causal(64, 10, 1000);
  work.bytes = Bytes(1'000'000'000);
  CHECK(kernel_time(ten_sms(), work) == SimTime(1'000'000'000));
}

TEST_CASE("more SMs of the same speed never make attention slower") {
  for (const std::int64_t heads : {1, 3, 40}) {
    SimTime before(std::int64_t{1} << 60);
    for (std::int64_t sms = 1; sms < 200; sms += 7) {
      Gpu gpu = ten_sms();
      gpu.sms = sms;
      gpu.matmul_16bit = FlopRate(sms * 1'000'000'000'000);
      const SimTime time = attention_time(gpu, causal(1000, 64, heads));
      CHECK(time <= before + 1_ps);  // rates are rounded to whole FLOPs a second
      before = time;
    }
  }
}

}  // namespace
}  // namespace tidemark
