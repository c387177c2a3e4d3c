#include "hardware/attention_time.hpp"

#include <algorithm>

#include "hardware/ensure.hpp"
#include "hardware/rates.hpp"

namespace tidemark {
namespace {

// flash_attn 2, csrc/flash_attn/src/flash_fwd_launch_template.h: kBlockM = 128 for heads up to 128.
constexpr std::int64_t kBlock = 128;

}  // namespace

SimTime attention_time(const Gpu& gpu, const KernelWork& work) {
  const double share = work.work == WorkClass::kAttentionBackward ? gpu.flash_backward_efficiency
                                                                  : gpu.flash_forward_efficiency;
  const std::int64_t rate = achieved(matmul_peak(gpu, work.arithmetic).count, share);
  if (work.m == 0) return time_of(work.flops.count, rate);
  ensure(work.n > 0 && work.batch > 0 && gpu.sms > 0, "attention has a shape and runs on SMs");
  const Int128 flops = Int128{work.flops.count} * (work.n + std::min(kBlock, work.n)) / work.n;
  const Int128 blocks = Int128{work.batch} * ((work.m + kBlock - 1) / kBlock);
  // Of all SMs during the average block: half of the longest.
  const Int128 tail = (flops * gpu.sms + blocks - 1) / blocks;
  return time_of(std::max(flops + tail, 2 * tail), rate);
}

}  // namespace tidemark
