#pragma once
// From a run as the user described it to its report: lower, plan, simulate, account.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "scenarios/scenario.hpp"
#include "tools/report.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {

// What was planned and played for a report, for outputs that tell more than it does.
struct KeptSteps {
  std::shared_ptr<const Steps> steps;
  PlayedSteps limited;              // with the machine's capacities
  std::optional<PlayedSteps> free;  // without limits, where `limited` does not fit

  PlayedStep steady() const;
  PlayedStep first() const;
};

// `kept`: filled where it is not null.
Report evaluate(const scenarios::RunSpec& run, const ReportOptions& options = {},
                KeptSteps* kept = nullptr);

// `steps` are those of the run.
Report evaluate(const scenarios::RunSpec& run, std::shared_ptr<const Steps> steps,
                const ReportOptions& options, KeptSteps* kept = nullptr);

// All runs, several at once; reports come in the order of the runs whatever ends first. `progress`
// is called with the number of finished runs, never by two threads at once. The first run that
// fails, in the order of the runs, decides what is thrown. `kept`: one for each run, where not
// null.
std::vector<Report> evaluate_all(std::span<const scenarios::RunSpec> runs,
                                 const ReportOptions& options = {},
                                 const std::function<void(std::size_t)>& progress = {},
                                 std::vector<KeptSteps>* kept = nullptr);

}  // namespace tidemark::tools
