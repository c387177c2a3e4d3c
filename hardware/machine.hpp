#pragma once
// What a step runs on, as plain data. Values come from the device catalogue
// (hardware/devices/*.yaml, each figure there with its source) and from the `hardware:` section of
// a scenario.
//
//        +-------+   pcie (h2d, d2h)   +--------+   nvme (read, write)   +-------+
//        |  gpu  |---------------------|  host  |------------------------|  ssd  |
//        |  HBM  |                     |  DRAM  |                        | n drives
//        +-------+                     +--------+                        +-------+

#include <cstdint>
#include <string>

#include "hardware/units.hpp"

namespace tidemark {

enum class Tier : std::uint8_t { kHbm, kHost, kSsd };
inline constexpr int kTierCount = 3;

// How fast one GPU computes and streams.
struct Gpu {
  std::string name;          // catalogue name, "a100-80gb-sxm"
  std::string description;   // "NVIDIA A100 SXM4 80 GB"
  Bytes capacity;            // HBM that the driver reports as usable in all, before the context
  Bandwidth bandwidth;       // HBM peak
  FlopRate matmul_16bit;     // dense tensor-core peak, bf16 (or fp16 where bf16 is not supported)
  FlopRate matmul_32bit;     // peak of an fp32 matmul as frameworks run it by default
  FlopRate matmul_tf32;      // peak of an fp32 matmul that may round its operands to TF32
  FlopRate vector_32bit;     // non-tensor fp32 peak
  double matmul_efficiency;  // share of the matmul peak that large products reach, (0, 1]
  double stream_efficiency;  // share of the HBM peak that a streaming kernel reaches, (0, 1]
  double strided_efficiency = 1;  // the same where operands are broadcast or not contiguous
  SimTime launch_latency;  // from a kernel's end to the next one's start, added to each kernel
  SimTime stream_ramp{};   // what starting and draining a streaming kernel costs at most
  std::int64_t sms = 1;    // multiprocessors: thread blocks run in waves of so many
  std::int64_t matmul_operand_cost = 0;  // what loading one costs a tile, in multiply-adds
  std::int64_t matmul_ramp = 0;          // steps of k that filling and draining a tile cost
  SimTime matmul_start{};                // of a matmul kernel, beside its launch
  double flash_forward_efficiency = 1;   // share of the matmul peak, fused attention, (0, 1]
  double flash_backward_efficiency = 1;
};

// HBM that is taken before the first tensor.
struct Runtime {
  Bytes context;    // CUDA context and loaded kernels
  Bytes workspace;  // library workspaces (cuBLAS)
};

struct Host {
  std::string name;
  std::string description;
  Bytes capacity;           // DRAM that training may use
  Bandwidth bandwidth;      // DRAM, achievable, all readers and writers together
  std::int64_t cores = 0;   // of all sockets; 0: not stated, computing then takes no time
  std::int64_t vector = 0;  // bits of a vector register
  Frequency clock;          // of a core while all of them compute
  FlopRate cpu_optimizer;   // bound of a CPU optimizer; 0: that of cores, vector and clock
  Bandwidth copy;           // bytes that one core copies a second; 0: not stated
  double update_share = 1;  // of the bandwidth, what a vectorised update of large arrays reaches
  SimTime issue{};          // of one thread, to issue one operation to the GPU
};

enum class WriteCache : std::uint8_t { kFull, kEmpty };

struct Ssd {
  std::string name;
  std::string description;
  Bytes capacity;              // of one drive
  Bandwidth read;              // of one drive, sequential
  Bandwidth write;             // of one drive, sequential
  SimTime latency;             // of one request
  std::int64_t drives = 1;     // striped (RAID-0): capacity and bandwidth multiply
  Bandwidth sustained;         // of writes once the SLC cache is full; 0: as `write`
  WriteCache cache{};          // which of them holds
  Bandwidth both;              // of one drive, reads and writes at once; 0: read + write
  Bytes request;               // of one request; 0: large enough for the rated bandwidth
  std::int64_t in_flight = 1;  // requests of that size at once, over all drives
  Bytes endurance;             // that may be written to one drive, by its rating; 0: not stated
};

enum class Numa : std::uint8_t { kLocal, kRemote };

struct Pcie {
  std::string name;
  std::string description;
  Bandwidth h2d;    // host to device, achieved with pinned memory
  Bandwidth d2h;    // device to host
  Bandwidth both;   // total of both directions at once; h2d + d2h where the link is full duplex
  SimTime latency;  // from the call until the first byte
  double h2d_share = 0.5;           // of `both` that goes to the device, (0, 1)
  Bytes half_size;                  // whose copy takes twice its bytes over the bandwidth
  std::int64_t gpus_on_switch = 1;  // that copy at once behind one uplink
  Bandwidth uplink;                 // of the switch, per direction; 0: as the link
  Numa numa{};                      // of the host memory, as seen from the GPU
  Bandwidth remote_h2d;             // from the other socket's memory; 0: not stated
  Bandwidth remote_d2h;
  bool coherent = false;  // the GPU reads and writes pageable memory in place
};

struct Machine {
  std::string name;
  Gpu gpu;
  Runtime runtime;
  Host host;
  Ssd ssd;
  Pcie pcie;
};

}  // namespace tidemark
