#include "scenarios/catalogue.hpp"

#include <cstdint>
#include <string>

#include "scenarios/load.hpp"
#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

RunSpec run_of(const std::string& model, const std::string& hardware) {
  return load_text("model: " + model + "\nhardware: " + hardware + "\n" + kOneStrategy).runs[0];
}

// Trainable elements, counted by hand from the layers of each architecture.
std::int64_t count_parameters(const ModelConfig& m) {
  const std::int64_t inner = m.heads * m.head_dim;
  const std::int64_t kv = m.kv_heads * m.head_dim;
  const std::int64_t embedding = m.vocab * m.hidden;
  if (m.architecture == Architecture::kLlama) {
    const std::int64_t attention = 2 * m.hidden * inner + 2 * m.hidden * kv;
    const std::int64_t biases = m.qkv_bias ? inner + 2 * kv : 0;
    const std::int64_t block = attention + biases + 3 * m.hidden * m.ffn + 2 * m.hidden;
    return m.layers * block + embedding * (m.tied_embeddings ? 1 : 2) + m.hidden;
  }
  const std::int64_t attention = 4 * m.hidden * m.hidden + 4 * m.hidden;
  const std::int64_t mlp = 2 * m.hidden * m.ffn + m.ffn + m.hidden;
  const std::int64_t block = attention + mlp + 4 * m.hidden;
  return m.layers * block + embedding * (m.tied_embeddings ? 1 : 2) + m.max_positions * m.hidden +
         2 * m.hidden + m.extra_parameters;
}

TEST_CASE("catalogue models have the published numbers of parameters") {
  const struct {
    const char* name;
    std::int64_t parameters;
  } published[] = {
      // Sums of the tensors of the published checkpoints (safetensors metadata on huggingface.co).
      {"gpt2-124m", 124'439'808},
      {"gpt2-355m", 354'823'168},
      {"gpt2-774m", 774'030'080},
      {"gpt2-1.5b", 1'557'611'200},
      {"llama-2-7b", 6'738'415'616},
      {"llama-2-13b", 13'015'864'320},
      {"llama-2-70b", 68'976'648'192},
      {"llama-3-8b", 8'030'261'248},
      {"llama-3-70b", 70'553'706'496},
      {"llama-3-405b", 405'853'388'800},
      {"mistral-7b", 7'241'732'096},
      {"qwen2-0.5b", 494'032'768},
      {"qwen2-7b", 7'615'616'512},
      {"qwen2-72b", 72'706'203'648},
      {"tinyllama-1.1b", 1'100'048'384},
      // By definition.
      {"gpt-7b", 7'000'000'000},
  };
  for (const auto& each : published) {
    INFO(each.name);
    CHECK(count_parameters(run_of(each.name, "h200").model) == each.parameters);
  }
}

TEST_CASE("every catalogue model loads under its own name and has a description and a source") {
  Diagnostics diagnostics;
  Catalogue catalogue(diagnostics);
  CHECK(catalogue.models().size() >= 13);
  for (const CatalogueEntry& entry : catalogue.models()) {
    INFO(entry.name);
    CHECK_FALSE(entry.description.empty());
    CHECK(run_of(entry.name, "h200").model.name == entry.name);
  }
  for (const EmbeddedFile& file : model_files()) {
    INFO(file.name);
    CHECK(file.text.find("source: ") != std::string_view::npos);
  }
}

TEST_CASE("every catalogue device loads, with plausible figures") {
  Diagnostics diagnostics;
  Catalogue catalogue(diagnostics);
  int gpus = 0, hosts = 0, drives = 0, links = 0;
  for (const CatalogueEntry& entry : catalogue.devices()) {
    INFO(entry.name);
    CHECK_FALSE(entry.description.empty());
    if (entry.kind == "gpu") {
      const Machine machine = run_of("gpt-7b", entry.name).machine;
      CHECK(machine.gpu.name == entry.name);
      CHECK(machine.gpu.description == entry.description);
      CHECK(machine.gpu.capacity >= 16_GiB);
      CHECK(machine.gpu.matmul_16bit >= machine.gpu.matmul_32bit);
      CHECK(machine.runtime.context > 0_B);
      CHECK(machine.pcie.both <= machine.pcie.h2d + machine.pcie.d2h);
      ++gpus;
    } else {
      const std::string part = "{base: h200, " + entry.kind + ": " + entry.name + "}";
      const Machine machine = run_of("gpt-7b", part).machine;
      const std::string name = entry.kind == "host"  ? machine.host.name
                               : entry.kind == "ssd" ? machine.ssd.name
                                                     : machine.pcie.name;
      CHECK(name == entry.name);
      hosts += entry.kind == "host";
      drives += entry.kind == "ssd";
      links += entry.kind == "pcie";
    }
  }
  CHECK(gpus >= 7);
  CHECK(hosts >= 1);
  CHECK(drives >= 3);
  CHECK(links >= 3);
}

}  // namespace
}  // namespace tidemark::scenarios
