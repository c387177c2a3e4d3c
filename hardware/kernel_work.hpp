#pragma once
// What a kernel does, as far as its time depends on it.

#include <cstdint>

#include "hardware/units.hpp"

namespace tidemark {

// What decides a kernel's time.
enum class WorkClass : std::uint8_t {
  kMatmul,             // tensor cores: m, n, k, batch
  kAttention,          // a fused causal attention kernel: m queries, n keys, k wide, batch x heads
  kStream,             // bytes over bandwidth
  kNone,               // runs on the host alone, takes no GPU time
  kAttentionBackward,  // the derivative of kAttention
};

// Of a matmul's operands. TF32 operands are stored in 32 bits and multiplied by tensor cores.
enum class Arithmetic : std::uint8_t { k16Bit, k32Bit, kTf32 };

constexpr std::int64_t operand_bytes(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::k16Bit ? 2 : 4;
}

struct KernelWork {
  WorkClass work{};
  Arithmetic arithmetic{};
  std::int64_t m = 0, n = 0, k = 0, batch = 0;  // 0: the shape is not known
  std::int32_t kernels = 1;                     // launches it stands for
  bool strided = false;  // elementwise, with operands that do not lie alike in memory
  Flops flops;
  Bytes bytes;  // read and written
};

}  // namespace tidemark
