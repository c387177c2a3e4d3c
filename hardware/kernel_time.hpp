#pragma once
// How long a kernel takes on a GPU that has it to itself.
//
//   launches x launch latency  +  max(arithmetic, memory)
//
// Arithmetic: matmul_time.hpp, attention_time.hpp, or FLOPs over the vector peak. Memory:
// stream_time.hpp. A kernel is never faster than its FLOPs at the peak, nor than its bytes at the
// achieved bandwidth.

#include "hardware/kernel_work.hpp"
#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark {

// Zero for WorkClass::kNone. The GPU's rates are positive, its efficiencies in (0, 1]; work is not
// negative (InternalError). Saturates at a quarter of what SimTime holds.
SimTime kernel_time(const Gpu& gpu, const KernelWork& work);

}  // namespace tidemark
