// What replays compute for nothing, against replays that leave it out.

#include "tools/recompute_waste.hpp"

#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/runs.hpp"
#include "tools/evaluate.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

constexpr std::int64_t kBlocks = 5;

Report with(const std::string& checkpoint) {
  const std::string text =
      "model: {architecture: gpt, layers: 5, hidden: 256, heads: 4, vocab: 500, max_positions: "
      "128, "
      "dropout: 0}\n"
      "training: {micro_batch: 2, sequence: 128, micro_batches: 2}\n"
      "hardware: {base: a100-80gb-sxm, host: {issue: 0 s}}\n"
      "checkpoint: " +
      checkpoint + "\nstrategies: [{name: one}]\n";
  return evaluate(support::run_of(text));
}

}  // namespace

TEST_CASE("what a replay that stops early leaves out is what nothing reads") {
  const Report whole = with("{policy: full, reentrant: false, early_stop: false}");
  const Report stops = with("{policy: full, reentrant: false}");
  CHECK(stops.waste.unread == SimTime(0));
  CHECK(whole.waste.unread > SimTime(0));
  CHECK(whole.waste.unread == whole.recompute - stops.recompute);
  CHECK(with("{policy: full}").waste.unread == whole.waste.unread);
  CHECK(with("none").waste.unread == SimTime(0));
  CHECK(with("selective").waste.unread == SimTime(0));
}

TEST_CASE("what keeping the last segment spares is what its replay takes") {
  const Report full = with("full");
  CHECK(full.waste.last_segment * kBlocks == full.recompute);  // equal blocks
  const Report kept = with("{policy: full, keep_last: true}");
  CHECK(kept.waste.last_segment == SimTime(0));
  CHECK(full.recompute - kept.recompute == full.waste.last_segment);
  CHECK(with("{policy: block, n: 3}").waste.last_segment == SimTime(0));
}
