#pragma once
// A user's measured times, read from a CSV file. The first line names the columns, in any order;
// cells that say nothing of a row's kind stay empty:
//
//   kind,m,n,k,batch,dtype,bytes,direction,parameters,scenario,time
//   matmul,4096,4096,4096,,bf16,,,,,512 us            one product, batch 1 unless stated
//   stream,,,,,,1 GiB,,,,1.31 ms                      bytes read and written by one kernel
//   copy,,,,,,256 MiB,h2d,,,10.4 ms                   pinned, h2d or d2h
//   drive,,,,,,1 GB,read,,,0.31 s                     read or write
//   update,,,,,,,,1000000000,,0.22 s                  parameters of one CPU AdamW, bf16-mixed
//   step,,,,,,,,,my-run.yaml,0.84 s                   the first strategy of a scenario file

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/diagnostic.hpp"
#include "scenarios/scenario.hpp"
#include "tools/validation/component.hpp"

namespace tidemark::tools {

enum class TimingKind : std::uint8_t { kMatmul, kStream, kCopy, kDrive, kUpdate, kStep };
inline constexpr std::array<std::string_view, 6> kTimingKindNames = {"matmul", "stream", "copy",
                                                                     "drive",  "update", "step"};

struct Timing {
  TimingKind kind{};
  ComponentWork work;  // unless it is a step
  std::optional<scenarios::RunSpec>
      run;  // of a step; its GPU is replaced by the one that is fitted
  SimTime time{};
  int line = 0;
  std::string text;  // what was measured, for reports: "matmul 4096 x 4096 x 4096 bf16"
};

// Throws ScenarioError with every fault, each with its line and column. Appends the files that the
// scenarios of its steps are read from to `inputs`.
std::vector<Timing> read_timings(const std::shared_ptr<const scenarios::Source>& source,
                                 std::vector<std::string>* inputs = nullptr);

// What it takes on a machine.
SimTime simulated_time(const Machine& machine, const Timing& timing);

}  // namespace tidemark::tools
