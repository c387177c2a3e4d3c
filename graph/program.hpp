#pragma once
// The step ready to play: flat arrays, no Boost, no strings. Made by plan() from a StepGraph;
// played by sim/executor, which knows nothing of models or policies.
//
// Running example: two kernels, whose output a copy takes to the host.
//
//   instance   0 kernel A     1 kernel B          2 copy-out of t      3 CPU update
//   stream     compute        compute             copy_out             cpu_optimizer
//   depends on                                    0                    2
//   uses       t (allocates)  t, u (allocates u)  t, h (allocates h)   h
//
// t (HBM) is allocated when 0 starts and freed when the last of 0, 1, 2 has finished: memory comes
// free when the copy that holds it ends. h (host) lives from the start of 2 to the end of 3.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/category.hpp"
#include "graph/ids.hpp"
#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark {

enum class Stream : std::uint8_t {
  kCompute,
  kCopyIn,   // host to device
  kCopyOut,  // device to host
  kCpuOptimizer,
  kNvmeRead,
  kNvmeWrite,
  kCommunication,
  // What forward and backward wait for does not queue behind what the optimizer moves.
  kFetch,      // host to device: activations and parameters
  kNvmeFetch,  // SSD to host, on their way to the device
};
inline constexpr std::array<std::string_view, 9> kStreamNames = {
    "compute",    "copy_in",       "copy_out", "cpu_optimizer", "nvme_read",
    "nvme_write", "communication", "fetch",    "nvme_fetch"};
inline constexpr int kStreamCount = static_cast<int>(kStreamNames.size());

constexpr std::string_view name_of(Stream stream) {
  return kStreamNames[static_cast<std::size_t>(stream)];
}

// Links that transfers share max-min fairly.
enum class LinkKind : std::uint8_t {
  kPcieH2d,
  kPcieD2h,
  kPcieBoth,
  kDram,
  kNvmeRead,
  kNvmeWrite,
  kNvmeBoth,
};
inline constexpr std::array<std::string_view, 7> kLinkNames = {
    "pcie_h2d", "pcie_d2h", "pcie_both", "dram", "nvme_read", "nvme_write", "nvme_both"};
inline constexpr int kLinkCount = static_cast<int>(kLinkNames.size());

struct Link {
  LinkKind kind{};
  Bandwidth capacity;
};

// What a transfer occupies: a transfer at rate r takes weight[l] * r of link l (0: not on the
// path), and never runs faster than `cap`. Where transfers compete, their rates are to each other
// as their shares.
struct Path {
  std::array<std::uint8_t, kLinkCount> weight{};  // indexed by LinkKind
  std::uint8_t share = 1;
  Bandwidth cap;  // 0: no cap of its own
};

// Bytes in one tier. Allocated when the first instance that uses it starts (unless `initial`: there
// before the step) and freed when the last instance that uses it has finished (unless `persistent`:
// there after the step).
struct Buffer {
  Bytes bytes;
  Tier tier = Tier::kHbm;
  Category category{};
  bool initial = false;
  bool persistent = false;
  TensorId tensor = kNoTensor;  // whose bytes these are, for names; kNoTensor: see `name`
  NameId name{kNoIndex};        // a row of StepGraph::names when there is no tensor
};

// A kernel, a transfer or a CPU update. Runs on its stream in the order of the stream's list, after
// all of its dependencies have finished: first `fixed` (a kernel's duration; a transfer's latency),
// then, if bytes > 0, `bytes` over `path`. The host issues the compute stream's instances in order,
// ahead of the GPU where it can; none starts before it has been issued.
struct Instance {
  Stream stream{};
  Phase phase{};
  OpId op = kNoOp;          // the StepGraph op that it plays; kNoOp for transfers and CPU work
  NameId name{kNoIndex};    // what it is called when there is no op
  std::int16_t layer = -1;  // -1: outside the blocks
  PathId path = kNoPath;
  SimTime fixed{};
  Bytes bytes;
  SimTime issue{};  // compute stream: what issuing it costs the host
};

struct Program {
  std::vector<Instance> instances;
  std::vector<Buffer> buffers;
  std::vector<Link> links;
  std::vector<Path> paths;
  std::array<std::vector<InstanceId>, kStreamCount> order;  // per stream, every instance once

  // CSR: row i is [first[i], first[i + 1]); first has one more entry than instances.
  std::vector<std::uint32_t> first_dependency;
  std::vector<InstanceId> dependency;
  std::vector<std::uint32_t> first_use;  // buffers an instance reads, writes or merely keeps alive
  std::vector<BufferId> use;             // no buffer twice in one row

  std::array<Bytes, kTierCount> capacity{};  // indexed by Tier

  std::span<const InstanceId> dependencies(InstanceId i) const {
    return {dependency.data() + first_dependency[index(i)],
            dependency.data() + first_dependency[index(i) + 1]};
  }
  std::span<const BufferId> uses(InstanceId i) const {
    return {use.data() + first_use[index(i)], use.data() + first_use[index(i) + 1]};
  }
};

}  // namespace tidemark
