#include "tools/analysis/what_if.hpp"

#include "hardware/ensure.hpp"

namespace tidemark::tools {

WhatIf WhatIfs::play(const Machine& machine) const {
  const Steps steps = steps_.on(machine);
  PlayedSteps played = steps.play(run_.allocator, sim::Capacity::kEnforced);
  WhatIf result;
  result.fits = played.fits();
  if (!result.fits) played = steps.play(run_.allocator, sim::Capacity::kIgnored);
  ensure(played.steady.has_value(), "a step without limits comes to its end");
  result.step_time = played.steady->end;
  result.moved = played.steady->moved;
  result.updates_on_cpu =
      !steps.steady().program.order[static_cast<std::size_t>(Stream::kCpuOptimizer)].empty();
  result.critical_path =
      limits_of(steps.steady().graph, steps.steady().program, *played.steady, machine.gpu);
  result.update_pace = update_pace(steps.steady().program, machine.host);
  return result;
}

SimTime WhatIfs::step_time(const Machine& machine, bool fits) const {
  const Steps steps = steps_.on(machine);
  const sim::Capacity capacity = fits ? sim::Capacity::kEnforced : sim::Capacity::kIgnored;
  std::optional<sim::Result> steady = steps.play_steady(run_.allocator, capacity);
  if (!steady || steady->out_of_memory) {
    steady = steps.play_steady(run_.allocator, sim::Capacity::kIgnored);
  }
  ensure(steady.has_value(), "a step without limits comes to its end");
  return steady->end;
}

}  // namespace tidemark::tools
