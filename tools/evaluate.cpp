#include "tools/evaluate.hpp"

#include <optional>
#include <utility>

#include "graph/policies/policy.hpp"
#include "hardware/quantity.hpp"
#include "tools/allocator_report.hpp"
#include "tools/parallel.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {
namespace {

// `free` is the same run without limits, where there was one.
PlayedStep describe(const PlannedStep& step, const sim::Result* limited, const sim::Result* free) {
  if (limited == nullptr) return {step.graph, step.program, *free, free};
  return {step.graph, step.program, *limited, limited->out_of_memory ? free : nullptr};
}

}  // namespace

PlayedStep KeptSteps::steady() const {
  return describe(steps->steady(), limited.steady ? &*limited.steady : nullptr,
                  free ? &*free->steady : nullptr);
}

PlayedStep KeptSteps::first() const {
  return describe(steps->first(), &limited.first, free ? &free->first : nullptr);
}

Report evaluate(const scenarios::RunSpec& run, const ReportOptions& options, KeptSteps* kept) {
  return evaluate(run, std::make_shared<const Steps>(run), options, kept);
}

Report evaluate(const scenarios::RunSpec& run, std::shared_ptr<const Steps> planned,
                const ReportOptions& options, KeptSteps* kept) {
  KeptSteps played;
  played.steps = std::move(planned);
  const Steps& steps = *played.steps;
  played.limited = steps.play(run.allocator, sim::Capacity::kEnforced);
  if (!played.limited.fits()) played.free = steps.play(run.allocator, sim::Capacity::kIgnored);
  Report report = make_report(run, played.steady(), played.first(), options);
  if (options.try_settings && report.allocator.keeps_cache && !report.fits() &&
      report.out_of_memory->tier == Tier::kHbm &&
      steps.steady().program.instances.size() <= kMostInstancesToTry) {
    report.out_of_memory->settings = search_settings(steps, run.allocator);
  }
  if (const PlacementNote* note = steps.placement()) report.placement = *note;
  if (report.placement && !report.placement->met) {
    // One that decides at run time may need more with a smaller budget: what was tried is not all.
    const bool decides = find_policy(run.checkpoint_policy)->runtime != nullptr;
    report.bottleneck += decides
                             ? "; no run of this policy that was tried stays within its budget of "
                             : "; no plan of this policy stays within its budget of ";
    report.bottleneck += format_bytes(report.placement->budget);
    report.bottleneck += decides ? ": this one needs least of those" : ": this one needs least";
  }
  if (kept != nullptr) *kept = std::move(played);
  return report;
}

std::vector<Report> evaluate_all(std::span<const scenarios::RunSpec> runs,
                                 const ReportOptions& options,
                                 const std::function<void(std::size_t)>& progress,
                                 std::vector<KeptSteps>* kept) {
  std::vector<Report> reports(runs.size());
  if (kept != nullptr) kept->resize(runs.size());
  run_parallel(
      runs.size(),
      [&](std::size_t i) {
        reports[i] = evaluate(runs[i], options, kept == nullptr ? nullptr : &(*kept)[i]);
      },
      progress);
  return reports;
}

}  // namespace tidemark::tools
