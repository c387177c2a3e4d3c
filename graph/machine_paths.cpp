#include "graph/machine_paths.hpp"

#include <initializer_list>

namespace tidemark {
namespace {

bool add(ProgramBuilder& builder, LinkKind kind, Bandwidth capacity) {
  if (capacity.count <= 0) return false;
  builder.add_link({.kind = kind, .capacity = capacity});
  return true;
}

Path over(std::initializer_list<LinkKind> links) {
  Path path;
  for (const LinkKind link : links) path.weight[static_cast<std::size_t>(link)] = 1;
  return path;
}

}  // namespace

MachinePaths add_links(ProgramBuilder& builder, const Machine& machine) {
  const Pcie& pcie = machine.pcie;
  const Ssd& ssd = machine.ssd;
  add(builder, LinkKind::kDram, machine.host.bandwidth);
  const bool h2d = add(builder, LinkKind::kPcieH2d, pcie.h2d);
  const bool d2h = add(builder, LinkKind::kPcieD2h, pcie.d2h);
  const bool shared =
      h2d && d2h && pcie.both < pcie.h2d + pcie.d2h && add(builder, LinkKind::kPcieBoth, pcie.both);
  const bool read = add(builder, LinkKind::kNvmeRead, ssd.read * ssd.drives);
  const bool write = add(builder, LinkKind::kNvmeWrite, ssd.write * ssd.drives);

  const auto pcie_path = [&](LinkKind direction) {
    Path path = over({direction, LinkKind::kDram});
    if (shared) path.weight[static_cast<std::size_t>(LinkKind::kPcieBoth)] = 1;
    return builder.add_path(path);
  };
  MachinePaths paths;
  if (machine.host.bandwidth.count <= 0) return paths;
  if (h2d) paths.h2d = pcie_path(LinkKind::kPcieH2d);
  if (d2h) paths.d2h = pcie_path(LinkKind::kPcieD2h);
  if (read) paths.nvme_read = builder.add_path(over({LinkKind::kNvmeRead, LinkKind::kDram}));
  if (write) paths.nvme_write = builder.add_path(over({LinkKind::kNvmeWrite, LinkKind::kDram}));
  return paths;
}

PathId add_cpu_path(ProgramBuilder& builder, Bandwidth cap) {
  Path path = over({LinkKind::kDram});
  path.cap = cap;
  return builder.add_path(path);
}

}  // namespace tidemark
