// The files of runs that other tools open.

#include <string>
#include <utility>
#include <vector>

#include "hardware/ensure.hpp"
#include "sim/allocators/table.hpp"
#include "tools/exports/exports.hpp"
#include "tools/exports/snapshot.hpp"
#include "tools/formats/format.hpp"
#include "tools/out/out.hpp"

namespace tidemark::tools {

WriteAll result_file;
WriteRun trace_file, snapshot_pickle, snapshot_json, timeline_file;

namespace {

// Of the step that the machine's memory lets run: the steady one, or the one that runs out, as
// PyTorch's own would be at that moment.
void snapshot(const OutRun& run, Document& out) {
  const Steps& steps = *run.steps->steps;
  const scenarios::AllocatorChoice& allocator = run.spec->allocator;
  const sim::AllocatorKind* kind = sim::find_allocator(allocator.kind);
  ensure(kind != nullptr, "the loader should have refused an unknown allocator");
  if (kind->keeps_cache) {
    const RecordedStep recorded = record_caching(steps, allocator, sim::Capacity::kEnforced);
    const PlannedStep& planned = recorded.of_first ? steps.first() : steps.steady();
    const PlayedStep step{planned.graph, planned.program, recorded.result};
    write_snapshot(step, recorded.recording, allocator.settings, out);
    return;
  }
  const PlayedSteps& played = run.steps->limited;
  const bool first = played.first.out_of_memory || !played.steady;
  const PlannedStep& planned = first ? steps.first() : steps.steady();
  const PlayedStep step{planned.graph, planned.program, first ? played.first : *played.steady};
  write_snapshot(step, recording_of(step, step.limited), allocator.settings, out);
}

}  // namespace

// Policies that are compared are all of one strategy: they go by their labels.
std::string result_file(const OutInput& input) {
  ScenarioReports all{input.title, {}};
  for (const OutRun& run : input.runs) {
    all.runs.push_back(*run.report);
    if (run.report->point.empty()) all.runs.back().strategy = run.label;
  }
  return find_format("json").write(std::span(&all, 1), {});
}

std::string trace_file(const OutRun& run) { return trace_json(run.label, run.steps->steady()); }

std::string snapshot_pickle(const OutRun& run) {
  PickleDocument out;
  snapshot(run, out);
  return out.finish();
}

std::string snapshot_json(const OutRun& run) {
  JsonDocument out;
  snapshot(run, out);
  return out.finish();
}

std::string timeline_file(const OutRun& run) { return timeline_csv(run.steps->steady()); }

}  // namespace tidemark::tools
