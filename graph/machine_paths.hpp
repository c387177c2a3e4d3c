#pragma once
// The links of a machine and the ways that bytes take over them.
//
//   gpu --pcie_h2d, pcie_d2h [pcie_both]-- dram --nvme_read, nvme_write [nvme_both]-- ssd
//
// A DMA between the host and a device passes DRAM once: it takes as much of DRAM as of its own
// link. A copy from or to pageable memory passes it three times, and no faster than a core copies.
// Whoever moves bytes asks for a route and makes an instance of it.

#include "graph/ids.hpp"
#include "graph/program_builder.hpp"
#include "graph/transport.hpp"
#include "hardware/machine.hpp"

namespace tidemark {

// One transfer: what its instance says, and what it needs besides source and target.
struct Route {
  Stream stream{};
  PathId path = kNoPath;
  SimTime fixed{};           // before its bytes flow at the path's rate
  bool blocks_host = false;  // the host issues no kernel between its start and its end
};

struct MachinePaths {
  PathId h2d = kNoPath;  // kNoPath: the machine states no bandwidth for it
  PathId d2h = kNoPath;
  PathId nvme_read = kNoPath;
  PathId nvme_write = kNoPath;
  PathId ssd_to_gpu_direct = kNoPath;  // kNoPath too where the transport is not direct
  PathId gpu_to_ssd_direct = kNoPath;

  // How `bytes` > 0 move. There must be the path.
  Route to_gpu(Bytes bytes) const;
  Route from_gpu(Bytes bytes) const;
  Route from_ssd(Bytes bytes) const;  // to the host
  Route to_ssd(Bytes bytes) const;    // from the host

  // Past the host; where the transport is direct and both links are there.
  bool direct() const { return ssd_to_gpu_direct != kNoPath && gpu_to_ssd_direct != kNoPath; }
  Route straight_to_gpu(Bytes bytes) const;
  Route straight_to_ssd(Bytes bytes) const;

  SimTime h2d_fixed{};
  SimTime d2h_fixed{};
  SimTime ssd_fixed{};
  bool pageable = false;
  std::uint8_t other_share = 1;  // of paths that PCIe is not on
};

// Adds every link that has a bandwidth, and the paths over them. NVMe bandwidths are those of all
// drives together. The total of both directions, of PCIe and of NVMe, is a link of its own where it
// is less than their sum.
MachinePaths add_links(ProgramBuilder& builder, const Machine& machine,
                       const Transport& transport = {});

// What work of the CPU takes: DRAM, once per byte that it streams, and never more than `cap` a
// second (0: only DRAM limits it). It competes for DRAM with `share`.
PathId add_cpu_path(ProgramBuilder& builder, Bandwidth cap, std::uint8_t share = 1);

}  // namespace tidemark
