#include "graph/machine_paths.hpp"

#include <array>
#include <initializer_list>

#include "hardware/ensure.hpp"
#include "hardware/nvme_array.hpp"
#include "hardware/pcie_copy.hpp"

namespace tidemark {
namespace {

constexpr std::size_t position(LinkKind kind) { return static_cast<std::size_t>(kind); }

Path over(std::initializer_list<LinkKind> links, std::uint8_t share) {
  Path path;
  for (const LinkKind link : links) path.weight[position(link)] = 1;
  path.share = share;
  return path;
}

class Links {
 public:
  Links(ProgramBuilder& builder, const Machine& machine, const Transport& transport)
      : builder_(builder), machine_(machine), transport_(transport) {}

  MachinePaths add() {
    rates_ = pcie_rates(machine_.pcie);
    shares_ = pcie_shares(machine_.pcie);
    drives_ = nvme_rates(machine_.ssd);
    paths_.other_share = shares_.other;
    paths_.ssd_fixed = machine_.ssd.latency;
    paths_.pageable =
        transport_.memory == Transport::HostMemory::kPageable && !machine_.pcie.coherent;
    add_link(LinkKind::kDram, machine_.host.bandwidth);
    add_link(LinkKind::kPcieH2d, rates_.h2d);
    add_link(LinkKind::kPcieD2h, rates_.d2h);
    if (rates_.both < rates_.h2d + rates_.d2h) add_link(LinkKind::kPcieBoth, rates_.both);
    add_link(LinkKind::kNvmeRead, drives_.read);
    add_link(LinkKind::kNvmeWrite, drives_.write);
    if (drives_.both < drives_.read + drives_.write) add_link(LinkKind::kNvmeBoth, drives_.both);
    if (has(LinkKind::kDram)) {
      add_pcie_paths();
      add_ssd_paths();
    }
    if (transport_.ssd_path == Transport::SsdPath::kDirect) add_direct_paths();
    return paths_;
  }

 private:
  void add_link(LinkKind kind, Bandwidth capacity) {
    if (capacity.count <= 0) return;
    builder_.add_link({.kind = kind, .capacity = capacity});
    links_[position(kind)] = true;
  }

  bool has(LinkKind kind) const { return links_[position(kind)]; }

  PathId add_path(Path path) {
    const bool pcie = path.weight[position(LinkKind::kPcieH2d)] > 0 ||
                      path.weight[position(LinkKind::kPcieD2h)] > 0;
    const bool nvme = path.weight[position(LinkKind::kNvmeRead)] > 0 ||
                      path.weight[position(LinkKind::kNvmeWrite)] > 0;
    if (pcie && has(LinkKind::kPcieBoth)) path.weight[position(LinkKind::kPcieBoth)] = 1;
    if (nvme && has(LinkKind::kNvmeBoth)) path.weight[position(LinkKind::kNvmeBoth)] = 1;
    return builder_.add_path(path);
  }

  void add_pcie_paths() {
    const auto add = [&](LinkKind direction, Bandwidth rate, std::uint8_t share, SimTime& fixed) {
      if (!has(direction)) return kNoPath;
      Path path = over({direction, LinkKind::kDram}, share);
      fixed = copy_overhead(machine_.pcie, rate);
      if (paths_.pageable) {
        path.weight[position(LinkKind::kDram)] = kPageableDramPasses;
        path.cap = machine_.host.copy;
        fixed += first_piece(machine_.host);
      }
      return add_path(path);
    };
    paths_.h2d = add(LinkKind::kPcieH2d, rates_.h2d, shares_.h2d, paths_.h2d_fixed);
    paths_.d2h = add(LinkKind::kPcieD2h, rates_.d2h, shares_.d2h, paths_.d2h_fixed);
  }

  // One transfer at a time is on its way in each direction, so that what its requests carry is the
  // most that the drives give it.
  void add_ssd_paths() {
    const auto add = [&](LinkKind direction, Bandwidth rated) {
      if (!has(direction)) return kNoPath;
      Path path = over({direction, LinkKind::kDram}, shares_.other);
      path.cap = request_cap(machine_.ssd, rated);
      return add_path(path);
    };
    paths_.nvme_read = add(LinkKind::kNvmeRead, drives_.read);
    paths_.nvme_write = add(LinkKind::kNvmeWrite, drives_.write);
  }

  void add_direct_paths() {
    const auto add = [&](LinkKind drive, Bandwidth rated, LinkKind direction, std::uint8_t share) {
      if (!has(drive) || !has(direction)) return kNoPath;
      Path path = over({drive, direction}, share);
      path.cap = request_cap(machine_.ssd, rated);
      return add_path(path);
    };
    paths_.ssd_to_gpu_direct =
        add(LinkKind::kNvmeRead, drives_.read, LinkKind::kPcieH2d, shares_.h2d);
    paths_.gpu_to_ssd_direct =
        add(LinkKind::kNvmeWrite, drives_.write, LinkKind::kPcieD2h, shares_.d2h);
  }

  ProgramBuilder& builder_;
  const Machine& machine_;
  const Transport& transport_;
  PcieRates rates_;
  PcieShares shares_;
  NvmeRates drives_;
  std::array<bool, kLinkCount> links_{};
  MachinePaths paths_;
};

Route route(Stream stream, PathId path, SimTime fixed, bool blocks_host = false) {
  ensure(path != kNoPath, "the machine has the links that the offload needs");
  return {stream, path, fixed, blocks_host};
}

}  // namespace

MachinePaths add_links(ProgramBuilder& builder, const Machine& machine,
                       const Transport& transport) {
  return Links(builder, machine, transport).add();
}

Route MachinePaths::to_gpu(Bytes) const { return route(Stream::kCopyIn, h2d, h2d_fixed, pageable); }

Route MachinePaths::from_gpu(Bytes) const {
  return route(Stream::kCopyOut, d2h, d2h_fixed, pageable);
}

Route MachinePaths::from_ssd(Bytes) const { return route(Stream::kNvmeRead, nvme_read, ssd_fixed); }

Route MachinePaths::to_ssd(Bytes) const { return route(Stream::kNvmeWrite, nvme_write, ssd_fixed); }

Route MachinePaths::straight_to_gpu(Bytes) const {
  return route(Stream::kNvmeRead, ssd_to_gpu_direct, ssd_fixed);
}

Route MachinePaths::straight_to_ssd(Bytes) const {
  return route(Stream::kNvmeWrite, gpu_to_ssd_direct, ssd_fixed);
}

PathId add_cpu_path(ProgramBuilder& builder, Bandwidth cap, std::uint8_t share) {
  Path path = over({LinkKind::kDram}, share);
  path.cap = cap;
  return builder.add_path(path);
}

}  // namespace tidemark
