// What each preset moves, against what its paper says.

#include <string>

#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"
#include "tools/evaluate.hpp"

namespace tidemark::tools {
namespace {

// A llama of three blocks whose parameters are not tied, on a machine that holds it.
Report played(const std::string& offload, const std::string& more = "") {
  const scenarios::Scenario scenario = scenarios::load_text(
      "model: {architecture: llama, layers: 3, hidden: 64, heads: 4, ffn: 96, vocab: 100,\n"
      "        max_positions: 32}\n"
      "hardware: a100-80gb-sxm\n" +
      more + "strategies: [{name: a, offload: " + offload + "}]\n");
  return evaluate(scenario.runs.at(0));
}

Bytes traffic(const Report& report, LinkKind link) {
  return report.traffic[static_cast<std::size_t>(link)];
}

TEST_CASE("zero-offload moves 2 bytes out and 2 bytes in per parameter and step") {
  const Report report = played("zero-offload");
  CHECK(traffic(report, LinkKind::kPcieD2h) == Bytes(2 * report.parameters));
  CHECK(traffic(report, LinkKind::kPcieH2d) == Bytes(2 * report.parameters));
  CHECK(traffic(report, LinkKind::kNvmeRead) == 0_B);
  CHECK(traffic(report, LinkKind::kNvmeWrite) == 0_B);
}

TEST_CASE("each further micro-batch of zero-offload takes its sums in and out once more") {
  const Report report = played("zero-offload", "training: {micro_batches: 3}\n");
  CHECK(traffic(report, LinkKind::kPcieD2h) == Bytes(3 * 2 * report.parameters));
  CHECK(traffic(report, LinkKind::kPcieH2d) == Bytes((2 + 2 * 2) * report.parameters));
}

TEST_CASE("a delayed update moves the same and says that it is stale") {
  const Report report = played("{preset: zero-offload, delayed_update: true}");
  CHECK(traffic(report, LinkKind::kPcieD2h) == Bytes(2 * report.parameters));
  CHECK(traffic(report, LinkKind::kPcieH2d) == Bytes(2 * report.parameters));
  CHECK(report.update_delay == 1);
  CHECK(report.bottleneck.find("uses the gradients of the step before") != std::string::npos);
  CHECK(played("zero-offload").update_delay == 0);
}

TEST_CASE(
    "a delayed update holds a second set of gradients on the host, and hides the CPU's time") {
  const std::string batch = "training: {micro_batch: 8}\n";
  const Report late = played("{preset: zero-offload, delayed_update: true, bucket: 64 KiB}", batch);
  const Report now = played("{preset: zero-offload, bucket: 64 KiB}", batch);
  CHECK(late.step_time < now.step_time);
  // This step's gradients stay, those of the step before are there when it starts.
  CHECK(late.tier(Tier::kHost).start == late.tier(Tier::kHost).end);
  CHECK(late.tier(Tier::kHost).start - now.tier(Tier::kHost).start == Bytes(2 * late.parameters));
}

TEST_CASE("a delayed update is never slower than one in time, on the scenarios that ship") {
  // On links.yaml copies set the pace, on the others the CPU, the kernels or the drives.
  const std::string name = GENERATE("links.yaml", "gpt2-on-4090.yaml", "gradient-accumulation.yaml",
                                    "faster-ssd.yaml", "hf-config.yaml", "llama-3-8b.yaml");
  const std::string file = test::source_file("scenarios/" + name);
  const scenarios::Scenario all = scenarios::load(file);
  int compared = 0;
  for (const scenarios::RunSpec& run : all.runs) {
    if (!run.offload.updates_on_cpu() || run.offload.fraction != 1 ||
        run.offload.parameters.to != ParameterOffload::To::kGpu) {
      continue;
    }
    scenarios::RunSpec late = run, now = run;
    late.offload.delayed_update = true;
    now.offload.delayed_update = false;
    CAPTURE(name, run.strategy);
    const SimTime late_time = evaluate(late, {.largest = 0}).step_time;
    CHECK(late_time <= evaluate(now, {.largest = 0}).step_time);
    ++compared;
  }
  CHECK(compared > 0);
}

TEST_CASE("zero-infinity reads and writes states once, and the blocks' parameters twice") {
  // A block's recompute and its backward follow one another, so that they share a fetch.
  const std::string checkpoint = GENERATE("", "checkpoint: full\n", "checkpoint: none\n");
  const Report report = played("zero-infinity", checkpoint);
  // 12 bytes of states a parameter each way, and the new parameters once, 2 bytes.
  CHECK(traffic(report, LinkKind::kNvmeWrite) == Bytes((12 + 2) * report.parameters));
  // Three blocks of 64 x (4 x 64 + 3 x 96) + 2 x 64 elements, for forward and for backward. Once:
  // the embedding of 100 x 64, which backward does not read, and the last norm of 64 and the head
  // of 64 x 100, which are there from their forward to their backward.
  const std::int64_t block = 64 * (4 * 64 + 3 * 96) + 2 * 64;
  REQUIRE(report.parameters == 3 * block + 2 * 6400 + 64);
  const std::int64_t fetched = 2 * 3 * block + 2 * 6400 + 64;
  CHECK(traffic(report, LinkKind::kNvmeRead) == Bytes(12 * report.parameters + 2 * fetched));
  // Checkpoints, the inputs of three blocks, 32 x 64 elements each, go and come back; gradients go.
  // It is full unless something else is written.
  const std::int64_t inputs = checkpoint == "checkpoint: none\n" ? 0 : 3 * 2 * 32 * 64;
  CHECK(traffic(report, LinkKind::kPcieH2d) == Bytes(2 * fetched + inputs));
  CHECK(traffic(report, LinkKind::kPcieD2h) == Bytes(2 * report.parameters + inputs));
}

TEST_CASE("layer to layer has the parameters of one block at a time on the GPU") {
  const Report report = played("l2l");  // checkpointed, as layers stash their inputs alone
  const std::int64_t block = 64 * (4 * 64 + 3 * 96) + 2 * 64;
  // At the peak, in the backward of a block; and none before and after the step.
  const Peak& peak = report.tier(Tier::kHbm).peak_moment;
  CHECK(peak.by_category[static_cast<std::size_t>(Category::kParameters)] == Bytes(2 * block));
  CHECK(traffic(report, LinkKind::kNvmeRead) == 0_B);
  CHECK(traffic(report, LinkKind::kNvmeWrite) == 0_B);
  // Gradients and the three blocks' inputs go; the inputs come back. Blocks, the norm and the head
  // come for forward and again for backward, the embedding once.
  const std::int64_t inputs = 3 * 2 * 32 * 64;
  CHECK(traffic(report, LinkKind::kPcieD2h) == Bytes(2 * report.parameters + inputs));
  CHECK(traffic(report, LinkKind::kPcieH2d) ==
        Bytes(2 * (2 * (3 * block + 6400 + 64) + 6400) + inputs));
}

TEST_CASE("what activation presets take out comes back, once") {
  const Report hook = played("activation-offload");
  CHECK(traffic(hook, LinkKind::kPcieD2h).count > 0);
  CHECK(traffic(hook, LinkKind::kPcieD2h) == traffic(hook, LinkKind::kPcieH2d));
  CHECK(traffic(hook, LinkKind::kNvmeWrite) == 0_B);
  const Report ssd =
      played("{preset: ssd-activations, activations: {when: always, larger_than: 0 B}}");
  CHECK(traffic(ssd, LinkKind::kNvmeWrite).count > 0);
  CHECK(traffic(ssd, LinkKind::kNvmeWrite) == traffic(ssd, LinkKind::kNvmeRead));
  CHECK(traffic(ssd, LinkKind::kPcieD2h) == traffic(ssd, LinkKind::kPcieH2d));
}

TEST_CASE("the lower bound of a report is no more than its step") {
  for (const char* offload : {"{}", "zero-offload", "{optimizer: ssd, gradients: ssd}"}) {
    const Report report = played(offload);
    CHECK(report.lower_bound.count() > 0);
    CHECK(report.lower_bound <= report.step_time);
  }
}

}  // namespace
}  // namespace tidemark::tools
