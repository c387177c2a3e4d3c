#include "tools/explain.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/policies/policy.hpp"
#include "hardware/quantity.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/runs.hpp"
#include "tools/changes.hpp"
#include "tools/comparison.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

scenarios::RunSpec run_with(const std::string& strategy) {
  const std::string text =
      "model: {architecture: gpt, layers: 4, hidden: 512, heads: 8, vocab: 500, max_positions: "
      "512}\n"
      "training: {micro_batch: 4, sequence: 512}\n"
      "hardware: {base: a100-80gb-sxm, runtime: {context: 0 B, workspace: 0 B}}\n"
      "strategies: [{name: one" +
      strategy + "}]\n";
  return support::run_of(text);
}

struct Explained {
  explicit Explained(const std::string& strategy) : run(run_with(strategy)) {
    report = evaluate(run, {}, &steps);
    explanation = explain_blocks(run, steps);
  }

  scenarios::RunSpec run;
  KeptSteps steps;
  Report report;
  Explanation explanation;
};

std::size_t count_of(const ExplainedBlocks& blocks, remat::Drawn fate) {
  return static_cast<std::size_t>(std::ranges::count(blocks.tensors, fate, &ExplainedTensor::fate));
}

}  // namespace

TEST_CASE("a run that keeps everything has one kind of block, as the report's median says") {
  const Explained all("");
  REQUIRE(all.explanation.blocks.size() >= 1);
  const ExplainedBlocks& first = all.explanation.blocks.front();
  CHECK(first.recompute == SimTime(0));
  CHECK(first.kept == all.report.tier(Tier::kHbm).saved_per_layer);
  CHECK(count_of(first, remat::Drawn::kKept) == first.tensors.size());
}

// Half of a block's bytes at this length are scores, probabilities and their mask.
TEST_CASE("selective keeps less and makes the attention core again") {
  const Explained all(""), selective(", checkpoint: selective");
  const ExplainedBlocks& block = selective.explanation.blocks.front();
  CHECK(block.kept < all.explanation.blocks.front().kept);
  CHECK(count_of(block, remat::Drawn::kRecomputed) > 0);
  for (const ExplainedTensor& tensor : block.tensors) {
    if (tensor.fate != remat::Drawn::kRecomputed) continue;
    CHECK(tensor.module == Module::kAttentionCore);
    CHECK(tensor.recompute > SimTime(0));
  }
  // What blocks make again is what the report says.
  SimTime again{};
  for (const ExplainedBlocks& blocks : selective.explanation.blocks) {
    again += blocks.recompute * (blocks.last - blocks.first + 1);
  }
  CHECK(again == selective.report.recompute);
}

TEST_CASE("blocks that a policy treats alike are one group, the others another") {
  const Explained first(", checkpoint: {policy: block, n: 2}");
  REQUIRE(first.explanation.blocks.size() >= 2);
  CHECK(first.explanation.blocks[0].first == 0);
  CHECK(first.explanation.blocks[0].last == 1);
  CHECK(first.explanation.blocks[0].recompute > SimTime(0));
  CHECK(first.explanation.blocks[1].recompute == SimTime(0));
  CHECK(blocks_text(first.explanation).find("\nblocks 0 to 1: keeps") != std::string::npos);
}

TEST_CASE("what is moved is told apart from what stays, and is in HBM for less time") {
  const Explained moved(", offload: {activations: host}");
  const ExplainedBlocks& block = moved.explanation.blocks.front();
  CHECK(block.moved > Bytes(0));
  CHECK(count_of(block, remat::Drawn::kMoved) > 0);
}

TEST_CASE("each sentence on what helps is what a run with that change says") {
  const Explained all("");
  const WhatHelps help = what_helps(all.run, all.report);
  CHECK(help.tried > 5);
  REQUIRE(help.fastest);
  REQUIRE(help.smallest);
  for (const Helpful& each : {*help.fastest, *help.smallest}) {
    const auto changed = with_changes(all.run, std::span(&each.change, 1));
    REQUIRE(changed);
    CHECK(evaluate(*changed).step_time == each.report.step_time);
  }
  const auto lines = sentences(all.report, help);
  CHECK(lines.front().find("Peak: HBM holds most") == 0);
  CHECK(lines.size() == (help.one_for_both ? 4 : 5));
  REQUIRE(!help.machine.empty());
  const Effect& most = help.machine.front();
  const scenarios::RunSpec better = [&] {
    scenarios::RunSpec run = all.run;
    most.figure->improve(run.machine);
    return run;
  }();
  CHECK(all.report.step_time - evaluate(better).step_time == most.saves);
  CHECK(lines.back().find(most.figure->words) != std::string::npos);
}

TEST_CASE("no checkpoint policy is faster than what is called the fastest that fits") {
  // Kernels that leave checkpoints alone to change; memory for half of what all blocks save.
  const std::string kernels =
      ", kernels: {attention: flash, optimizer: fused, loss: native, causal: fused}";
  const Explained all(kernels);
  const Bytes everything = all.report.tier(Tier::kHbm).peak_reserved;
  const Explained least(kernels + ", checkpoint: full");
  const Bytes half((everything + least.report.tier(Tier::kHbm).peak_reserved).count / 2);
  for (const Bytes capacity : {half, everything}) {
    const scenarios::RunSpec run = run_with(
        kernels + ", checkpoint: full, hardware: {hbm: {capacity: " + exact_text(capacity) + "}}");
    const WhatHelps help = what_helps(run, evaluate(run));
    REQUIRE(help.fastest);
    INFO(exact_text(capacity) << ": " << help.fastest->change.words);
    const auto policies =
        policies_to_compare(run, policies_compared_by_default(), std::vector<Bytes>{capacity});
    REQUIRE(policies.size() > 15);
    for (const ComparedPolicy& policy : policies) {
      // What moves activations as well is searched for too long to be tried among many changes.
      const Policy* rule = find_policy(policy.run.checkpoint_policy);
      if (moves_activations(*rule, policy.run.checkpoint_options)) continue;
      const Report report = evaluate(policy.run);
      if (!report.fits()) continue;
      INFO(policy.policy);
      CHECK(help.fastest->report.step_time <= report.step_time);
    }
    CHECK(help.fastest->report.step_time < evaluate(run).step_time);
    CHECK(help.fastest->report.fits());
    // With room for everything, keeping everything is the simplest way to the best time.
    if (capacity == everything) CHECK(help.fastest->change.overrides.front().value == "none");
  }
}

TEST_CASE("states that left the GPU for nothing are brought back, all of them or some") {
  const Explained moved(", kernels: {optimizer: fused}, offload: {optimizer: host}");
  const Explained stayed(", kernels: {optimizer: fused}");
  const WhatHelps help = what_helps(moved.run, moved.report);
  REQUIRE(help.fastest);
  CHECK(stayed.report.step_time < moved.report.step_time);
  CHECK(help.fastest->report.step_time <= stayed.report.step_time);
}

TEST_CASE("least memory is not called the fastest because it is faster too") {
  Report report, fast, small;
  report.step_time = 100'000_us;
  fast.step_time = 50'000_us;
  small.step_time = 80'000_us;
  const auto set_peak = [](Report& each, Bytes bytes) {
    each.tiers[0].capacity = Bytes(100'000'000);
    each.tiers[0].peak = each.tiers[0].peak_reserved = bytes;
  };
  set_peak(report, Bytes(60'000'000));
  set_peak(fast, Bytes(60'000'000));
  set_peak(small, Bytes(20'000'000));
  WhatHelps help;
  help.tried = 7;
  help.fastest = Helpful{{"run", {{"a.b", "c"}}}, fast};
  help.smallest = Helpful{{"walk", {{"a.b", "d"}}}, small};
  const auto lines = sentences(report, help);
  REQUIRE(lines.size() == 5);
  CHECK(lines[2] ==
        "Fastest that fits of 7 single changes, each simulated: run (a: {b: c}): step 50.0 ms "
        "instead of 100 ms, HBM 60.0 MB as before; 40.0 MB left.");
  CHECK(lines[3] ==
        "Least HBM of 7 single changes, each simulated: walk (a: {b: d}): step 80.0 ms instead of "
        "100 ms, HBM 20.0 MB instead of 60.0 MB; 80.0 MB left.");
  help.one_for_both = true;
  CHECK(sentences(report, help)[2].find("Fastest that fits, and least HBM, of 7") == 0);
  WhatHelps none;
  none.tried = 7;
  const auto nothing = sentences(report, none);
  CHECK(nothing[2] == "None of 7 single changes, each simulated, is faster and fits.");
  CHECK(nothing[3] == "None of them needs less HBM.");
}

TEST_CASE("what enters the first block is told of, and kept where it is a checkpoint") {
  // 4 x 512 tokens of 512 in bf16: 2 MiB, the same as what leaves each block.
  const Explained full(", checkpoint: full");
  const ExplainedBlocks& before = full.explanation.before;
  REQUIRE(before.tensors.size() == 1);
  CHECK(before.tensors[0].module == Module::kEmbedding);
  CHECK(before.tensors[0].fate == remat::Drawn::kKept);
  CHECK(before.kept == 2_MiB);
  CHECK(before.kept == full.explanation.blocks.front().kept);
  CHECK(blocks_text(full.explanation).find("into the first block: keeps 2.1 MB") == 0);
  const std::string dot = remat::drawn_block(full.steps.steady().graph, 0, full.explanation.drawn);
  std::size_t kept = 0;  // the first block's input and the second one's
  for (std::size_t at = 0; (at = dot.find("fillcolor=lightblue", at)) != std::string::npos; ++at)
    ++kept;
  CHECK(kept == 2 + 1);  // and the legend's
}

TEST_CASE("a drawing has units and says what its colours are") {
  const Explained full(", checkpoint: full");
  const std::string dot = remat::drawn_block(full.steps.steady().graph, 0, full.explanation.drawn);
  CHECK(dot.find("\\n2.1 MB") != std::string::npos);
  CHECK(dot.find("2097152") == std::string::npos);
  CHECK(dot.find("subgraph cluster_legend {") != std::string::npos);
  CHECK(dot.find("label=\"made again for backward\", shape=ellipse, style=dashed") !=
        std::string::npos);
  CHECK(dot.ends_with("}\n}\n"));
}

TEST_CASE("a block that is made again as a whole is drawn so, queries and keys apart") {
  const Explained full(", checkpoint: full");
  const StepGraph& graph = full.steps.steady().graph;
  // As many of the block's tensors of forward as its table lists to be made again, but for the
  // block's result, which is made again although it has stayed.
  std::size_t drawn = 0;
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (tensor.layer != 1 || tensor.initial() || tensor.bytes.count == 0) continue;
    if (graph.op(tensor.producer).phase != Phase::kForward) continue;
    drawn += full.explanation.drawn[t] == remat::Drawn::kRecomputed ? 1 : 0;
  }
  const ExplainedBlocks& block = full.explanation.blocks.front();
  CHECK(drawn == count_of(block, remat::Drawn::kRecomputed) - 1);
}

TEST_CASE("the explanation as JSON has the figures of the text") {
  const Explained full(", checkpoint: full");
  const WhatHelps help = what_helps(full.run, full.report);
  const std::vector<ExplainedScenario> all = {
      {"x", {{"one", full.report, help, full.explanation}}}};
  const auto json = nlohmann::json::parse(explanation_json(all));
  const auto& run = json["runs"][0];
  CHECK(json["scenario"] == "x");
  CHECK(run["strategy"] == "one");
  CHECK(run["changes_tried"] == help.tried);
  REQUIRE(help.fastest);
  CHECK(run["fastest"]["step_time_s"] == seconds(help.fastest->report.step_time));
  CHECK(run["fastest"]["yaml"] == as_yaml(std::span(&help.fastest->change, 1)));
  CHECK(run["least_hbm"]["hbm_peak_bytes"] ==
        help.smallest->report.tier(Tier::kHbm).peak_reserved.count);
  CHECK(run["hbm_live_peak_bytes"] == full.report.tier(Tier::kHbm).peak.count);
  CHECK(run["into_the_first_block"]["kept_bytes"] == 2'097'152);
  REQUIRE(run["blocks"].size() == full.explanation.blocks.size());
  CHECK(run["blocks"][0]["tensors"].size() == full.explanation.blocks[0].tensors.size());
  CHECK(run["blocks"][0]["recompute_s"] == seconds(full.explanation.blocks[0].recompute));
  // Without a table there are no blocks.
  const std::vector<ExplainedScenario> bare = {{"x", {{"one", full.report, help, std::nullopt}}}};
  CHECK_FALSE(nlohmann::json::parse(explanation_json(bare))["runs"][0].contains("blocks"));
}

TEST_CASE("a block is drawn with its tensors by what becomes of them") {
  const Explained selective(", checkpoint: selective");
  const std::string dot =
      remat::drawn_block(selective.steps.steady().graph, 1, selective.explanation.drawn);
  CHECK(dot.find("digraph G {") == 0);
  CHECK(dot.find("shape=box") != std::string::npos);
  CHECK(dot.find("fillcolor=lightblue") != std::string::npos);
  // Probabilities, which the core makes again.
  const std::size_t probabilities = dot.find("_softmax\\n");
  REQUIRE(probabilities != std::string::npos);
  const std::string line = dot.substr(probabilities, dot.find('\n', probabilities) - probabilities);
  CHECK(line.find("style=dashed") != std::string::npos);
  CHECK(dot.find("->") != std::string::npos);
}
