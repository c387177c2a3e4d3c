#include "hardware/matmul_time.hpp"

#include <array>

#include "hardware/ensure.hpp"
#include "hardware/rates.hpp"

namespace tidemark {
namespace {

struct Tile {
  std::int64_t m, n;
};

// NVIDIA, "Matrix Multiplication Background User's Guide", section 4.2: thread block tiles that
// cuBLAS has, from the most efficient to the most parallel.
constexpr auto kTiles = std::to_array<Tile>(
    {{256, 128}, {128, 256}, {128, 128}, {256, 64}, {64, 256}, {128, 64}, {64, 128}, {64, 64}});

// cuBLAS and CUTLASS split k over so many blocks at most, and leave each this much.
constexpr auto kSplits = std::to_array<std::int64_t>({1, 2, 4, 8, 16});
constexpr std::int64_t kLeastSplit = 256;

template <class Integer>
Integer pieces(Integer size, Integer of) {
  return (size + of - 1) / of;
}

// Partial results of the splits are written in fp32, read again, and the sum is written.
SimTime reduction_time(const Gpu& gpu, const KernelWork& work, std::int64_t splits) {
  if (splits == 1) return SimTime(0);
  const Int128 bytes = Int128{4} * work.batch * work.m * work.n * (splits + 1);
  const SimTime stream = time_of(bytes, achieved(gpu.bandwidth.count, gpu.stream_efficiency));
  return saturating_sum(stream, gpu.launch_latency.count() + gpu.stream_ramp.count());
}

}  // namespace

MatmulTiling best_tiling(const Gpu& gpu, const KernelWork& work) {
  ensure(work.m > 0 && work.n > 0 && work.k > 0 && work.batch > 0, "a matmul has a shape");
  ensure(gpu.sms > 0 && gpu.matmul_operand_cost >= 0 && gpu.matmul_ramp >= 0,
         "a GPU has SMs, and tiles cost no negative time");
  const std::int64_t peak = matmul_peak(gpu, work.arithmetic).count;
  const std::int64_t rate = achieved(peak, gpu.matmul_efficiency);
  // Operands come in bytes; their cost is that of 16-bit ones beside multiply-adds in 16 bits.
  ensure(gpu.matmul_16bit.count > 0, "a device's peak rate is positive");
  const Int128 cost = Int128{gpu.matmul_operand_cost} * operand_bytes(work.arithmetic) * peak /
                      (2 * gpu.matmul_16bit.count);
  const auto step = [&](Tile tile) { return Int128{tile.m} * tile.n + cost * (tile.m + tile.n); };
  constexpr Tile kLargest = kTiles.front();
  MatmulTiling best;
  for (const Tile tile : kTiles) {
    const Int128 blocks = Int128{pieces(work.m, tile.m)} * pieces(work.n, tile.n) * work.batch;
    for (const std::int64_t splits : kSplits) {
      if (splits > 1 && work.k < splits * kLeastSplit) break;
      const Int128 waves = pieces(blocks * splits, Int128{gpu.sms});
      // Multiply-adds in whose time the largest tile would do as much, on all SMs.
      const Int128 steps = Int128{pieces(work.k, splits) + gpu.matmul_ramp} * waves * gpu.sms;
      const Int128 adds = pieces(steps * step(tile) * kLargest.m * kLargest.n, step(kLargest));
      const SimTime reduction = reduction_time(gpu, work, splits);
      const SimTime time = saturating_sum(time_of(2 * adds, rate), reduction.count());
      if (best.tile_m != 0 && time >= best.time) continue;
      best = {tile.m, tile.n, splits, static_cast<std::int64_t>(waves), time};
    }
  }
  return best;
}

SimTime matmul_time(const Gpu& gpu, const KernelWork& work) {
  if (work.m == 0) {
    const std::int64_t peak = matmul_peak(gpu, work.arithmetic).count;
    return time_of(work.flops.count, achieved(peak, gpu.matmul_efficiency));
  }
  return saturating_sum(best_tiling(gpu, work).time, gpu.matmul_start.count());
}

}  // namespace tidemark
