#include "tools/explain.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "scenarios/load.hpp"
#include "tests/support/catch.hpp"

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
  return scenarios::load(
             std::make_shared<const scenarios::Source>(scenarios::Source{"small.yaml", text}))
      .runs.front();
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
  CHECK(blocks_text(first.explanation).find("blocks 0 to 1: keeps") == 0);
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
  REQUIRE(!help.answers.empty());
  for (const Helpful& each : help.answers) {
    const auto changed = with_changes(all.run, std::span(&each.change, 1));
    REQUIRE(changed);
    CHECK(evaluate(*changed).step_time == each.report.step_time);
  }
  const auto lines = sentences(all.report, help);
  CHECK(lines.front().find("Peak: HBM holds most") == 0);
  CHECK(lines.size() == 2 + help.answers.size());
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
