#pragma once
// How fast a CPU updates parameters. An update streams its operands from DRAM and back:
//
//   rate of streaming = min(update_share x DRAM, cores x one core's streaming, compute bound)
//   time              = bytes / that rate + pages that the kernel must make / rate of making them

#include <cstdint>

#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark {

// Rate at which the system makes pages of memory that is allocated anew, all cores together.
// Calibrated on the row of the framework's own update in the same table: 2e9 parameters in 2.75 s,
// of which streaming 80 bytes each takes 1.46 s; 8 bytes each are new.
inline constexpr Bandwidth kPageMaking = Bandwidth(12'400'000'000);

// One parameter's part of an update. `vectors` are arithmetic instructions, each of which does one
// vector of fp32; `divides` says that a root and a quotient are among them.
struct CpuUpdateWork {
  std::int64_t streamed = 0;  // bytes read and written
  std::int64_t fresh = 0;     // bytes of temporaries that are allocated anew
  std::int64_t vectors = 0;
  bool divides = false;
  std::int64_t flops = 0;
};

struct CpuUpdateTime {
  Bandwidth cap;    // of streaming
  SimTime fixed{};  // pages to be made
};

// Of `elements` > 0 parameters. The host has DRAM bandwidth.
CpuUpdateTime cpu_update_time(const Host& host, const CpuUpdateWork& work, std::int64_t elements);

// What arithmetic allows, in elements a second; 0: no bound. host.cpu_optimizer over FLOPs where it
// is stated. Otherwise cores x clock over the cycles of an element: two vector instructions a
// cycle; a root and a quotient keep the divider, which is 256 bits wide at most, 11 cycles for 8
// elements (VSQRTPS 6 and VDIVPS 5 on ymm, Skylake: Agner Fog, instruction tables, recalled).
std::int64_t cpu_elements_per_second(const Host& host, const CpuUpdateWork& work);

}  // namespace tidemark
