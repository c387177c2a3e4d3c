// How much --why-not-fit simulates.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/runs.hpp"
#include "tools/remedies.hpp"
#include "tools/report.hpp"

using namespace tidemark;
using namespace tidemark::tools;
using scenarios::RunSpec;

namespace {

RunSpec long_run(const std::string& sections) {
  return support::run_of(
      "model: {architecture: gpt, layers: 4, hidden: 64, heads: 4, vocab: 128, max_positions: 64}\n"
      "hardware: a100-80gb-sxm\n" +
      sections + "strategies: [{name: only}]\n");
}

// 2 bytes of 1, whatever the run does.
Report short_of_hbm() {
  Report report;
  report.step_time = 1_us;
  report.tiers[static_cast<std::size_t>(Tier::kHbm)].capacity = 1_B;
  report.tiers[static_cast<std::size_t>(Tier::kHbm)].peak = 2_B;
  report.out_of_memory.emplace();
  report.out_of_memory->tier = Tier::kHbm;
  report.out_of_memory->needed = 2_B;
  return report;
}

}  // namespace

// 40 passes of 4 blocks; hybrid plays steps by the hundred.
TEST_CASE("where every run searches for a plan no more is simulated than the bound on operations") {
  const RunSpec plain = long_run("training: {micro_batches: 40}\n");
  const RunSpec searching =
      long_run("training: {micro_batches: 40}\ncheckpoint: {policy: hybrid, budget: 1 GB}\n");
  CHECK(rows_simulated(searching) > 20 * rows_simulated(plain));
  CHECK(rows_simulated(long_run("allocator: caching\n")) > 2 * rows_simulated(long_run("")));
  const auto remedies = [&](const RunSpec& run, std::int64_t& rows) {
    return find_remedies(run, short_of_hbm(), [&](std::span<const RunSpec> runs) {
      std::vector<Report> reports;
      for (const RunSpec& each : runs) {
        rows += rows_simulated(each);
        reports.push_back(short_of_hbm());
      }
      return reports;
    });
  };
  std::int64_t rows = 0;
  const std::optional<Remedies> found = remedies(searching, rows);
  CHECK(rows <= kMostRowsInAll);
  CHECK(rows > kMostRowsInAll / 2);
  CHECK(found->left_out > 0);
  CHECK(found->alone.size() > 5);
  std::int64_t fewer = 0;
  CHECK(remedies(plain, fewer)->alone.size() > found->alone.size());
  CHECK(fewer < kMostRowsInAll);
}
