// Policies on a 7B step with the simulator's own times: in which order they stand, and how far from
// the bound. Published orders are those of a roofline model whose tables graph/remat's tests
// reproduce; only the figures differ here.

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/runs.hpp"
#include "tools/comparison.hpp"
#include "tools/evaluate.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

scenarios::RunSpec seven_billion(const std::string& attention, const std::string& checkpoint) {
  const std::string text =
      "model: gpt-7b\n"
      "training: {micro_batch: 1, sequence: 2048, precision: bf16}\n"
      "kernels: {optimizer: fused, zero_grad: keep, attention: " +
      attention +
      "}\n"
      "hardware: {base: a100-80gb-sxm, hbm: {capacity: 400 GB}, host: {issue: 0 s}}\n"
      "checkpoint: " +
      checkpoint + "\nstrategies: [{name: one}]\n";
  return support::run_of(text);
}

std::vector<SimTime> times_of(const std::string& attention, const std::vector<std::string>& rules) {
  std::vector<scenarios::RunSpec> runs;
  for (const std::string& rule : rules) runs.push_back(seven_billion(attention, rule));
  std::vector<SimTime> times;
  for (const Report& report : evaluate_all(runs)) times.push_back(report.step_time);
  return times;
}

// Each a tenth of a percent slower than the one before, or more.
void check_ascending(const std::vector<SimTime>& times) {
  for (std::size_t i = 1; i < times.size(); ++i) {
    INFO("rule " << i);
    CHECK(times[i] > times[i - 1] + times[i - 1] / 1000);
  }
}

}  // namespace

// But for torchtitan's rule, published at 10.9 % and below `block` (17.7 %): it takes 18.8 % here.
// Softmax and dropout of eager attention run again, whose strided and masked kernels take nearly
// twice what the table's roofline gives them, as `selective` shows: 11.8 % for 6.6 %.
TEST_CASE("fixed rules with eager attention stand in the published order") {
  check_ascending(times_of(
      "eager", {"none", "modules", "{policy: ops, keep: [matmul, batched_matmul]}", "selective",
                "{policy: modules, modules: [norm, mlp_activation, attention_core]}",
                "{policy: ops, keep: matmul}", "{policy: block, n: 16}", "full"}));
  const std::vector<SimTime> whole = times_of("eager", {"full", "{policy: every-n, n: 8}"});
  CHECK(whole[0] == whole[1]);
}

TEST_CASE("fixed rules with fused attention stand in the published order") {
  check_ascending(times_of("flash", {"none", "modules", "{policy: ops, keep: [matmul, attention]}",
                                     "{policy: ops, keep: matmul}",
                                     "{policy: ops, keep: [matmul, attention], every_second: true}",
                                     "{policy: block, n: 16}", "full"}));
}

TEST_CASE("layered is near the bound where its published plans are") {
  for (const std::string attention : {"eager", "flash"}) {
    CAPTURE(attention);
    const scenarios::RunSpec base = seven_billion(attention, "none");
    const Report everything = evaluate(base);
    const Bytes full = evaluate(seven_billion(attention, "full")).tier(Tier::kHbm).peak;
    const Bytes range = everything.tier(Tier::kHbm).peak - full;
    std::vector<Bytes> budgets;  // published: 14.2 against 13.5 %, 7.19 against 7.18 and so on
    for (const int eighths : {1, 2, 4, 5})
      budgets.push_back(full + Bytes(range.count / 8 * eighths));
    const std::vector<std::string> names{"layered"};
    const auto rows = policies_to_compare(base, names, budgets);
    std::vector<scenarios::RunSpec> runs;
    for (const ComparedPolicy& row : rows) runs.push_back(row.run);
    for (const Compared& row : compare(base, everything, rows, evaluate_all(runs))) {
      REQUIRE(row.bound.has_value());
      CAPTURE(row.budget->count, row.over.count(), row.bound->count());
      CHECK(*row.bound <= row.over);
      // The published plans are within 6 % of what they recompute. The bound does not count what
      // a block makes again and reads at its tightest op, two tensors of four times the hidden
      // size here: 134 MB, which cost 0.62 % of the step where keeping a byte is worth most
      // (a block's second product, between 2.9 and 10.3 % of recomputation).
      CHECK(row.over <= *row.bound + *row.bound * 6 / 100 + everything.step_time * 65 / 10000);
    }
  }
}
