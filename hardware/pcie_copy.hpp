#pragma once
// How fast a copy between host and GPU is. Alone, n bytes take
//
//   latency + (n + half_size) / rate
//
// so that a copy of half_size bytes runs at half of the rate (R. Hockney, "The communication
// challenge for MPP", 1994: n_1/2). The rate is the link's own, less where several GPUs behind one
// switch copy at once, or where the memory belongs to the other socket.

#include <cstdint>

#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark {

struct PcieRates {
  Bandwidth h2d;
  Bandwidth d2h;
  Bandwidth both;  // of both directions at once, at most h2d + d2h
};

// What one GPU has: each of `gpus_on_switch` gets its part of the uplink. Remote memory brings the
// rates down to those stated for it, and their total by the same factor. Rates that are not stated
// are 0.
PcieRates pcie_rates(const Pcie& pcie);

// Before the bytes flow at `rate` > 0: the latency and half_size over the rate.
SimTime copy_overhead(const Pcie& pcie, Bandwidth rate);

// A copy from or to pageable memory: the driver lets one core copy it, piece by piece, through a
// page-locked buffer, while the GPU copies the piece before. DRAM is read and written by the core
// and passed once by the GPU. (CUDA C++ Best Practices Guide, "Pinned Memory"; CUDA Driver API,
// "API synchronization behavior": such a copy returns once it is staged or done.)
inline constexpr std::uint8_t kPageableDramPasses = 3;
// Assumed: no published figure. Pieces of a few MiB keep the copy engine busy.
inline constexpr Bytes kPageablePiece = Bytes(std::int64_t{2} << 20);

// Until the core has copied the first piece; 0 where the host states no speed of a copy.
SimTime first_piece(const Host& host);

// Where both directions compete for their total, they get it as h2d : d2h; work that is on neither
// of them competes with `other`. 1 : 1 : 1 where the directions are alike.
struct PcieShares {
  std::uint8_t h2d = 1;
  std::uint8_t d2h = 1;
  std::uint8_t other = 1;
};
PcieShares pcie_shares(const Pcie& pcie);

}  // namespace tidemark
