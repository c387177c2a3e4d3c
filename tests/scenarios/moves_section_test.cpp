// offload.activations and offload.parameters, in short and in full.

#include <string>

#include "scenarios/load.hpp"
#include "scenarios/resolved.hpp"
#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

Offload offload_of(const std::string& written) {
  const Scenario scenario =
      load_text(kStart + "offload: " + written + "\nstrategies:\n  - name: a\n");
  return scenario.runs.at(0).offload;
}

TEST_CASE("nothing moves unless it is said") {
  const Offload offload = offload_of("{}");
  CHECK(offload.activations.to == ActivationOffload::To::kGpu);
  CHECK(offload.parameters.to == ParameterOffload::To::kGpu);
}

TEST_CASE("a place alone is short for a mapping with the defaults of the table") {
  const Offload offload = offload_of("{optimizer: ssd, activations: host, parameters: ssd}");
  CHECK(offload.activations.to == ActivationOffload::To::kHost);
  CHECK(offload.activations.which == ActivationOffload::Which::kSaved);
  CHECK(offload.activations.larger_than == 1_MiB);
  CHECK(offload.activations.keep_last == 1);
  CHECK(offload.activations.prefetch == 1);
  CHECK(offload.activations.when == ActivationOffload::When::kAlways);
  CHECK(offload.activations.pool == 0_B);
  CHECK_FALSE(offload.activations.synchronous);
  CHECK(offload.parameters.to == ParameterOffload::To::kSsd);
  CHECK(offload.parameters.prefetch == 1);
  CHECK(offload.parameters.buffers == 2);
}

TEST_CASE("every key of a mapping is read") {
  const Offload offload = offload_of(
      "{optimizer: host, activations: {to: ssd, which: modules, modules: [mlp_out, embedding, "
      "norm], larger_than: 0 B, keep_last: 0, prefetch: 3, when: fits_in_window, pool: 4 GiB}, "
      "parameters: {to: host, prefetch: 0, buffers: 7}}");
  CHECK(offload.activations.to == ActivationOffload::To::kSsd);
  CHECK(offload.activations.which == ActivationOffload::Which::kModules);
  const auto bit = [](Module module) { return 1u << static_cast<unsigned>(module); };
  CHECK(offload.activations.modules ==
        (bit(Module::kMlpOut) | bit(Module::kEmbedding) | bit(Module::kNorm)));
  CHECK(offload.activations.larger_than == 0_B);
  CHECK(offload.activations.keep_last == 0);
  CHECK(offload.activations.prefetch == 3);
  CHECK(offload.activations.when == ActivationOffload::When::kFitsInWindow);
  CHECK(offload.activations.pool == 4_GiB);
  CHECK(offload.parameters.to == ParameterOffload::To::kHost);
  CHECK(offload.parameters.prefetch == 0);
  CHECK(offload.parameters.buffers == 7);
  CHECK(offload_of("{activations: {to: host, synchronous: true}}").activations.synchronous);
}

TEST_CASE("the names of modules are those of the ops' modules") {
  const auto module = [](const std::string& name) {
    return offload_of("{activations: {to: host, which: modules, modules: " + name + "}}")
        .activations.modules;
  };
  const auto bit = [](Module m) { return 1u << static_cast<unsigned>(m); };
  CHECK(module("embedding") == bit(Module::kEmbedding));
  CHECK(module("qkv") == bit(Module::kQkv));
  CHECK(module("rotary") == bit(Module::kRotary));
  CHECK(module("attention_core") == bit(Module::kAttentionCore));
  CHECK(module("attention_output") == bit(Module::kAttentionOutput));
  CHECK(module("mlp_in") == bit(Module::kMlpIn));
  CHECK(module("mlp_activation") == bit(Module::kMlpActivation));
  CHECK(module("head") == bit(Module::kHead));
  CHECK(module("loss") == bit(Module::kLoss));
}

TEST_CASE("a strategy lies over the short form key by key, and a place alone replaces it") {
  const Scenario scenario =
      load_text(kStart +
                "offload: {activations: {to: host, prefetch: 4}}\n"
                "strategies:\n"
                "  - {name: a, offload: {activations: {keep_last: 2}}}\n"
                "  - {name: b, offload: {activations: ssd}}\n"
                "  - {name: c, offload: {optimizer: host, parameters: host}}\n");
  CHECK(scenario.runs[0].offload.activations.to == ActivationOffload::To::kHost);
  CHECK(scenario.runs[0].offload.activations.prefetch == 4);
  CHECK(scenario.runs[0].offload.activations.keep_last == 2);
  CHECK(scenario.runs[1].offload.activations.to == ActivationOffload::To::kSsd);
  CHECK(scenario.runs[1].offload.activations.prefetch == 1);
  CHECK(scenario.runs[2].offload.activations.prefetch == 4);
}

TEST_CASE("what moves can be swept") {
  const Scenario scenario = load_text(kStart +
                                      "offload: {activations: host}\n"
                                      "sweep: {offload.activations.prefetch: [0, 1, 2]}\n"
                                      "strategies:\n  - name: a\n");
  REQUIRE(scenario.runs.size() == 3);
  CHECK(scenario.runs[2].offload.activations.prefetch == 2);
  CHECK(scenario.runs[2].offload.activations.to == ActivationOffload::To::kHost);
}

TEST_CASE("a run that moves everything can be printed and read back") {
  const std::string everything = GENERATE(
      "{optimizer: ssd, activations: {to: ssd, which: modules, modules: [norm, head], pool: 2 GiB, "
      "when: fits_in_window}, parameters: {to: ssd, prefetch: 3, buffers: 4}}",
      "{optimizer: host, activations: {to: host, synchronous: true, keep_last: 0}, "
      "parameters: {to: host, prefetch: 0}}");
  const Scenario scenario =
      load_text(kStart + "offload: " + everything + "\nstrategies:\n  - name: a\n");
  const std::string text = resolved_yaml(scenario.runs[0]);
  const Scenario again = load_text(text);
  CHECK(resolved_yaml(again.runs[0]) == text);
  const Offload& a = scenario.runs[0].offload;
  const Offload& b = again.runs[0].offload;
  CHECK(a.activations.to == b.activations.to);
  CHECK(a.activations.modules == b.activations.modules);
  CHECK(a.activations.pool == b.activations.pool);
  CHECK(a.activations.when == b.activations.when);
  CHECK(a.activations.synchronous == b.activations.synchronous);
  CHECK(a.parameters.to == b.parameters.to);
  CHECK(a.parameters.prefetch == b.parameters.prefetch);
  CHECK(a.parameters.buffers == b.parameters.buffers);
}

}  // namespace
}  // namespace tidemark::scenarios
