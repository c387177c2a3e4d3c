#pragma once
// How long it takes to stream bytes through HBM.
//
// At the achieved bandwidth, but at half of it until the streams run full: a kernel needs a few
// round trips to memory before enough loads are on their way, and drains as slowly.
//
//   bytes / bandwidth + min(bytes / bandwidth, stream_ramp)
//
// Elementwise kernels load several elements at once only where all operands lie alike in memory;
// else each thread works out where each of its elements is (PyTorch, aten/src/ATen/native/cuda/
// CUDALoops.cuh: vectorized_elementwise_kernel and unrolled_elementwise_kernel). These reach
// strided_efficiency.

#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark {

SimTime stream_time(const Gpu& gpu, Bytes bytes, bool strided = false);

}  // namespace tidemark
