#pragma once
// Policies that decide while the step runs: played in the executor, and what they did written down
// as an order of ops, so that it is simulated, checked and reported as every other plan is.

#include <memory>
#include <optional>
#include <string_view>

#include "graph/policies/policy.hpp"
#include "scenarios/scenario.hpp"
#include "tools/placement_trials.hpp"

namespace tidemark::tools {

// Whether the executor can run it: nothing else takes from HBM what ops that run again read.
bool runs_online(const Policy& policy, const scenarios::RunSpec& run);

// A steady step without recomputation, to be run with a policy that decides as it runs. In a step
// of several passes the last one decides: most is there then. Earlier ones have HBM without end.
class OnlineStep {
 public:
  // What `base` refers to, and `policy`, outlive it.
  OnlineStep(const PlanningBase& base, const Policy& policy, const scenarios::RunSpec& run);
  ~OnlineStep();
  OnlineStep(OnlineStep&&) noexcept;

  struct Outcome {
    // Nothing: memory ran out though all had been evicted that may be.
    std::optional<remat::Sequence> sequence;
    SimTime end{};
    Bytes peak;  // of HBM, whose allocator counts bytes
  };
  // `hbm` bytes from the beginning of the last pass on.
  Outcome play(Bytes hbm) const;

 private:
  struct Tied;
  std::unique_ptr<const Tied> tied_;
};

inline constexpr std::string_view kAtRunTime = "at run time";  // Placement::method of such a plan

// Its budgets are bytes of HBM as simulated. Earlier passes do what the last one did.
Planner runtime_planner(const PlanningBase& base, const Policy& policy,
                        const scenarios::RunSpec& run);

}  // namespace tidemark::tools
