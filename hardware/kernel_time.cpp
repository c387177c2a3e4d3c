#include "hardware/kernel_time.hpp"

#include <algorithm>

#include "hardware/attention_time.hpp"
#include "hardware/ensure.hpp"
#include "hardware/matmul_time.hpp"
#include "hardware/rates.hpp"
#include "hardware/stream_time.hpp"

namespace tidemark {
namespace {

SimTime arithmetic_time(const Gpu& gpu, const KernelWork& work) {
  switch (work.work) {
    case WorkClass::kMatmul:
      return matmul_time(gpu, work);
    case WorkClass::kAttention:
    case WorkClass::kAttentionBackward:
      return attention_time(gpu, work);
    case WorkClass::kStream:
      return time_of(work.flops.count, achieved(gpu.vector_32bit.count, 1));
    case WorkClass::kNone:
      break;
  }
  return SimTime(0);
}

}  // namespace

SimTime kernel_time(const Gpu& gpu, const KernelWork& work) {
  if (work.work == WorkClass::kNone) return SimTime(0);
  ensure(work.flops.count >= 0 && work.bytes.count >= 0, "a kernel's work is not negative");
  ensure(gpu.launch_latency.count() >= 0 && work.kernels >= 0, "launches take no negative time");
  const SimTime longest =
      std::max(arithmetic_time(gpu, work), stream_time(gpu, work.bytes, work.strided));
  return saturating_sum(longest, Int128{gpu.launch_latency.count()} * work.kernels);
}

}  // namespace tidemark
