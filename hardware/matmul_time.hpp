#pragma once
// How long the arithmetic of a matrix product takes: [m, k] by [k, n], `batch` times.
//
// A BLAS library cuts the result into tiles, one thread block each, which run in waves over the
// GPU's multiprocessors (SMs); the last wave is as long as the others even if it is nearly empty.
// Running example: 2048 x 3072 in tiles of 256 x 128 on 108 SMs.
//
//   8 x 24 = 192 tiles      wave 1: 108 tiles      wave 2: 84 tiles, 24 SMs idle
//
// A step of k costs a tile tile_m x tile_n multiply-adds and tile_m + tile_n loaded operands, each
// as much as `matmul_operand_cost` multiply-adds: small tiles waste less of the last wave, large
// ones load less. The largest tile, 256 x 128, runs at its SM's share of the achieved peak; others
// cost in proportion. `matmul_ramp` steps fill and drain the pipeline. With few tiles and a long k,
// the library also splits k over several blocks, whose fp32 partial results a second kernel adds.
// The library picks the best of a small set; so does this. (NVIDIA, "Matrix Multiplication
// Background User's Guide": tile and wave quantization, and the tile sizes; CUTLASS, "Efficient
// GEMM": split-K.)

#include <cstdint>

#include "hardware/kernel_work.hpp"
#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark {

struct MatmulTiling {
  std::int64_t tile_m = 0;
  std::int64_t tile_n = 0;
  std::int64_t splits = 1;  // of k
  std::int64_t waves = 0;
  SimTime time{};  // of the waves and of adding up the splits
};

// The fastest tiling. Every size is positive.
MatmulTiling best_tiling(const Gpu& gpu, const KernelWork& work);

// matmul_start and the best tiling; without a shape (m = 0) the FLOPs at the achieved peak.
SimTime matmul_time(const Gpu& gpu, const KernelWork& work);

}  // namespace tidemark
