#include "tools/analysis/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "hardware/nvme_array.hpp"
#include "hardware/pcie_copy.hpp"
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

// One direction of the link, with what stands in the scenario for it.
struct Direction {
  Bandwidth Pcie::*own;
  Bandwidth Pcie::*remote;
};
constexpr Direction kIn = {&Pcie::h2d, &Pcie::remote_h2d};
constexpr Direction kOut = {&Pcie::d2h, &Pcie::remote_d2h};

// A faster direction of a full-duplex link takes nothing from the other.
void set_own(Pcie& pcie, Direction direction, Bandwidth rate) {
  const bool full = full_duplex(pcie);
  pcie.*direction.own = rate;
  if (full) pcie.both = std::max(pcie.both, pcie.h2d + pcie.d2h);
}

void more_of(Pcie& pcie, Direction direction) {
  Bandwidth rate = pcie.*direction.own;
  more(rate);
  set_own(pcie, direction, rate);
  more(pcie.*direction.remote);
}

FigureAmount amount_of(Bandwidth rate) { return {FigureUnit::kBytesPerSecond, rate.count}; }
FigureAmount amount_of(FlopRate rate) { return {FigureUnit::kFlopsPerSecond, rate.count}; }
FigureAmount amount_of(Frequency clock) { return {FigureUnit::kHertz, clock.count}; }
FigureAmount amount_of(Bytes bytes) { return {FigureUnit::kBytes, bytes.count}; }
FigureAmount amount_of(SimTime time) { return {FigureUnit::kTime, time.count()}; }
FigureAmount amount_of(std::int64_t count) { return {FigureUnit::kCount, count}; }
constexpr FigureAmount kNone{};

constexpr auto kFigures = std::to_array<Figure>({
    {"matmul", "GPU matmul rate",
     [](Machine& m) {
       more(m.gpu.matmul_16bit);
       more(m.gpu.matmul_32bit);
       more(m.gpu.matmul_tf32);
     },
     [](const Machine& m) { return amount_of(m.gpu.matmul_16bit); }},
    {"vector", "GPU vector rate", [](Machine& m) { more(m.gpu.vector_32bit); },
     [](const Machine& m) { return amount_of(m.gpu.vector_32bit); }},
    {"hbm_bandwidth", "HBM bandwidth", [](Machine& m) { more(m.gpu.bandwidth); },
     [](const Machine& m) { return amount_of(m.gpu.bandwidth); }},
    {"hbm_capacity", "HBM capacity", [](Machine& m) { more(m.gpu.capacity); },
     [](const Machine& m) { return amount_of(m.gpu.capacity); }},
    {"launch_latency", "launch latency", [](Machine& m) { less(m.gpu.launch_latency); },
     [](const Machine& m) { return amount_of(m.gpu.launch_latency); }},
    {"host_issue", "host's issue of operations", [](Machine& m) { less(m.host.issue); },
     [](const Machine& m) { return amount_of(m.host.issue); }},
    {"pcie_h2d", "PCIe in", [](Machine& m) { more_of(m.pcie, kIn); },
     [](const Machine& m) { return amount_of(pcie_rates(m.pcie).h2d); }},
    {"pcie_d2h", "PCIe out", [](Machine& m) { more_of(m.pcie, kOut); },
     [](const Machine& m) { return amount_of(pcie_rates(m.pcie).d2h); }},
    {"pcie_both", "PCIe both ways", [](Machine& m) { more(m.pcie.both); },
     [](const Machine& m) { return full_duplex(m.pcie) ? kNone : amount_of(m.pcie.both); }},
    {"pcie_uplink", "PCIe uplink of the switch", [](Machine& m) { more(m.pcie.uplink); },
     [](const Machine& m) { return m.pcie.gpus_on_switch > 1 ? amount_of(m.pcie.uplink) : kNone; }},
    {"pcie_latency", "PCIe latency", [](Machine& m) { less(m.pcie.latency); },
     [](const Machine& m) { return amount_of(m.pcie.latency); }},
    {"dram", "DRAM bandwidth", [](Machine& m) { more(m.host.bandwidth); },
     [](const Machine& m) { return amount_of(m.host.bandwidth); }},
    {"cpu_optimizer", "CPU compute rate",
     [](Machine& m) {
       more(m.host.cpu_optimizer);
       more(m.host.clock);
     },
     [](const Machine& m) {
       if (m.host.cpu_optimizer.count > 0) return amount_of(m.host.cpu_optimizer);
       return amount_of(m.host.clock);
     }},
    {"host_copy", "copies by a core", [](Machine& m) { more(m.host.copy); },
     [](const Machine& m) { return amount_of(m.host.copy); }},
    {"nvme_read", "NVMe read", [](Machine& m) { more(m.ssd.read); },
     [](const Machine& m) { return amount_of(nvme_rates(m.ssd).read); }},
    {"nvme_write", "NVMe write",
     [](Machine& m) {
       more(m.ssd.write);
       more(m.ssd.sustained);
     },
     [](const Machine& m) { return amount_of(nvme_rates(m.ssd).write); }},
    {"nvme_both", "NVMe both ways", [](Machine& m) { more(m.ssd.both); },
     [](const Machine& m) {
       return m.ssd.both.count > 0 ? amount_of(nvme_rates(m.ssd).both) : kNone;
     }},
    {"nvme_latency", "NVMe latency", [](Machine& m) { less(m.ssd.latency); },
     [](const Machine& m) { return amount_of(m.ssd.latency); }},
    {"nvme_drives", "one more NVMe drive", [](Machine& m) { ++m.ssd.drives; },
     [](const Machine& m) { return m.ssd.read.count > 0 ? amount_of(m.ssd.drives) : kNone; }},
});

// A total of both directions that is below their sum grows along, as that of a wider link would;
// so does the uplink of a switch, of which each GPU has its part.
void set_link(Pcie& pcie, Direction direction, std::int64_t rate) {
  const Bandwidth grown = Bandwidth(rate) - pcie.*direction.own;
  if (grown.count > 0) pcie.both += grown;
  set_own(pcie, direction, Bandwidth(rate));
  pcie.*direction.remote = Bandwidth(rate);
  if (pcie.gpus_on_switch > 1) {
    pcie.uplink = std::max(pcie.uplink, Bandwidth(rate) * pcie.gpus_on_switch);
  }
}

// `rate` is of all drives together.
void set_drives(Ssd& ssd, Bandwidth Ssd::*direction, std::int64_t rate) {
  const Bandwidth each((rate + ssd.drives - 1) / ssd.drives);
  const Bandwidth grown = each - ssd.*direction;
  if (ssd.both.count > 0 && grown.count > 0) ssd.both += grown;
  ssd.*direction = each;
  if (direction == &Ssd::write) ssd.sustained = each;
}

std::string bandwidth_text(std::int64_t rate) { return format_bandwidth(Bandwidth(rate)); }
std::string flops_text(std::int64_t rate) { return format_flop_rate(FlopRate(rate)); }

constexpr auto kMovers = std::to_array<Mover>({
    {"pcie_h2d", "PCIe in", LinkKind::kPcieH2d,
     [](const Machine& m) { return pcie_rates(m.pcie).h2d.count; },
     [](Machine& m, std::int64_t rate) { set_link(m.pcie, kIn, rate); }, bandwidth_text},
    {"pcie_d2h", "PCIe out", LinkKind::kPcieD2h,
     [](const Machine& m) { return pcie_rates(m.pcie).d2h.count; },
     [](Machine& m, std::int64_t rate) { set_link(m.pcie, kOut, rate); }, bandwidth_text},
    {"nvme_read", "NVMe read", LinkKind::kNvmeRead,
     [](const Machine& m) { return nvme_rates(m.ssd).read.count; },
     [](Machine& m, std::int64_t rate) { set_drives(m.ssd, &Ssd::read, rate); }, bandwidth_text},
    {"nvme_write", "NVMe write", LinkKind::kNvmeWrite,
     [](const Machine& m) { return nvme_rates(m.ssd).write.count; },
     [](Machine& m, std::int64_t rate) { set_drives(m.ssd, &Ssd::write, rate); }, bandwidth_text},
    {"dram", "DRAM", LinkKind::kDram, [](const Machine& m) { return m.host.bandwidth.count; },
     [](Machine& m, std::int64_t rate) { m.host.bandwidth = Bandwidth(rate); }, bandwidth_text},
    {"cpu_optimizer", "CPU compute rate", std::nullopt,
     [](const Machine& m) { return m.host.cpu_optimizer.count; },
     [](Machine& m, std::int64_t rate) { m.host.cpu_optimizer = FlopRate(rate); }, flops_text},
});

}  // namespace

std::string text_of(FigureAmount amount) {
  if (amount.count <= 0) return "";
  switch (amount.unit) {
    case FigureUnit::kBytesPerSecond:
      return format_bandwidth(Bandwidth(amount.count));
    case FigureUnit::kFlopsPerSecond:
      return format_flop_rate(FlopRate(amount.count));
    case FigureUnit::kHertz:
      return std::to_string(amount.count / 1'000'000) + " MHz";
    case FigureUnit::kBytes:
      return format_bytes(Bytes(amount.count));
    case FigureUnit::kTime:
      return format_time(SimTime(amount.count));
    case FigureUnit::kCount:
      return std::to_string(amount.count);
  }
  return "";
}

std::string full_number(FigureAmount amount) {
  if (amount.unit != FigureUnit::kTime) return std::to_string(amount.count);
  return fmt::format("{}", seconds(SimTime(amount.count)));
}

std::string_view column_of(FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kBytesPerSecond:
    case FigureUnit::kFlopsPerSecond:
    case FigureUnit::kHertz:
      return "per_s";
    case FigureUnit::kBytes:
      return "bytes";
    case FigureUnit::kTime:
      return "s";
    case FigureUnit::kCount:
      return "count";
  }
  return "";
}

std::span<const Figure> figures() { return kFigures; }

std::span<const Mover> movers() { return kMovers; }

}  // namespace tidemark::tools
