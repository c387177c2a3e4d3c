#pragma once
// One kernel or one transfer by itself, as a benchmark measures it: what it takes on a machine.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "graph/cpu_optimizer.hpp"
#include "hardware/kernel_work.hpp"
#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark::tools {

// batch products of [m, k] and [k, n].
struct MatmulWork {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Arithmetic arithmetic = Arithmetic::k16Bit;
};

// An elementwise kernel that reads and writes `bytes` together.
struct StreamWork {
  Bytes bytes;
};

struct CopyWork {
  enum class Direction : std::uint8_t { kH2d, kD2h };
  Direction direction{};
  Bytes bytes;
  bool both = false;  // while as many bytes go the other way
};

// Between the drives and host memory.
struct DriveWork {
  enum class Direction : std::uint8_t { kRead, kWrite };
  Direction direction{};
  Bytes bytes;
};

// AdamW on the CPU, fp32 states: fused of 16-bit gradients and parameters, or the framework's own
// of fp32 ones.
struct UpdateWork {
  std::int64_t parameters = 0;
  CpuKernel kernel = CpuKernel::kFused;
};

// Kernels one after the other, and `wait` for what else there is between them.
struct KernelsWork {
  std::vector<MatmulWork> matmuls;
  std::vector<StreamWork> streams;
  SimTime wait{};
};

using ComponentWork =
    std::variant<MatmulWork, StreamWork, CopyWork, DriveWork, UpdateWork, KernelsWork>;

// Time of one. A kernel's launch counts, a copy's latency too.
SimTime component_time(const Machine& machine, const ComponentWork& work);

// What a bandwidth or a rate is computed from: zero where it has none.
Flops component_flops(const ComponentWork& work);
Bytes component_bytes(const ComponentWork& work);

}  // namespace tidemark::tools
