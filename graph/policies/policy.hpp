#pragma once
// What a step recomputes instead of keeping it for backward. One file and one row of table.cpp a
// policy. A policy says it in one of three ways:
//
//   segments   blocks whose input is kept and whose forward is replayed, as torch.utils.checkpoint
//              does it. Decided before lowering:
//              layers 5, every-n with n = 2:  segments [0, 2) [2, 4) [4, 5)
//   drops      single tensors that are not kept and made again when backward needs them, as
//              selective checkpoints and compilers do it. Decided on the lowered step.
//   planner    an order of ops with repeats, for a budget of bytes. Budgets are those of the
//              problem's referee (graph/remat/referee.hpp), a proxy of what a step needs: whoever
//              asks corrects them by simulation.
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
#include "graph/remat/problem.hpp"
#include "graph/remat/rematerialise.hpp"
#include "graph/step_graph.hpp"

namespace tidemark {

// The value of one option of a policy.
struct PolicyOption {
  std::string name;
  std::int64_t integer = 0;        // whole numbers, sizes, flags, choices (the row); 0: not stated
  std::vector<std::string> names;  // lists

  bool operator==(const PolicyOption&) const = default;
};

struct PolicyInput {
  std::int64_t layers = 0;                // at least 1
  std::span<const PolicyOption> options;  // one for each row of Policy::options, in order
};

// Least time that the planner knows within `budget` bytes; nothing: it knows no plan that fits.
using Planner = std::function<std::optional<remat::Sequence>(std::int64_t budget)>;

using SegmentsFn = std::vector<Segment>(const PolicyInput&);
using DropsFn = remat::Drops(const StepGraph&, const PolicyInput&);
// The problem outlives the planner.
using PlannerFn = Planner(const remat::Problem&, const PolicyInput&);

struct Policy {
  std::string_view name;
  std::string_view summary;             // one line
  std::span<const OptionSpec> options;  // whole numbers, flags, choices, lists of names
  SegmentsFn* segments = nullptr;       // null: none
  DropsFn* drops = nullptr;             // null: none
  PlannerFn* planner = nullptr;         // null: none; else the first option is the budget
};

std::span<const Policy> policies();

// Null: there is none of that name.
const Policy* find_policy(std::string_view name);

}  // namespace tidemark
