#include "tools/analysis/figures.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "hardware/quantity.hpp"

namespace tidemark::tools {
namespace {

template <class Tag>
void more(Quantity<Tag>& rate) {
  rate.count += rate.count / 10;
}

void less(SimTime& latency) {
  latency = SimTime(latency.count() / 11 * 10 + latency.count() % 11 * 10 / 11);
}

// Both directions at once carry what each carries alone.
bool full_duplex(const Pcie& pcie) { return pcie.both >= pcie.h2d + pcie.d2h; }

// A faster direction of a full-duplex link takes nothing from the other.
void set_direction(Pcie& pcie, Bandwidth Pcie::*direction, Bandwidth rate) {
  const bool full = full_duplex(pcie);
  pcie.*direction = rate;
  if (full) pcie.both = std::max(pcie.both, pcie.h2d + pcie.d2h);
}

void more_of(Pcie& pcie, Bandwidth Pcie::*direction) {
  Bandwidth rate = pcie.*direction;
  more(rate);
  set_direction(pcie, direction, rate);
}

std::string text_of(Bandwidth rate) { return rate.count > 0 ? format_bandwidth(rate) : ""; }
std::string text_of(FlopRate rate) { return rate.count > 0 ? format_flop_rate(rate) : ""; }
std::string text_of(SimTime time) { return time.count() > 0 ? format_time(time) : ""; }

// "2 x 5.0 GB/s"
std::string of_drives(const Ssd& ssd, Bandwidth rate) {
  const std::string each = text_of(rate);
  return each.empty() || ssd.drives == 1 ? each : std::to_string(ssd.drives) + " x " + each;
}

constexpr auto kFigures = std::to_array<Figure>({
    {"matmul", "GPU matmul rate",
     [](Machine& m) {
       more(m.gpu.matmul_16bit);
       more(m.gpu.matmul_32bit);
     },
     [](const Machine& m) { return text_of(m.gpu.matmul_16bit); }},
    {"vector", "GPU vector rate", [](Machine& m) { more(m.gpu.vector_32bit); },
     [](const Machine& m) { return text_of(m.gpu.vector_32bit); }},
    {"hbm_bandwidth", "HBM bandwidth", [](Machine& m) { more(m.gpu.bandwidth); },
     [](const Machine& m) { return text_of(m.gpu.bandwidth); }},
    {"hbm_capacity", "HBM capacity", [](Machine& m) { more(m.gpu.capacity); },
     [](const Machine& m) { return format_bytes(m.gpu.capacity); }},
    {"launch_latency", "launch latency", [](Machine& m) { less(m.gpu.launch_latency); },
     [](const Machine& m) { return text_of(m.gpu.launch_latency); }},
    {"pcie_h2d", "PCIe in", [](Machine& m) { more_of(m.pcie, &Pcie::h2d); },
     [](const Machine& m) { return text_of(m.pcie.h2d); }},
    {"pcie_d2h", "PCIe out", [](Machine& m) { more_of(m.pcie, &Pcie::d2h); },
     [](const Machine& m) { return text_of(m.pcie.d2h); }},
    {"pcie_both", "PCIe both ways", [](Machine& m) { more(m.pcie.both); },
     [](const Machine& m) { return full_duplex(m.pcie) ? "" : text_of(m.pcie.both); }},
    {"pcie_latency", "PCIe latency", [](Machine& m) { less(m.pcie.latency); },
     [](const Machine& m) { return text_of(m.pcie.latency); }},
    {"dram", "DRAM bandwidth", [](Machine& m) { more(m.host.bandwidth); },
     [](const Machine& m) { return text_of(m.host.bandwidth); }},
    {"cpu_optimizer", "CPU optimizer", [](Machine& m) { more(m.host.cpu_optimizer); },
     [](const Machine& m) { return text_of(m.host.cpu_optimizer); }},
    {"nvme_read", "NVMe read", [](Machine& m) { more(m.ssd.read); },
     [](const Machine& m) { return of_drives(m.ssd, m.ssd.read); }},
    {"nvme_write", "NVMe write", [](Machine& m) { more(m.ssd.write); },
     [](const Machine& m) { return of_drives(m.ssd, m.ssd.write); }},
    {"nvme_latency", "NVMe latency", [](Machine& m) { less(m.ssd.latency); },
     [](const Machine& m) { return text_of(m.ssd.latency); }},
    {"nvme_drives", "one more NVMe drive", [](Machine& m) { ++m.ssd.drives; },
     [](const Machine& m) {
       return m.ssd.read.count > 0 ? std::to_string(m.ssd.drives) : std::string();
     }},
});

// A total of both directions that is below their sum grows along, as that of a wider link would.
void set_link(Pcie& pcie, Bandwidth Pcie::*direction, std::int64_t rate) {
  const Bandwidth grown = Bandwidth(rate) - pcie.*direction;
  if (grown.count > 0) pcie.both += grown;
  set_direction(pcie, direction, Bandwidth(rate));
}

// Of all drives together.
void set_drives(Ssd& ssd, Bandwidth Ssd::*direction, std::int64_t rate) {
  ssd.*direction = Bandwidth((rate + ssd.drives - 1) / ssd.drives);
}

std::string bandwidth_text(std::int64_t rate) { return format_bandwidth(Bandwidth(rate)); }
std::string flops_text(std::int64_t rate) { return format_flop_rate(FlopRate(rate)); }

constexpr auto kMovers = std::to_array<Mover>({
    {"pcie_h2d", "PCIe in", LinkKind::kPcieH2d, [](const Machine& m) { return m.pcie.h2d.count; },
     [](Machine& m, std::int64_t rate) { set_link(m.pcie, &Pcie::h2d, rate); }, bandwidth_text},
    {"pcie_d2h", "PCIe out", LinkKind::kPcieD2h, [](const Machine& m) { return m.pcie.d2h.count; },
     [](Machine& m, std::int64_t rate) { set_link(m.pcie, &Pcie::d2h, rate); }, bandwidth_text},
    {"nvme_read", "NVMe read", LinkKind::kNvmeRead,
     [](const Machine& m) { return m.ssd.read.count * m.ssd.drives; },
     [](Machine& m, std::int64_t rate) { set_drives(m.ssd, &Ssd::read, rate); }, bandwidth_text},
    {"nvme_write", "NVMe write", LinkKind::kNvmeWrite,
     [](const Machine& m) { return m.ssd.write.count * m.ssd.drives; },
     [](Machine& m, std::int64_t rate) { set_drives(m.ssd, &Ssd::write, rate); }, bandwidth_text},
    {"dram", "DRAM", LinkKind::kDram, [](const Machine& m) { return m.host.bandwidth.count; },
     [](Machine& m, std::int64_t rate) { m.host.bandwidth = Bandwidth(rate); }, bandwidth_text},
    {"cpu_optimizer", "CPU optimizer", std::nullopt,
     [](const Machine& m) { return m.host.cpu_optimizer.count; },
     [](Machine& m, std::int64_t rate) { m.host.cpu_optimizer = FlopRate(rate); }, flops_text},
});

}  // namespace

std::span<const Figure> figures() { return kFigures; }

std::span<const Mover> movers() { return kMovers; }

}  // namespace tidemark::tools
