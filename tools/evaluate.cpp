#include "tools/evaluate.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "graph/lower.hpp"
#include "graph/plan.hpp"
#include "hardware/ensure.hpp"
#include "sim/allocators/table.hpp"
#include "sim/executor.hpp"

namespace tidemark::tools {
namespace {

// More threads than this gain little: a run is short and bound by memory.
constexpr unsigned kMostThreads = 8;

LoweringInput lowering_input(const scenarios::RunSpec& run, StepKind step) {
  LoweringInput input;
  input.model = run.model;
  input.training = run.training;
  input.kernels = run.kernels;
  input.checkpointing = run.checkpointing;
  input.step = step;
  input.update =
      run.offload.optimizer == Offload::States::kGpu ? UpdateOn::kGpu : UpdateOn::kElsewhere;
  return input;
}

// A step with everything that PlayedStep refers to.
class Step {
 public:
  Step(const scenarios::RunSpec& run, StepKind kind)
      : graph_(lower(lowering_input(run, kind))),
        program_(plan(graph_, run.training, run.offload, run.machine)) {
    limited_ = play(run, sim::Capacity::kEnforced);
    if (limited_.out_of_memory) free_ = play(run, sim::Capacity::kIgnored);
  }

  PlayedStep played() const { return {graph_, program_, limited_, free_ ? &*free_ : nullptr}; }

 private:
  sim::Result play(const scenarios::RunSpec& run, sim::Capacity capacity) const {
    sim::SimulateOptions options;
    options.capacity = capacity;
    std::unique_ptr<sim::Allocator> hbm;
    const sim::AllocatorKind* kind = sim::find_allocator(run.allocator.kind);
    ensure(kind != nullptr, "the loader should have refused an unknown allocator");
    if (capacity == sim::Capacity::kEnforced) {
      hbm = kind->make(program_.capacity[static_cast<std::size_t>(Tier::kHbm)],
                       run.allocator.settings);
      options.allocators[static_cast<std::size_t>(Tier::kHbm)] = hbm.get();
    }
    return sim::simulate(program_, options);
  }

  StepGraph graph_;
  Program program_;
  sim::Result limited_;
  std::optional<sim::Result> free_;
};

}  // namespace

Report evaluate(const scenarios::RunSpec& run, const ReportOptions& options) {
  const Step steady(run, StepKind::kSteady);
  const Step first(run, StepKind::kFirst);
  return make_report(run, steady.played(), first.played(), options);
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
