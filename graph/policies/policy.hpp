#pragma once
// What a step recomputes instead of keeping it for backward. One file and one row of table.cpp a
// policy. A policy says it in one of three ways:
//
//   segments   blocks whose input is kept and whose forward is replayed, as torch.utils.checkpoint
//              does it, all of it or all but ops whose results are cached. Decided before lowering:
//              layers 5, every-n with n = 2:  segments [0, 2) [2, 4) [4, 5)
//   drops      single tensors that are not kept and made again when backward needs them, as
//              compilers do it. Decided on the lowered step.
//   planner    an order of ops with repeats. Most plan for a budget of bytes. Budgets are those of
//              the problem's referee (graph/remat/referee.hpp), a proxy of what a step needs:
//              whoever asks corrects them by simulation.
//
// Contract: a policy is a pure function of its input. Segments are disjoint, ascending, not empty,
// and inside [0, layers).

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.hpp"
#include "graph/option.hpp"
#include "graph/remat/dtr.hpp"
#include "graph/remat/from_step.hpp"
#include "graph/remat/moves.hpp"
#include "graph/remat/problem.hpp"
#include "graph/remat/rematerialise.hpp"
#include "graph/step_graph.hpp"

namespace tidemark {

// The value of one option of a policy.
struct PolicyOption {
  std::string name;
  // Whole numbers, sizes, times, flags, choices (the place among OptionSpec::choices); 0: not
  // stated.
  std::int64_t integer = 0;
  std::vector<std::string> names;  // lists
  double number = 0;

  bool operator==(const PolicyOption&) const = default;
};

struct PolicyInput {
  std::int64_t layers = 0;                // at least 1
  std::span<const PolicyOption> options;  // one for each row of Policy::options, in order
};

struct PlannerInput {
  const StepGraph& graph;          // without recomputation
  const remat::StepProblem& step;  // of `graph`
  std::int64_t layers = 0;
  std::span<const PolicyOption> options;
  const remat::Moves* moves = nullptr;  // null: nothing may move
};

// What a planner found.
struct Placement {
  remat::Sequence sequence;
  std::string_view method{};  // of a policy that chooses between several
  // Where the planner knows: picoseconds; no sequence within the budget recomputes for less.
  std::optional<std::int64_t> bound{};
  // Of the problem, made once by the sequence: on the host between forward and backward.
  std::vector<remat::TensorIndex> moved{};
  // Where some moves: what the planner counts it to cost, recomputation and waits for copies, in
  // picoseconds. The bound is then of that: no choice of the planner's program costs less.
  std::optional<std::int64_t> cost{};
};

// Least time that the planner knows within `budget` bytes; nothing: it knows no plan that fits.
// Several threads may call it at once.
using Planner = std::function<std::optional<Placement>(std::int64_t budget)>;

using SegmentsFn = std::vector<Segment>(const PolicyInput&);
using CachedFn = CachedOps(const PolicyInput&);
using DropsFn = remat::Drops(const StepGraph&, const PolicyInput&);
// What `input` refers to outlives the planner, but for the options.
using PlannerFn = Planner(const PlannerInput& input);
using RuntimeFn = remat::DtrRun(const remat::Problem&, std::span<const PolicyOption>);

struct Policy {
  std::string_view name;
  std::string_view summary;             // one line
  std::span<const OptionSpec> options;  // whole numbers, flags, choices, lists of names
  SegmentsFn* segments = nullptr;       // null: none
  DropsFn* drops = nullptr;             // null: none
  PlannerFn* planner = nullptr;         // null: none
  bool slow = false;                    // plans for seconds to minutes: only where it is asked for
  // How what it keeps may also move: to the host or the SSD, as much as a search by simulation
  // finds; or to the host, tensors that the planner names where the option `move` says so.
  enum class Moves : char { kNever, kBySearch, kByPlanner };
  Moves moves = Moves::kNever;
  // Policies whose plans it promises to be as good as. Where their step is no faster by the
  // planners' count but is as it is simulated (an allocator's cache, transfers), theirs is taken.
  std::span<const std::string_view> rivals{};
  // Decides while the step runs: asked by the executor as it allocates, where it can
  // (tools/runtime_placement.hpp). The planner plays the same ahead of time, with the referee's
  // bytes.
  RuntimeFn* runtime = nullptr;
  // Of segments: what their checkpoints cache; null: nothing. These are not reentrant.
  CachedFn* cached = nullptr;

  // Of HBM: the first option. Planners without one pay no heed to the budget that they are given.
  bool plans_for_budget() const {
    return planner != nullptr && !options.empty() && options.front().kind == OptionKind::kBytes;
  }
};

// With these options. Whether it works by segments: a policy that also has `drops` does as its
// option `replay` says.
bool replays_segments(const Policy& policy, std::span<const PolicyOption> options);
bool moves_activations(const Policy& policy, std::span<const PolicyOption> options);

std::span<const Policy> policies();

// Null: there is none of that name.
const Policy* find_policy(std::string_view name);

}  // namespace tidemark
