#pragma once
// Machines with round figures.

#include "hardware/machine.hpp"

namespace tidemark::test {

// A GPU that streams 1 byte a picosecond and launches for nothing; 10 GB/s out of it, 20 GB/s into
// it, DRAM of 100 GB/s, one drive that reads 4 and writes 2 GB/s. Nothing is taken before the step.
inline Machine round_machine() {
  Machine machine{};  // durations have no value of their own
  machine.gpu.capacity = 80_GB;
  machine.gpu.bandwidth = 1000_GBps;
  machine.gpu.matmul_16bit = 100_TFLOPs;
  machine.gpu.matmul_32bit = 10_TFLOPs;
  machine.gpu.matmul_tf32 = 50_TFLOPs;
  machine.gpu.vector_32bit = 10_TFLOPs;
  machine.gpu.matmul_efficiency = 1;
  machine.gpu.stream_efficiency = 1;
  machine.host.capacity = 1000_GB;
  machine.host.bandwidth = 100_GBps;
  machine.host.cpu_optimizer = 1_TFLOPs;
  machine.ssd.capacity = 2000_GB;
  machine.ssd.read = 4_GBps;
  machine.ssd.write = 2_GBps;
  machine.ssd.latency = 100_us;
  machine.pcie.h2d = 20_GBps;
  machine.pcie.d2h = 10_GBps;
  machine.pcie.both = 30_GBps;
  machine.pcie.latency = 10_us;
  return machine;
}

}  // namespace tidemark::test
