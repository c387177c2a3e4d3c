#pragma once
// How long a kernel takes on a GPU.

#include <cstdint>

#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark {

// What decides a kernel's time.
enum class WorkClass : std::uint8_t {
  kMatmul,     // tensor cores: m, n, k, batch
  kAttention,  // a fused attention kernel
  kStream,     // bytes over bandwidth
  kNone,       // runs on the host alone, takes no GPU time
};

enum class Arithmetic : std::uint8_t { k16Bit, k32Bit };  // of a matmul's operands

struct KernelWork {
  WorkClass work{};
  Arithmetic arithmetic{};
  std::int64_t m = 0, n = 0, k = 0, batch = 0;  // of a matmul
  std::int32_t kernels = 1;                     // launches it stands for
  Flops flops;
  Bytes bytes;  // read and written
};

// max(FLOPs / (peak x efficiency), bytes / achieved bandwidth) + launches x launch latency;
// zero for WorkClass::kNone. The peak is the matmul peak of the arithmetic for kMatmul and
// kAttention, the whole vector peak for kStream. The GPU's rates are positive, its efficiencies in
// (0, 1].
SimTime kernel_time(const Gpu& gpu, const KernelWork& work);

}  // namespace tidemark
