#include "tools/evaluate.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "tools/allocator_report.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {
namespace {

// More threads than this gain little: a run is short and bound by memory.
constexpr unsigned kMostThreads = 8;

// `free` is the same run without limits, where there was one.
PlayedStep describe(const PlannedStep& step, const sim::Result* limited, const sim::Result* free) {
  if (limited == nullptr) return {step.graph, step.program, *free, free};
  return {step.graph, step.program, *limited, limited->out_of_memory ? free : nullptr};
}

}  // namespace

Report evaluate(const scenarios::RunSpec& run, const ReportOptions& options) {
  const Steps steps(run);
  const PlayedSteps limited = steps.play(run.allocator, sim::Capacity::kEnforced);
  std::optional<PlayedSteps> free;
  if (!limited.fits()) free = steps.play(run.allocator, sim::Capacity::kIgnored);
  Report report =
      make_report(run,
                  describe(steps.steady(), limited.steady ? &*limited.steady : nullptr,
                           free ? &*free->steady : nullptr),
                  describe(steps.first(), &limited.first, free ? &free->first : nullptr), options);
  if (options.try_settings && report.allocator.keeps_cache && !report.fits() &&
      report.out_of_memory->tier == Tier::kHbm &&
      steps.steady().program.instances.size() <= kMostInstancesToTry) {
    report.out_of_memory->settings = search_settings(steps, run.allocator);
  }
  return report;
}

std::vector<Report> evaluate_all(std::span<const scenarios::RunSpec> runs,
                                 const ReportOptions& options,
                                 const std::function<void(std::size_t)>& progress) {
  std::vector<Report> reports(runs.size());
  std::vector<std::exception_ptr> failures(runs.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::size_t finished = 0;

  // Runs are taken in order and each that is taken is finished, so no run before the first failure
  // is left out, whatever the threads' timing.
  const auto work = [&] {
    while (!failed) {
      const std::size_t i = next++;
      if (i >= runs.size()) break;
      try {
        reports[i] = evaluate(runs[i], options);
      } catch (...) {
        failures[i] = std::current_exception();
        failed = true;
      }
      const std::lock_guard lock(mutex);
      ++finished;
      if (progress) progress(finished);
    }
  };
  const std::size_t wanted = std::min<std::size_t>(
      {std::max(1u, std::thread::hardware_concurrency()), kMostThreads, runs.size()});
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();

  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return reports;
}

}  // namespace tidemark::tools
