#include <fmt/format.h>

#include "tools/csv_cell.hpp"
#include "tools/explain.hpp"
#include "tools/formats/json_parts.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {
namespace {

// A line a tensor; `blocks`: "0-30", empty for what the first block reads.
std::string lines(const std::string& start, const std::string& blocks,
                  const ExplainedBlocks& group) {
  std::string out;
  for (const ExplainedTensor& each : group.tensors) {
    const bool again = each.fate == remat::Drawn::kRecomputed;
    out +=
        fmt::format("{}{},{},{},{},{},{},{}\n", start, blocks, csv_cell(each.name),
                    csv_cell(spoken(each.module)), name_of_fate(each.fate), each.bytes.count,
                    again ? fmt::format("{}", seconds(each.recompute)) : "", seconds(each.alive));
  }
  return out;
}

}  // namespace

std::string explanation_csv(std::span<const ExplainedScenario> scenarios) {
  std::string out = "scenario,strategy,point,blocks,tensor,of,fate,bytes,recompute_s,in_hbm_s\n";
  for (const ExplainedScenario& scenario : scenarios) {
    for (const ExplainedRun& run : scenario.runs) {
      if (!run.explanation) continue;
      const std::string start =
          fmt::format("{},{},{},", csv_cell(scenario.name), csv_cell(run.report.strategy),
                      point_cell(run.report.point));
      out += lines(start, "", run.explanation->before);
      for (const ExplainedBlocks& group : run.explanation->blocks) {
        out += lines(start, fmt::format("{}-{}", group.first, group.last), group);
      }
    }
  }
  return out;
}

}  // namespace tidemark::tools
