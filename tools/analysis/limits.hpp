#pragma once
// What limits a step: the time on its critical path by the resource that was at work. The shares
// add up to the step.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "graph/program.hpp"
#include "graph/step_graph.hpp"
#include "hardware/machine.hpp"
#include "sim/result.hpp"

namespace tidemark::tools {

// Names as they stand in the result JSON.
enum class Resource : std::uint8_t {
  kMatmul,
  kAttention,  // fused attention kernels; eager attention is matmuls and streaming kernels
  kStreaming,  // kernels bound by HBM
  kRecompute,  // kernels of all kinds that run a second time, their launches included
  kLaunch,     // of the other kernels, and waits for the host that issues them
  kPcieH2d,
  kPcieD2h,
  kNvmeRead,
  kNvmeWrite,
  kCpuOptimizer,
  kCommunication,
  kAllocatorCall,  // the allocator asked the driver
};
inline constexpr std::array<std::string_view, 12> kResourceNames = {
    "matmul",   "attention", "streaming",  "recompute",     "launch",        "pcie_h2d",
    "pcie_d2h", "nvme_read", "nvme_write", "cpu_optimizer", "communication", "allocator_call"};
inline constexpr int kResourceCount = static_cast<int>(kResourceNames.size());

// "streaming kernels", "PCIe to the GPU"
std::string_view spoken(Resource resource);

using ByResource = std::array<SimTime, kResourceCount>;  // indexed by Resource

// Of a step of `graph` that was played as `program` on a machine with `gpu`.
ByResource limits_of(const StepGraph& graph, const Program& program, const sim::Result& result,
                     const Gpu& gpu);

// What sets the pace of the CPU's updates: what streams their operands, or what computes.
enum class UpdatePace : std::uint8_t { kNone, kDram, kCores };  // kNone: the CPU updates nothing

// Of most bytes that the CPU streams for updates.
UpdatePace update_pace(const Program& program, const Host& host);

// The resource with what sets its pace where that is known: "CPU optimizer (DRAM)".
std::string spoken(Resource resource, UpdatePace pace);

// Those of at least half a percent, largest first: "matmul 61 %, streaming kernels 39 %".
std::string limits_text(const ByResource& limits, UpdatePace pace = UpdatePace::kNone);

}  // namespace tidemark::tools
