#pragma once
// From a run as the user described it to its report: lower, plan, simulate, account.

#include <functional>
#include <span>
#include <vector>

#include "scenarios/scenario.hpp"
#include "tools/report.hpp"

namespace tidemark::tools {

Report evaluate(const scenarios::RunSpec& run, const ReportOptions& options = {});

// All runs, several at once; reports come in the order of the runs whatever ends first. `progress`
// is called with the number of finished runs, never by two threads at once. The first run that
// fails, in the order of the runs, decides what is thrown.
std::vector<Report> evaluate_all(std::span<const scenarios::RunSpec> runs,
                                 const ReportOptions& options = {},
                                 const std::function<void(std::size_t)>& progress = {});

}  // namespace tidemark::tools
