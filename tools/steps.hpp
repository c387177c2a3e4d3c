#pragma once
// The two steps of a run, planned, and how they follow on one another.
//
//   first step     begins with an empty allocator: pays for every segment, makes optimizer states
//   second step    begins with what the first left: weights and states where they are, the rest
//                  cached. May open segments, for states now lie where activations were cut from
//   steady step    the first later step that asks the driver for nothing, or the fifth of them
//
// An allocator that keeps no cache has nothing to hand on: there the steady step is the second.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/program.hpp"
#include "graph/step_graph.hpp"
#include "scenarios/scenario.hpp"
#include "sim/options.hpp"
#include "sim/result.hpp"

namespace tidemark::tools {

inline constexpr int kMostLaterSteps = 5;

struct PlacementNote;  // tools/placement_note.hpp

struct PlannedStep {
  StepGraph graph;
  Program program;
  std::size_t lowered_names = 0;  // of graph.names; those of transfers and buffers follow
  // Of graph; activations that its checkpoint policy moves to the host, by name.
  std::vector<TensorId> moved{};
};

PlannedStep plan_step(const scenarios::RunSpec& run, StepGraph graph, const Offload& offload,
                      std::vector<TensorId> moved = {});

// Activations of both steps that a checkpoint policy moves to the host, by name.
struct MovedTensors {
  std::vector<TensorId> first, steady;
};

struct PlayedSteps {
  sim::Result first;                  // empty where it was not asked for
  std::optional<sim::Result> steady;  // nullopt: the first step left no allocator to go on with
  int later_steps = 0;                // played until nothing changed, the steady one included

  bool fits() const { return !first.out_of_memory && steady.has_value() && !steady->out_of_memory; }
};

// A step of the run, with what its checkpoint policy recomputes.
StepGraph lower_run(const scenarios::RunSpec& run, StepKind kind);

// Most that the allocator of `tier` had taken, with what is set aside beside it.
Bytes reserved_peak(const Program& program, const sim::Result& result, Tier tier, bool keeps_cache);

// Looks on while steps are played with an allocator that keeps a cache.
class StepWatch {
 public:
  virtual ~StepWatch() = default;
  // Returns what is to hand out HBM in the step: `hbm`, or what stands before it.
  virtual sim::Allocator* before(sim::Allocator& hbm, const PlannedStep& step,
                                 std::span<const sim::KeptBuffer> carried) = 0;
  virtual void after(const sim::Result& result) = 0;
};

class Steps {
 public:
  explicit Steps(const scenarios::RunSpec& run);
  // Steps that were lowered, and what was found when they were.
  Steps(const scenarios::RunSpec& run, StepGraph first, StepGraph steady,
        std::shared_ptr<const PlacementNote> note, MovedTensors moved = {});

  // The same steps on another machine: planned anew, not lowered anew.
  Steps on(const Machine& machine) const;

  // With HBM in the hands of `allocator`, and the machine's capacities or as much as it takes.
  PlayedSteps play(const scenarios::AllocatorChoice& allocator, sim::Capacity capacity,
                   StepWatch* watch = nullptr) const;

  // The steady step alone; the first is played too where it leaves a cache.
  std::optional<sim::Result> play_steady(const scenarios::AllocatorChoice& allocator,
                                         sim::Capacity capacity) const;

  // What a policy that plans for a budget found; nullptr: the policy is another.
  const PlacementNote* placement() const { return note_.get(); }

  const PlannedStep& first() const { return first_; }
  const PlannedStep& steady() const { return steady_; }

 private:
  PlayedSteps play_steps(const scenarios::AllocatorChoice& choice, sim::Capacity capacity,
                         bool needs_first, StepWatch* watch) const;

  scenarios::RunSpec run_;
  PlannedStep first_, steady_;
  std::shared_ptr<const PlacementNote> note_;
};

// What stays in the allocator after a step and is there at the beginning of the next: initial
// buffers of `next` and what `before` kept, paired by name and size. `left` gets the rest of what
// was kept, which the next step does not know.
std::vector<sim::KeptBuffer> carried_over(const PlannedStep& before,
                                          std::span<const sim::KeptBuffer> kept,
                                          const PlannedStep& next,
                                          std::vector<sim::KeptBuffer>& left);

// The tensor's or the buffer's name; empty: it has none.
std::string_view name_of(const PlannedStep& step, const Buffer& buffer);

}  // namespace tidemark::tools
