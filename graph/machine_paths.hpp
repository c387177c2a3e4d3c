#pragma once
// The links of a machine and the ways that bytes take over them.
//
//   gpu --pcie_h2d, pcie_d2h [pcie_both]-- dram --nvme_read, nvme_write-- ssd
//
// A DMA between the host and a device passes DRAM once: it takes as much of DRAM as of its own
// link.

#include "graph/ids.hpp"
#include "graph/program_builder.hpp"
#include "hardware/machine.hpp"

namespace tidemark {

struct MachinePaths {
  PathId h2d = kNoPath;  // kNoPath: the machine states no bandwidth for it
  PathId d2h = kNoPath;
  PathId nvme_read = kNoPath;
  PathId nvme_write = kNoPath;
};

// Adds every link that has a bandwidth, and the paths over them. NVMe bandwidths are those of all
// drives together. The total of both PCIe directions is a link of its own where it is less than
// their sum.
MachinePaths add_links(ProgramBuilder& builder, const Machine& machine);

// What work of the CPU takes: DRAM, once per byte that it streams, and never more than `cap` a
// second (0: only DRAM limits it).
PathId add_cpu_path(ProgramBuilder& builder, Bandwidth cap);

}  // namespace tidemark
