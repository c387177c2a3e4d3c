#include "tools/ledger.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"
#include "tests/support/runs.hpp"
#include "tools/evaluate.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

scenarios::RunSpec seven_billion() {
  return scenarios::load(test::source_file("scenarios/7b-on-80gb.yaml")).runs.front();
}

Bytes saved_with(const std::vector<OptionEffect>& effects, const std::string& yaml) {
  const auto found = std::ranges::find(effects, yaml, &OptionEffect::yaml);
  INFO(yaml);
  REQUIRE(found != effects.end());
  return found->saved_of_layer;
}

const SavedTensor& tensor_named(const Ledger& ledger, const char* name) {
  const auto found = std::ranges::find(ledger.saved, name, &SavedTensor::name);
  INFO(name);
  REQUIRE(found != ledger.saved.end());
  return *found;
}

// s = 2048, b = 1, h = 4096, a = 32: sbh is 8,388,608 and a s^2 b 134,217,728. The mean and the
// reciprocal deviation of two norms are four fp32 numbers a token more: 32,768 bytes.
constexpr std::int64_t kSbh = 8'388'608;
constexpr std::int64_t kScores = 134'217'728;
constexpr std::int64_t kStatistics = 32'768;

}  // namespace

TEST_CASE("a block's saved bytes are those of the published formula, and statistics of the norms") {
  // 34 sbh + 5 a s^2 b: Korthikanti et al. 2022, "Reducing Activation Recomputation in Large
  // Transformer Models", equation 1.
  const Ledger ledger = make_ledger(seven_billion());
  CHECK(ledger.saved_of_layer == Bytes(34 * kSbh + 5 * kScores + kStatistics));
  CHECK(ledger.saved_of_all_layers == Bytes(32 * ledger.saved_of_layer.count));
  CHECK(ledger.saved_in_all > ledger.saved_of_all_layers);
}

TEST_CASE("each saved tensor comes with the nodes that save it and the part that makes it") {
  const Ledger ledger = make_ledger(seven_billion());
  const SavedTensor& probabilities = tensor_named(ledger, "_softmax");
  CHECK(probabilities.saved_by == std::vector<std::string>{"softmax"});
  CHECK(probabilities.module == Module::kAttentionCore);
  CHECK(probabilities.bytes == Bytes(2 * kScores));
  // Query and key go into one product, value into the other: three views of one storage.
  const SavedTensor& qkv = tensor_named(ledger, "addmm");
  CHECK(qkv.saved_by == std::vector<std::string>{"baddbmm", "bmm"});
  CHECK(qkv.module == Module::kQkv);
  for (const SavedTensor& tensor : ledger.saved) CHECK_FALSE(tensor.saved_by.empty());
}

TEST_CASE("what another option would save is what lowering with it saves") {
  const std::vector<OptionEffect> effects = option_effects(seven_billion());
  // Flash keeps neither scores, probabilities nor their mask, but a log-sum a head and token.
  CHECK(saved_with(effects, "kernels: {attention: flash}") ==
        Bytes(34 * kSbh + kStatistics + 32 * 2048 * 4));
  // Masks in bf16 take a byte an element more: one of the scores, two of the residuals.
  CHECK(saved_with(effects, "kernels: {dropout_mask: dtype}") ==
        Bytes(36 * kSbh + 6 * kScores + kStatistics));
  // Without dropout only the probabilities remain of the scores, and no mask.
  CHECK(saved_with(effects, "model: {dropout: 0}") == Bytes(32 * kSbh + 2 * kScores + kStatistics));
  CHECK(saved_with(effects, "checkpoint: full") == Bytes(2 * kSbh));
  CHECK(saved_with(effects, "kernels: {loss: native}") ==
        Bytes(34 * kSbh + 5 * kScores + kStatistics));
}

TEST_CASE("an option's present value is none of its effects") {
  const std::vector<OptionEffect> effects = option_effects(seven_billion());
  CHECK(std::ranges::find(effects, "kernels: {attention: eager}", &OptionEffect::yaml) ==
        effects.end());
  CHECK(std::ranges::find(effects, "kernels: {norm: fused}", &OptionEffect::yaml) == effects.end());
}

TEST_CASE("the ledger of a run that recomputes is that of one that does not") {
  scenarios::RunSpec run = seven_billion();
  const Ledger plain = make_ledger(run);
  run.checkpoint_policy = "full";
  run.checkpointing.segments = {{0, 32}};
  CHECK(make_ledger(run).saved_in_all == plain.saved_in_all);
  CHECK(option_effects(run).size() == option_effects(seven_billion()).size());
}

TEST_CASE("what a run saves as it is follows its checkpoint policy") {
  scenarios::RunSpec run = seven_billion();
  const Ledger plain = make_ledger(run);
  REQUIRE(saved_as_it_is(run).has_value());
  CHECK(saved_as_it_is(run)->saved_of_layer == plain.saved_of_layer);
  CHECK(saved_as_it_is(run)->saved == plain.saved_in_all);
  run.checkpoint_policy = "full";
  run.checkpointing.segments.clear();
  for (std::int64_t block = 0; block < 32; ++block) {
    run.checkpointing.segments.push_back({block, block + 1});
  }
  CHECK(saved_as_it_is(run)->saved_of_layer == Bytes(2 * kSbh));  // its input
  CHECK(saved_as_it_is(run)->yaml == "checkpoint: full");
  run.checkpoint_policy = "layered";  // would have to be planned
  CHECK_FALSE(saved_as_it_is(run).has_value());
}

TEST_CASE("what the update copies is what a run's gradients come to while it runs") {
  // So few tokens that the update is where most is alive.
  const auto run_with = [](const std::string& kernels) {
    return support::run_of(
        "model: {architecture: gpt, layers: 2, hidden: 128, heads: 2, vocab: 500, max_positions: "
        "8}\ntraining: {sequence: 8, precision: bf16-mixed}\nkernels: {" +
        kernels + "}\nhardware: a100-80gb-sxm\nstrategies: [{name: one}]\n");
  };
  for (const char* kernel : {"single", "foreach"}) {
    INFO(kernel);
    const scenarios::RunSpec run = run_with(std::string("optimizer: ") + kernel);
    const Ledger ledger = make_ledger(run);
    CHECK(ledger.gradient_copies == Bytes(4 * ledger.parameters));
    const Peak peak = evaluate(run).tier(Tier::kHbm).peak_moment;
    CHECK(peak.phase == Phase::kOptimizer);
    CHECK(peak.by_category[static_cast<std::size_t>(Category::kGradients)] ==
          ledger.gradient_copies);
  }
  const std::string direct = "master_gradients: direct, optimizer: fused";
  CHECK(make_ledger(run_with(direct)).gradient_copies == Bytes(0));
}
