// `offload:`: its keys, its presets, and what lies over what.

#include <algorithm>
#include <string>

#include "scenarios/presets.hpp"
#include "scenarios/resolved.hpp"
#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

Offload offload_of(const std::string& text) {
  return load_text(kStart + "offload: " + text + "\n" + kOneStrategy).runs.at(0).offload;
}

TEST_CASE("what is not stated of an offload moves nothing and overlaps") {
  const Offload offload = offload_of("{}");
  CHECK_FALSE(offload.moves_states());
  CHECK_FALSE(offload.moves_gradients());
  CHECK(offload.update_on == Offload::Processor::kCpu);
  CHECK(offload.accumulate_on == Offload::Processor::kCpu);
  CHECK(offload.fraction == 1);
  CHECK(offload.overlap);
  CHECK_FALSE(offload.delayed_update);
}

TEST_CASE("every key of an offload reaches its field, and is printed and read back") {
  const std::string text = kStart +
                           "offload: {optimizer: ssd, update_on: gpu, fraction: 0.25, overlap: "
                           "false, gradients: host, accumulate_on: gpu}\n" +
                           kOneStrategy;
  const RunSpec run = load_text(text).runs.at(0);
  CHECK(run.offload.optimizer == Offload::States::kSsd);
  CHECK(run.offload.update_on == Offload::Processor::kGpu);
  CHECK(run.offload.fraction == 0.25);
  CHECK_FALSE(run.offload.overlap);
  CHECK(run.offload.gradients == Offload::States::kHost);
  CHECK(run.offload.accumulate_on == Offload::Processor::kGpu);
  const std::string printed = resolved_yaml(run);
  CHECK(resolved_yaml(load_text(printed).runs.at(0)) == printed);
  CHECK(offload_of("{optimizer: host, delayed_update: true}").delayed_update);
}

TEST_CASE("a preset is what its table says, by itself or with keys that lie over it") {
  const Offload plain = offload_of("zero-offload");
  CHECK(plain.optimizer == Offload::States::kHost);
  CHECK(plain.updates_on_cpu());
  CHECK(plain.gradients == Offload::States::kHost);
  CHECK(plain.accumulate_on == Offload::Processor::kGpu);
  const Offload changed =
      offload_of("{preset: zero-offload, accumulate_on: cpu, delayed_update: true, bucket: 1 MB}");
  CHECK(changed.optimizer == Offload::States::kHost);
  CHECK(changed.accumulate_on == Offload::Processor::kCpu);
  CHECK(changed.delayed_update);
  CHECK(changed.bucket == 1'000'000_B);
}

TEST_CASE("a strategy's keys lie over the scenario's preset, and a strategy's preset under them") {
  const Scenario scenario = load_text(kStart +
                                      "offload: zero-offload\n"
                                      "strategies:\n"
                                      "  - {name: a, offload: {optimizer: ssd}}\n"
                                      "  - {name: b}\n");
  CHECK(scenario.runs[0].offload.optimizer == Offload::States::kSsd);
  CHECK(scenario.runs[0].offload.gradients == Offload::States::kHost);
  CHECK(scenario.runs[1].offload.optimizer == Offload::States::kHost);
  const Scenario other = load_text(kStart +
                                   "offload: {bucket: 7 MB}\n"
                                   "strategies:\n"
                                   "  - {name: a, offload: {preset: zero-offload}}\n");
  CHECK(other.runs[0].offload.bucket == 7'000'000_B);
  CHECK(other.runs[0].offload.optimizer == Offload::States::kHost);
}

TEST_CASE("a preset explains itself in two lines, with its paper, and sets only keys that exist") {
  for (const Preset& preset : presets()) {
    INFO(preset.name);
    CHECK(std::count(preset.summary.begin(), preset.summary.end(), '\n') == 1);
    CHECK(preset.paper.size() > 10);
    CHECK_FALSE(preset.settings.empty());
    CHECK_NOTHROW(offload_of(std::string(preset.name)));
  }
}

TEST_CASE("optimizer and gradients may be mappings, as activations and parameters are") {
  const Offload flat = offload_of(
      "{optimizer: host, fraction: 0.5, bucket: 1 MB, gradients: host, accumulate_on: gpu}");
  const Offload nested = offload_of(
      "{optimizer: {to: host, fraction: 0.5, bucket: 1 MB}, "
      "gradients: {to: host, accumulate_on: gpu}}");
  for (const Offload& offload : {flat, nested}) {
    CHECK(offload.optimizer == Offload::States::kHost);
    CHECK(offload.fraction == 0.5);
    CHECK(offload.bucket == 1'000'000_B);
    CHECK(offload.gradients == Offload::States::kHost);
    CHECK(offload.accumulate_on == Offload::Processor::kGpu);
  }
  // A mapping lies over the short form and over a preset; --set reaches into it.
  const Scenario scenario =
      load_text(kStart + "offload: {preset: zero-offload}\n" +
                    "strategies: [{name: a, offload: {optimizer: {fraction: 0.25}}}]\n",
                {{"offload.optimizer.bucket", "2 MB"}});
  CHECK(scenario.runs[0].offload.optimizer == Offload::States::kHost);
  CHECK(scenario.runs[0].offload.fraction == 0.25);
  CHECK(scenario.runs[0].offload.bucket == 2'000'000_B);
  // Checks find the key where it stands.
  CHECK(errors_of(kStart + "offload:\n  optimizer: {to: gpu, fraction: 0.5}\n" + kOneStrategy)
            .find("test.yaml:4:34: error: fraction: no states leave the GPU") != std::string::npos);
}

TEST_CASE("a preset that checkpoints does so unless another policy is written") {
  const auto run_of = [](const std::string& sections) {
    return load_text(kStart + sections + kOneStrategy).runs.at(0);
  };
  for (const char* preset : {"zero-infinity", "l2l"}) {
    const std::string offload = std::string("offload: ") + preset + "\n";
    CHECK(run_of(offload).checkpoint_policy == "full");
    CHECK(run_of(offload).checkpointing.segments.size() == 32);
    CHECK(run_of(offload + "checkpoint: none\n").checkpoint_policy == "none");
    CHECK(run_of(offload + "checkpoint: {policy: every-n, n: 4}\n").checkpoint_policy == "every-n");
    const RunSpec other = run_of(offload + "checkpoint: {reentrant: false}\n");
    CHECK(other.checkpoint_policy == "full");
    CHECK_FALSE(other.checkpointing.reentrant);
  }
  CHECK(run_of("offload: zero-offload\n").checkpoint_policy == "none");
}

}  // namespace
}  // namespace tidemark::scenarios
