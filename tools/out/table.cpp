#include <array>

#include "tools/out/out.hpp"

namespace tidemark::tools {

WriteAll report_html;
std::string_view why_no_report_html();
WriteAll result_file;
WriteRun trace_file, snapshot_pickle, snapshot_json, timeline_file;

namespace {

constexpr auto kOutFiles = std::to_array<OutFile>({
    {.name = "report.html",
     .summary = "charts and tables for a browser, in one file",
     .write = report_html,
     .why_not = why_no_report_html},
    {.name = "result.json",
     .summary = "every number, as run --json has them (tidemark schema result)",
     .write = result_file},
    {.name = "trace.json", .summary = "a run for Perfetto", .write_run = trace_file},
    {.name = "snapshot.pickle",
     .summary = "a run's HBM for pytorch.org/memory_viz",
     .write_run = snapshot_pickle},
    {.name = "snapshot.json", .summary = "the same as JSON", .write_run = snapshot_json},
    {.name = "timeline.csv",
     .summary = "a run's memory, a row a change",
     .write_run = timeline_file},
});

}  // namespace

std::span<const OutFile> out_files() { return kOutFiles; }

}  // namespace tidemark::tools
