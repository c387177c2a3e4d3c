#include "hardware/stream_time.hpp"

#include <algorithm>

#include "hardware/rates.hpp"

namespace tidemark {

SimTime stream_time(const Gpu& gpu, Bytes bytes, bool strided) {
  const double share = strided ? gpu.strided_efficiency : gpu.stream_efficiency;
  const SimTime full = time_of(bytes.count, achieved(gpu.bandwidth.count, share));
  return saturating_sum(full, std::min(full, gpu.stream_ramp).count());
}

}  // namespace tidemark
