#pragma once
// The exact choice of what each stage keeps, under a budget: every stage's output stays, each op
// runs again at most once, right before it is needed. Least recomputation among all such plans.
//
// Stage l may keep option o where what the stages in front of it keep and what o needs fit the
// budget together; the sum of costs is made least by dynamic programming over the bytes kept so
// far.

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/remat/chain.hpp"
#include "graph/remat/plan.hpp"
#include "graph/remat/stage_model.hpp"

namespace tidemark::remat {

struct Choice {
  std::int64_t cost = 0;              // picoseconds of what runs again
  std::vector<std::uint32_t> option;  // of each stage
  // No choice of this kind costs less. Equal to `cost` where the memory levels are exact.
  std::int64_t at_least = 0;
};

// With no more than `levels` memory levels. They are exact where the bytes of all options have a
// common unit that is large enough; else bytes are rounded up for the plan and down for `at_least`.
// Nothing: no choice fits.
std::optional<Choice> layered(const ChainModel& model, std::int64_t budget,
                              std::size_t levels = 4096);

// Takes the steps of the convex hull of each stage's options in order of cost for each byte, for
// stages near the loss first, while it fits. Thousands of times faster, a little worse; `at_least`
// is 0.
std::optional<Choice> layered_greedy(const ChainModel& model, std::int64_t budget);

// What the budget must be for any choice to fit.
std::int64_t layered_needs(const ChainModel& model);

Plan plan_of(const Problem& problem, const Chain& chain, const ChainModel& model,
             const Choice& choice);

}  // namespace tidemark::remat
