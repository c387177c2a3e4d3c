#pragma once

#include <optional>
#include <string>

#include "hardware/units.hpp"

namespace tidemark::tools {

// What the search for a plan within a budget of HBM found.
struct PlacementNote {
  Bytes budget;         // of HBM
  Bytes peak;           // of HBM, simulated, reserved by the allocator where it caches
  Bytes proxy;          // what the planner was given in the end
  int simulations = 0;  // of both steps
  bool met = false;     // false: the plan is the one that needs least, and needs more than budget
  std::string method;   // of a policy that chooses between several; else empty
  // Of all passes of a step, as the planner counts time.
  SimTime recompute{};
  std::optional<SimTime> bound;  // no plan within `proxy` recomputes for less; nothing: not known
  // Of ilp that moves: recomputation and waits for copies as its program counts them. The bound is
  // then of that, and of the program's choices.
  std::optional<SimTime> cost;
  Bytes to_host, to_ssd;         // activations that a step moves there, by a policy that moves some
  double planning_seconds = 0;   // of the machine that planned: differs from run to run

  // How far the plan may be from the best, as a share of what it recomputes, or costs.
  std::optional<double> gap() const {
    if (!bound) return std::nullopt;
    const SimTime counted = cost.value_or(recompute);
    if (counted.count() == 0) return 0;
    return static_cast<double>((counted - *bound).count()) / static_cast<double>(counted.count());
  }
};

}  // namespace tidemark::tools
