// Strategies, sweeps and --set: what lies over what.

#include <string>
#include <utility>
#include <vector>

#include "scenarios/load.hpp"
#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

using Point = std::vector<std::pair<std::string, std::string>>;

TEST_CASE("a strategy inherits every section and overrides key by key") {
  const Scenario scenario = load_text(kStart +
                                      "training: {micro_batch: 2, sequence: 512}\n"
                                      "offload: {optimizer: host, bucket: 1 GiB}\n"
                                      "strategies:\n"
                                      "  - name: as it is\n"
                                      "  - name: larger\n"
                                      "    training: {micro_batch: 8}\n"
                                      "    offload: {optimizer: ssd}\n"
                                      "    hardware: {ssd: {drives: 2}}\n");
  REQUIRE(scenario.runs.size() == 2);
  const RunSpec& first = scenario.runs[0];
  const RunSpec& second = scenario.runs[1];
  CHECK(first.training.micro_batch == 2);
  CHECK(second.training.micro_batch == 8);
  CHECK(second.training.sequence == 512);
  CHECK(first.offload.optimizer == Offload::States::kHost);
  CHECK(second.offload.optimizer == Offload::States::kSsd);
  CHECK(second.offload.bucket == 1_GiB);
  CHECK(first.machine.ssd.drives == 1);
  CHECK(second.machine.ssd.drives == 2);
  CHECK(second.machine.name == "a100-80gb-sxm");
}

TEST_CASE("a scalar replaces a section, a mapping lies over its short form") {
  const Scenario scenario =
      load_text(kStart +
                "checkpoint: {policy: every-n, n: 4, reentrant: false}\n"
                "strategies:\n"
                "  - {name: a, checkpoint: every-n}\n"  // all of the section is new: n is 2 again
                "  - {name: b, checkpoint: {n: 8}}\n"   // policy and reentrant are inherited
                "  - {name: c, model: {layers: 16}}\n"  // over the short form gpt-7b
                "  - {name: d, hardware: h200}\n");
  CHECK(scenario.runs[0].checkpointing.segments.size() == 16);
  CHECK(scenario.runs[0].checkpointing.reentrant);
  CHECK(scenario.runs[1].checkpointing.segments.size() == 4);
  CHECK_FALSE(scenario.runs[1].checkpointing.reentrant);
  CHECK(scenario.runs[2].model.layers == 16);
  CHECK(scenario.runs[2].checkpointing.segments.size() == 4);
  CHECK(scenario.runs[3].machine.name == "h200");
}

TEST_CASE("strategies may bring what the scenario leaves out") {
  const Scenario scenario = load_text(
      "model: gpt-7b\n"
      "strategies: [{name: a, hardware: h200}, {name: b, hardware: a100-40gb-sxm}]\n");
  CHECK(scenario.runs[1].machine.name == "a100-40gb-sxm");
  CHECK(errors_of("model: gpt-7b\nstrategies: [{name: a, hardware: h200}, {name: b}]\n")
            .find("missing key 'hardware'") != std::string::npos);
}

TEST_CASE("a sweep is the cross product: points outermost, the last key fastest") {
  const Scenario scenario = load_text(kStart +
                                      "strategies: [{name: a}, {name: b, checkpoint: full}]\n"
                                      "sweep:\n"
                                      "  training.sequence: [512, 1024]\n"
                                      "  training.micro_batch: [1, 2, 4]\n");
  REQUIRE(scenario.runs.size() == 12);
  CHECK(scenario.runs[0].strategy == "a");
  CHECK(scenario.runs[1].strategy == "b");
  CHECK(scenario.runs[0].point ==
        Point{{"training.sequence", "512"}, {"training.micro_batch", "1"}});
  CHECK(scenario.runs[2].point ==
        Point{{"training.sequence", "512"}, {"training.micro_batch", "2"}});
  CHECK(scenario.runs[6].point ==
        Point{{"training.sequence", "1024"}, {"training.micro_batch", "1"}});
  CHECK(scenario.runs[11].training.sequence == 1024);
  CHECK(scenario.runs[11].training.micro_batch == 4);
  CHECK(scenario.runs[11].strategy == "b");
}

TEST_CASE("whole sections and keys of parts can be swept") {
  const Scenario scenario = load_text(
      kStart + kOneStrategy +
      "sweep: {checkpoint: [none, {policy: every-n, n: 8}], hardware.ssd.drives: [1, 3]}\n");
  REQUIRE(scenario.runs.size() == 4);
  CHECK(scenario.runs[0].checkpoint_policy == "none");
  CHECK(scenario.runs[3].checkpoint_policy == "every-n");
  CHECK(scenario.runs[3].point[0].second == "{policy: every-n, n: 8}");
  CHECK(scenario.runs[3].machine.ssd.drives == 3);
}

TEST_CASE("a sweep may have 10,000 runs and not one more") {
  LoadLimits limits;
  limits.runs = 6;
  const std::string two = kStart + "strategies: [{name: a}, {name: b}]\nsweep: ";
  CHECK(errors_of(two + "{training.micro_batch: [1, 2, 3]}\n", {}, limits) == "loaded");
  CHECK(errors_of(two + "{training.micro_batch: [1, 2, 3, 4]}\n", {}, limits)
            .find("test.yaml:4:8: error: too many runs") == 0);
  CHECK(LoadLimits{}.runs == 10'000);
}

TEST_CASE("the option --set lies over everything, and fixes what would be swept") {
  const std::string text = kStart +
                           "strategies: [{name: a, training: {sequence: 512}}]\n"
                           "sweep: {training.micro_batch: [1, 2], kernels.keep_logits: [true]}\n";
  const Scenario scenario =
      load_text(text, {{"training.sequence", "256"}, {"training.micro_batch", "16"}});
  REQUIRE(scenario.runs.size() == 1);
  CHECK(scenario.runs[0].training.sequence == 256);
  CHECK(scenario.runs[0].training.micro_batch == 16);
  CHECK(scenario.runs[0].point == Point{{"kernels.keep_logits", "true"}});
}

TEST_CASE("the option --set takes any YAML value, the last one of a key wins") {
  const Scenario scenario = load_text(
      kStart + kOneStrategy,
      {{"checkpoint", "full"}, {"checkpoint", "{policy: every-n, n: 16}"}, {"hardware", "h200"}});
  CHECK(scenario.runs[0].checkpointing.segments.size() == 2);
  CHECK(scenario.runs[0].machine.name == "h200");
}

TEST_CASE("faults of --set are told with the option as it was given") {
  const auto error = [](const Override& each) { return errors_of(kStart + kOneStrategy, {each}); };
  CHECK(error({"training.micro_batch", "0"}) ==
        "--set training.micro_batch=0: error: micro_batch: must be at least 1");
  CHECK(error({"training.micro_bach", "2"}).find("unknown key 'micro_bach' in training") !=
        std::string::npos);
  CHECK(error({"trainin.micro_batch", "2"})
            .find("--set trainin.micro_batch=2: error: unknown "
                  "section 'trainin'; did you mean 'training'?") == 0);
  CHECK(error({"training.micro_batch", "[1"}).find("--set training.micro_batch=[1: error:") == 0);
  CHECK(error({"training.micro_batch", ""}) ==
        "--set training.micro_batch=: error: micro_batch: expected a whole number, found nothing");
  CHECK(error({"name", "x"}).find("'name' belongs to the scenario") != std::string::npos);
  CHECK(error({"", "x"}).find("unknown section ''") != std::string::npos);
  CHECK(error({"training.micro_batch", "1\n---\n2"}).find("error:") != std::string::npos);
}

const std::string kThree = kStart +
                           "strategies:\n"
                           "  - {name: a}\n"
                           "  - {name: b, offload: {optimizer: host}}\n"
                           "  - {name: c, checkpoint: full}\n";

TEST_CASE("an option --set is held against the strategies that are asked for alone") {
  const std::vector<Override> late = {{"offload.delayed_update", "true"}};
  const Scenario scenario = load_text(kThree, late, {.strategies = {"b"}});
  REQUIRE(scenario.runs.size() == 1);
  CHECK(scenario.runs[0].strategy == "b");
  CHECK(scenario.runs[0].offload.delayed_update);
  CHECK(scenario.strategies == std::vector<std::string>{"a", "b", "c"});
  // One run is left of three, and may be all that there may be.
  CHECK(load_text(kThree, {}, {.runs = 1, .strategies = {"c"}}).runs.size() == 1);
  CHECK(load_text(kThree, {}, {.strategies = {"d"}}).runs.empty());
}

TEST_CASE("a fault that not every strategy has is told with the names of those that have it") {
  const std::string late =
      "--set offload.delayed_update=true: error: delayed_update: there is no update on the CPU to "
      "delay";
  const std::string advice = "; optimizer: host or ssd, and update_on: cpu";
  const std::vector<Override> set = {{"offload.delayed_update", "true"}};
  CHECK(errors_of(kThree, set) == late + " (strategies 'a', 'c')" + advice);
  CHECK(errors_of(kThree, set, {.strategies = {"b", "c"}}) == late + " (strategy 'c')" + advice);
  // Of all, or at a place in the strategy's own text, it needs no name.
  CHECK(errors_of(kStart + kOneStrategy, set) == late + advice);
  CHECK(errors_of(kThree, {{"training.micro_batch", "0"}}) ==
        "--set training.micro_batch=0: error: micro_batch: must be at least 1");
  CHECK(errors_of(kStart + "strategies: [{name: a}, {name: b, checkpoint: ful}]\n")
            .find("(strateg") == std::string::npos);
  // In the text that all inherit, it does.
  CHECK(errors_of(kStart + "offload: {overlap: false}\n"
                           "strategies: [{name: a}, {name: b, offload: {optimizer: host}}]\n")
            .find("test.yaml:3:20: error: overlap: no states leave the GPU (strategy 'a')\n") == 0);
  std::string many = kStart + "strategies: [{name: host, offload: {optimizer: host}}";
  for (const char* name : {"p", "q", "r", "s", "t"}) many += std::string(", {name: ") + name + "}";
  CHECK(errors_of(many + "]\n", set) == late + " (strategies 'p', 'q', 'r' and 2 more)" + advice);
}

TEST_CASE("another policy takes the place of one with its options, and keeps what both have") {
  const std::string base = kStart +
                           "checkpoint: {policy: every-n, n: 4, reentrant: false}\n"
                           "strategies:\n"
                           "  - {name: inherited, checkpoint: {policy: full}}\n"
                           "  - {name: own, checkpoint: {policy: layered, budget: 40 GB}}\n";
  const Scenario scenario = load_text(base);
  CHECK(scenario.runs[0].checkpoint_policy == "full");
  CHECK_FALSE(scenario.runs[0].checkpointing.reentrant);
  CHECK(scenario.runs[1].checkpoint_policy == "layered");  // has no segments to be reentrant
  // What is cached is never reentrant; early_stop says nothing of what is compiled.
  const Scenario cached =
      load_text(kStart +
                "checkpoint: {policy: full, reentrant: false, early_stop: false}\n"
                "strategies:\n"
                "  - {name: eager, checkpoint: {policy: ops}}\n"
                "  - {name: compiled, checkpoint: {policy: ops, replay: needed}}\n"
                "  - {name: back, checkpoint: {policy: every-n}}\n");
  CHECK_FALSE(cached.runs[0].checkpointing.reentrant);
  CHECK_FALSE(cached.runs[0].checkpointing.early_stop);
  CHECK(cached.runs[1].checkpointing.segments.empty());
  CHECK_FALSE(cached.runs[2].checkpointing.reentrant);
  CHECK_FALSE(load_text(kStart + "checkpoint: {policy: full, reentrant: true}\n"
                                 "strategies: [{name: a, checkpoint: {policy: ops}}]\n")
                  .runs[0]
                  .checkpointing.reentrant);
  // The budget of one planner is one of the other's.
  const Scenario set = load_text(base, {{"checkpoint", "{policy: revolve}"}});
  CHECK(set.runs[1].checkpoint_options.at(0).integer == 40'000'000'000);
  CHECK(load_text(base, {{"checkpoint.policy", "full"}}).runs[1].checkpoint_policy == "full");
  // A misspelt option is no option of the policy that it stood beside.
  CHECK(
      errors_of(kStart + "strategies: [{name: a, checkpoint: {policy: layered, budgett: 40 GB}}]\n",
                {{"checkpoint", "{policy: full}"}})
          .find("unknown key 'budgett'") != std::string::npos);
}

TEST_CASE("another allocator leaves the settings of the one that was there behind") {
  const Scenario scenario = load_text(kStart +
                                      "allocator: {kind: caching, settings: "
                                      "\"max_split_size_mb:128\"}\n"
                                      "strategies:\n"
                                      "  - {name: a, allocator: {kind: ideal}}\n"
                                      "  - {name: b, allocator: {kind: caching}}\n");
  CHECK(scenario.runs[0].allocator.settings.empty());
  CHECK(scenario.runs[1].allocator.settings == "max_split_size_mb:128");
}

}  // namespace
}  // namespace tidemark::scenarios
