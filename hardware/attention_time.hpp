#pragma once
// How long the arithmetic of a fused causal attention kernel takes: m queries on n keys, heads
// k wide, `batch` sequences x heads.
//
// Each thread block does 128 queries (backward: keys) of one head. The FLOPs of KernelWork are
// those of the lower half of the score matrix; the blocks on the diagonal are computed whole, which
// adds 128 / n. Blocks differ: the longest does twice the average. SMs take the next block when
// they are done, so that the end of the kernel wastes about half of the longest block on each; and
// no kernel is shorter than its longest block. (FlashAttention-2, arXiv 2307.08691: blocks, causal
// masks, parallelism; Graham 1969 bounds such a list schedule by one longest block.)

#include "hardware/kernel_work.hpp"
#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark {

// Without a shape (m = 0) the FLOPs at the achieved rate.
SimTime attention_time(const Gpu& gpu, const KernelWork& work);

}  // namespace tidemark
