#pragma once
// What planners of placement share: the steps that they plan for, and plans played as steps.

#include <memory>
#include <span>

#include "graph/offload.hpp"
#include "graph/remat/from_step.hpp"
#include "graph/step_graph.hpp"
#include "scenarios/scenario.hpp"
#include "tools/placement_note.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {

// Steps of a run without recomputation and what planners see of them: for all policies alike.
struct PlanningBase {
  StepGraph first, steady;
  remat::StepProblem step;  // of `steady`
};

std::shared_ptr<const PlanningBase> planning_base(const scenarios::RunSpec& run);

// Steps of `run` that follow `sequence`, and move activations as `run.offload` says, or `moved`,
// tensors of the problem, to the host.
Steps steps_of(const PlanningBase& base, const scenarios::RunSpec& run,
               const remat::Sequence& sequence, std::shared_ptr<const PlacementNote> note,
               std::span<const remat::TensorIndex> moved = {});

// Of the first and of the steady step, without limits.
struct Trial {
  Bytes peak;        // of HBM, reserved by the allocator where it caches
  Bytes host, ssd;   // most that lies there at once
  SimTime time{};    // of the steady step
  bool room = true;  // for what lies on the host and the SSD
};

Trial try_out(const scenarios::RunSpec& run, const Steps& steps);

}  // namespace tidemark::tools
