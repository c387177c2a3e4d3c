#include "hardware/matmul_time.hpp"

#include <initializer_list>
#include <limits>

#include "hardware/ensure.hpp"
#include "hardware/kernel_time.hpp"
#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

// 10 SMs of 1 TFLOP/s each, that is of a multiply-add every 2 ps; 1000 GB/s.
Gpu ten_sms() {
  Gpu gpu{};
  gpu.bandwidth = 1000_GBps;
  gpu.matmul_16bit = 10_TFLOPs;
  gpu.matmul_32bit = 5_TFLOPs;
  gpu.matmul_tf32 = 5_TFLOPs;
  gpu.vector_32bit = 5_TFLOPs;
  gpu.matmul_efficiency = 1;
  gpu.stream_efficiency = 1;
  gpu.sms = 10;
  return gpu;
}

KernelWork product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
  KernelWork work;
  work.work = WorkClass::kMatmul;
  work.m = m;
  work.n = n;
  work.k = k;
  work.batch = batch;
  work.flops = Flops(2 * m * n * k * batch);
  work.bytes = Bytes(2 * batch * (m * k + k * n + m * n));
  return work;
}

TEST_CASE("tiles that fill a wave take their multiply-adds at the peak") {
  // 1280 x 128 in tiles of 128 x 128: 10 tiles, one wave of 128 x 128 x 100 multiply-adds of 2 ps.
  // Tiles of 256 x 128 would leave 5 SMs idle, 64 x 64 tiles fill 4 waves of a quarter each.
  const MatmulTiling tiling = best_tiling(ten_sms(), product(1280, 128, 100));
  CHECK(tiling.time == 128 * 128 * 100 * 2_ps);
  CHECK(tiling.splits == 1);
  CHECK(matmul_time(ten_sms(), product(1280, 128, 100)) == tiling.time);
}

TEST_CASE("one row more begins another tile, and another wave where the last was full") {
  // 1281 rows: 21 tiles of 64 rows by 2: 42 tiles of 64 x 64, 5 waves instead of 4.
  const MatmulTiling tiling = best_tiling(ten_sms(), product(1281, 128, 100));
  CHECK(tiling.time == 5 * (64 * 64 * 100 * 2_ps));
  CHECK(tiling.waves == 5);
  // One row fewer saves nothing: the tile is padded.
  CHECK(best_tiling(ten_sms(), product(1279, 128, 100)).time == 128 * 128 * 100 * 2_ps);
}

TEST_CASE("a batch multiplies the tiles, not their padding into one another") {
  // 64 x 64 results, 30 of them: three waves; as one of 64 x 1920 the same.
  CHECK(best_tiling(ten_sms(), product(64, 64, 100, 30)).time == 3 * (64 * 64 * 100 * 2_ps));
  CHECK(best_tiling(ten_sms(), product(64, 1920, 100)).time == 3 * (64 * 64 * 100 * 2_ps));
  // 30 results of 32 x 32 are padded to as many tiles each.
  CHECK(best_tiling(ten_sms(), product(32, 32, 100, 30)).time == 3 * (64 * 64 * 100 * 2_ps));
}

TEST_CASE("the pipeline's ramp counts as steps of k, in every wave") {
  Gpu gpu = ten_sms();
  gpu.matmul_ramp = 100;
  // As long as k = 100 itself: twice the time. For a k of 900 a ninth.
  CHECK(best_tiling(gpu, product(1280, 128, 100)).time == 2 * (128 * 128 * 100 * 2_ps));
  CHECK(best_tiling(gpu, product(2560, 128, 100)).time == 4 * (128 * 128 * 100 * 2_ps));
  CHECK(best_tiling(gpu, product(1280, 128, 900)).time == 128 * 128 * 1000 * 2_ps);
}

TEST_CASE("large tiles load fewer operands: the best tile balances loads and idle SMs") {
  Gpu gpu = ten_sms();
  gpu.matmul_operand_cost = 64;
  // 2560 x 128: ten tiles of 256 x 128, each 256 x 128 + 64 x (256 + 128) = 57344 a step of k,
  // which take the time of 256 x 128 at the peak. Twenty of 128 x 128 would take 2 x (16384 + 64 x
  // 256) = 65536.
  MatmulTiling tiling = best_tiling(gpu, product(2560, 128, 100));
  CHECK(tiling.tile_m == 256);
  CHECK(tiling.tile_n == 128);
  CHECK(tiling.time == 256 * 128 * 100 * 2_ps);
  // 2816 x 128: eleven large tiles take two waves, 114688; 22 of 128 x 128 three, 98304; 44 of
  // 128 x 64 five of 8192 + 64 x 192 = 20480: 102400. 98304 x 32768 / 57344 x 100 x 2 ps.
  tiling = best_tiling(gpu, product(2816, 128, 100));
  CHECK(tiling.tile_m == 128);
  CHECK(tiling.tile_n == 128);
  CHECK(tiling.time == SimTime(11'234'743));
}

TEST_CASE("operands of 32 bits cost by their bytes, at whatever rate they are multiplied") {
  Gpu gpu = ten_sms();
  gpu.matmul_operand_cost = 64;
  // Twice the bytes, half the rate: the same number of multiply-adds, which take twice as long.
  KernelWork work = product(2560, 128, 100);
  work.arithmetic = Arithmetic::k32Bit;
  CHECK(best_tiling(gpu, work).time == 256 * 128 * 100 * 4_ps);
  CHECK(best_tiling(gpu, work).tile_m == 256);
}

TEST_CASE("few tiles and a long k are split over k, for the price of adding up") {
  // One tile of 64 x 64 by k = 4096 takes 64 x 64 x 4096 x 2 ps = 33.6 us on one SM of ten. Eight
  // splits of 512: 4.19 us, and 64 x 64 x 4 B written eight times, read and summed: 9 x 16384 B at
  // 1 B/ps = 0.147 us. Sixteen take two waves of 2.10 us and 0.279 us. The launch of the second
  // kernel comes on top.
  Gpu gpu = ten_sms();
  gpu.launch_latency = 1_us;
  MatmulTiling tiling = best_tiling(gpu, product(64, 64, 4096));
  CHECK(tiling.splits == 8);
  CHECK(tiling.time == 64 * 64 * 512 * 2_ps + 9 * 16384 * 1_ps + 1_us);
  // A launch that costs more than it saves: no split.
  gpu.launch_latency = 30_us;
  CHECK(best_tiling(gpu, product(64, 64, 4096)).splits == 1);
  // Shorter than twice 256: no split, whatever the launch costs.
  gpu.launch_latency = 0_us;
  CHECK(best_tiling(gpu, product(64, 64, 511)).splits == 1);
  CHECK(best_tiling(gpu, product(64, 64, 512)).splits == 2);
}

TEST_CASE("large products are bound by the peak that was measured, small ones by memory") {
  Gpu gpu = ten_sms();
  gpu.matmul_efficiency = 0.5;
  const KernelWork large = product(12800, 12800, 1000);  // 10,000 tiles of 128 x 128
  CHECK(matmul_time(gpu, large) == time_at_rate(large.flops.count, 5'000'000'000'000));
  // k = 1: 1280 x 1280 multiply-adds x 2 FLOP at 10 TFLOP/s take 0.33 us, 3.3 MB at 1 TB/s 3.3 us.
  gpu.matmul_efficiency = 1;
  const KernelWork thin = product(1280, 1280, 1);
  CHECK(kernel_time(gpu, thin) == time_at_rate(thin.bytes.count, 1'000'000'000'000));
}

TEST_CASE("starting a matmul adds to all of that") {
  Gpu gpu = ten_sms();
  const SimTime before = matmul_time(gpu, product(1280, 128, 100));
  gpu.matmul_start = 7_us;
  CHECK(matmul_time(gpu, product(1280, 128, 100)) == before + 7_us);
}

// Every shape of a small grid, on a GPU with all of its figures.
template <class Check>
void for_all_shapes(Check check) {
  for (const std::int64_t m : {1, 63, 64, 65, 128, 500, 2048, 4097}) {
    for (const std::int64_t n : {1, 64, 127, 1024, 3000}) {
      for (const std::int64_t k : {1, 64, 300, 512, 8192}) {
        for (const std::int64_t batch : {1, 7}) check(product(m, n, k, batch));
      }
    }
  }
}

Gpu full_gpu() {
  Gpu gpu = ten_sms();
  gpu.sms = 13;
  gpu.matmul_16bit = FlopRate(13'000'000'000'000);
  gpu.matmul_efficiency = 0.8;
  gpu.matmul_operand_cost = 24;
  gpu.matmul_ramp = 128;
  gpu.matmul_start = 2_us;
  gpu.stream_ramp = 1_us;
  gpu.launch_latency = 1_us;
  return gpu;
}

TEST_CASE("no matmul is faster than its FLOPs at the achieved peak or its bytes over bandwidth") {
  const Gpu gpu = full_gpu();
  for_all_shapes([&](const KernelWork& work) {
    CAPTURE(work.m, work.n, work.k, work.batch);
    const SimTime time = kernel_time(gpu, work);
    CHECK(time >= time_at_rate(work.flops.count, 13'000'000'000'000 / 10 * 8));
    CHECK(time >= time_at_rate(work.bytes.count, 1'000'000'000'000));
    CHECK(best_tiling(gpu, work).time >= time_at_rate(work.flops.count, 13'000'000'000'000));
  });
}

TEST_CASE("more peak and more bandwidth never make a matmul slower") {
  const Gpu gpu = full_gpu();
  Gpu faster = gpu;
  faster.matmul_16bit = FlopRate(15'000'000'000'000);
  Gpu wider = gpu;
  wider.bandwidth = 1100_GBps;
  for_all_shapes([&](const KernelWork& work) {
    CAPTURE(work.m, work.n, work.k, work.batch);
    CHECK(kernel_time(faster, work) <= kernel_time(gpu, work));
    CHECK(kernel_time(wider, work) <= kernel_time(gpu, work));
  });
}

TEST_CASE("more SMs of the same speed never make a matmul slower") {
  const Gpu gpu = full_gpu();
  for (const std::int64_t sms : {14, 15, 26, 27, 100}) {
    Gpu larger = gpu;
    larger.sms = sms;
    larger.matmul_16bit = FlopRate(sms * 1'000'000'000'000);
    for_all_shapes([&](const KernelWork& work) {
      CAPTURE(sms, work.m, work.n, work.k, work.batch);
      CHECK(kernel_time(larger, work) <= kernel_time(gpu, work));
    });
  }
}

TEST_CASE("more SMs at the same peak can be slower: the waves are what they are") {
  // 10 tiles of 128 x 128 on 10 SMs are one full wave; on 11 SMs with a tenth less speed each, one
  // wave that leaves one of them idle.
  Gpu gpu = ten_sms();
  const SimTime before = best_tiling(gpu, product(1280, 128, 100)).time;
  gpu.sms = 11;
  CHECK(best_tiling(gpu, product(1280, 128, 100)).time > before);
}

TEST_CASE("absurd shapes saturate instead of overflowing") {
  const std::int64_t most = 0x7fff'ffff;
  KernelWork work = product(1, 1, 1);
  work.m = work.n = work.k = most;
  work.batch = 1'000;
  CHECK(kernel_time(full_gpu(), work) == SimTime(std::numeric_limits<std::int64_t>::max() / 4));
}

TEST_CASE("a matmul without a size or on a GPU without SMs breaks an invariant") {
  CHECK_THROWS_AS(best_tiling(ten_sms(), product(0, 1, 1)), InternalError);
  CHECK_THROWS_AS(best_tiling(ten_sms(), product(1, 1, 0)), InternalError);
  Gpu gpu = ten_sms();
  gpu.sms = 0;
  CHECK_THROWS_AS(best_tiling(gpu, product(1, 1, 1)), InternalError);
}

}  // namespace
}  // namespace tidemark
