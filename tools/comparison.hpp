#pragma once
// Checkpoint policies on one workload, peak against time, and how far each is from the best that
// any schedule could do.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hardware/units.hpp"
#include "scenarios/scenario.hpp"
#include "tools/evaluate.hpp"
#include "tools/report.hpp"

namespace tidemark::tools {

struct ComparedPolicy {
  std::string policy;           // as written in a scenario: "every-n, n: 4"
  std::optional<Bytes> budget;  // of HBM, of policies that plan for one
  scenarios::RunSpec run;
};

// The run with each of the policies by name, with their options as preset (some also with others),
// and those that plan for a budget once for each of the budgets. Policies that the loader refuses
// for this run are left out; a policy that is named twice has one row.
std::vector<ComparedPolicy> policies_to_compare(const scenarios::RunSpec& run,
                                                std::span<const std::string> policies,
                                                std::span<const Bytes> budgets);

// All but those that plan for seconds to minutes.
std::vector<std::string> policies_compared_by_default();

// In the order of `policies`, several at once; `base` keeps everything. `progress` is called with
// the number of finished runs, never by two threads at once. `kept`: one for each policy, where not
// null.
std::vector<Report> evaluate_policies(const scenarios::RunSpec& base,
                                      std::span<const ComparedPolicy> policies,
                                      const std::function<void(std::size_t)>& progress = {},
                                      std::vector<KeptSteps>* kept = nullptr);

struct Compared {
  std::string policy;
  std::optional<Bytes> budget;
  Report report;
  SimTime base{};       // the time of a step that keeps everything
  SimTime base_busy{};  // of it the time in which the GPU computes
  SimTime over{};       // what this step takes longer
  Flops recomputed;     // of matmuls and attention
  Bytes moved;          // over PCIe, both ways
  // No schedule whose HBM stays within this one's peak recomputes for less time; where this one
  // moves activations, none that may move them, too, takes less longer. Nothing: there is none.
  std::optional<SimTime> bound;
  bool moves_activations = false;  // as its policy chooses
  bool on_front = false;  // no other policy here needs no more memory and no more time

  // Of a policy that plans for a budget: its peak is above it, since no plan of it needs less.
  bool missed_budget() const { return report.placement && !report.placement->met; }
};

// In the order of `policies`; `reports` are theirs. `base` keeps everything.
std::vector<Compared> compare(const scenarios::RunSpec& base, const Report& base_report,
                              std::span<const ComparedPolicy> policies,
                              std::span<const Report> reports);

// Where no policy gets below a budget or the capacity, and what lives at the least peak but for
// what blocks save is more than that already: a sentence that says so, with what it is. Else empty.
std::string what_no_policy_moves(std::span<const Compared> rows);

// "20GiB..80GiB": eight budgets, evenly spaced, both ends included; "40GB" or "40GB,60GB": those.
// Throws UserError.
std::vector<Bytes> parse_budgets(const std::string& text);

// `planning_time`: a column more, of times that differ from run to run.
std::string comparison_text(const std::string& title, std::span<const Compared> rows,
                            bool colors = false, bool planning_time = false);
std::string comparison_json(const std::string& title, std::span<const Compared> rows);
std::string comparison_csv(std::span<const Compared> rows);

}  // namespace tidemark::tools
