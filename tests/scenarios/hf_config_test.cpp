// What config.json files of Hugging Face models become.

#include "scenarios/hf_config.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "scenarios/resolved.hpp"
#include "tests/scenarios/hf_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"

namespace tidemark::scenarios {
namespace {

const std::string kConfigs = test::source_file("tests/data/hf_configs/");

void check_same(const ModelConfig& a, const ModelConfig& b) {
  CHECK(a.architecture == b.architecture);
  CHECK(a.layers == b.layers);
  CHECK(a.hidden == b.hidden);
  CHECK(a.heads == b.heads);
  CHECK(a.kv_heads == b.kv_heads);
  CHECK(a.head_dim == b.head_dim);
  CHECK(a.ffn == b.ffn);
  CHECK(a.vocab == b.vocab);
  CHECK(a.max_positions == b.max_positions);
  CHECK(a.tied_embeddings == b.tied_embeddings);
  CHECK(a.qkv_bias == b.qkv_bias);
  CHECK(a.dropout == b.dropout);
  CHECK(a.extra_parameters == b.extra_parameters);
}

TEST_CASE("public config.json files give the published parameter counts and the catalogue models") {
  const struct {
    const char* name;
    std::int64_t parameters;
  } published[] = {
      // Sums of the tensors of the published checkpoints (tests/data/hf_configs/README.md).
      {"gpt2-124m", 124'439'808},        {"gpt2-1.5b", 1'557'611'200},
      {"llama-2-7b", 6'738'415'616},     {"llama-2-13b", 13'015'864'320},
      {"llama-2-70b", 68'976'648'192},   {"llama-3-8b", 8'030'261'248},
      {"llama-3-70b", 70'553'706'496},   {"llama-3-405b", 405'853'388'800},
      {"mistral-7b", 7'241'732'096},     {"qwen2-0.5b", 494'032'768},
      {"qwen2-7b", 7'615'616'512},       {"qwen2-72b", 72'706'203'648},
      {"tinyllama-1.1b", 1'100'048'384},
  };
  for (const auto& each : published) {
    INFO(each.name);
    const RunSpec run = run_of("{hf_config: " + kConfigs + each.name + ".json}");
    CHECK(parameters_of(run.model) == each.parameters);
    check_same(run.model, run_of(each.name).model);
    CHECK(run.model.name == "custom");
    const std::string resolved = resolved_yaml(run);
    CHECK(resolved_yaml(load_text(resolved).runs[0]) == resolved);
  }
}

TEST_CASE("a missing field has the transformers library's default") {
  // Counts by hand. llama, 2 x 32000 x 4096 embeddings + 4096 + 32 blocks of
  // 4 x 4096^2 + 3 x 4096 x 11008 + 2 x 4096: Llama 1 and 2 7B.
  const RunSpec llama = run_of_json(R"({"model_type": "llama"})");
  CHECK(llama.model.max_positions == 2048);
  CHECK(llama.model.kv_heads == 32);
  CHECK(parameters_of(llama.model) == 6'738'415'616);
  const ModelConfig mistral = run_of_json(R"({"model_type": "mistral"})").model;
  CHECK(mistral.max_positions == 4096);  // of 131072: the window
  CHECK(mistral.kv_heads == 8);
  CHECK(parameters_of(mistral) == 7'241'732'096);
  // 2 x 151936 x 4096 + 4096 + 32 x (4 x 4096^2 + 3 x 4096 + 3 x 4096 x 22016 + 2 x 4096)
  const ModelConfig qwen2 = run_of_json(R"({"model_type": "qwen2"})").model;
  CHECK(qwen2.max_positions == 32768);
  CHECK(qwen2.kv_heads == 32);
  CHECK(qwen2.qkv_bias);
  CHECK(parameters_of(qwen2) == 12'049'846'272);
  const ModelConfig gpt2 = run_of_json(R"({"model_type": "gpt2"})").model;
  CHECK(gpt2.tied_embeddings);
  CHECK(gpt2.dropout);
  CHECK(gpt2.ffn == 3072);
  CHECK(parameters_of(gpt2) == 124'439'808);
}

TEST_CASE("heads that are wider than hidden / heads, and null for what follows from the rest") {
  const ModelConfig wide =
      run_of_json(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
                      "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32,
                      "intermediate_size": 160, "vocab_size": 512, "tie_word_embeddings": true})")
          .model;
  CHECK(wide.head_dim == 32);
  // 512 x 64 + 64 + 2 x (q, o 2 x 64 x 128 + k, v 2 x 64 x 64 + 3 x 64 x 160 + 2 x 64)
  CHECK(parameters_of(wide) == 32'768 + 64 + 2 * (16'384 + 8'192 + 30'720 + 128));
  const ModelConfig derived =
      run_of_json(R"({"model_type": "mistral", "num_key_value_heads": null, "head_dim": null})")
          .model;
  CHECK(derived.kv_heads == 32);
  CHECK(derived.head_dim == 128);
  CHECK(run_of_json(R"({"model_type": "gpt2", "n_inner": 1000})").model.ffn == 1000);
  CHECK(run_of_json(R"({"model_type": "gpt2", "n_inner": null})").model.ffn == 3072);
}

TEST_CASE("qwen2 has biases on q, k and v and none on the output projection") {
  // 2 x 512 x 64 + 64 + (q, o 2 x 64^2 + k, v 2 x 64 x 32 + biases 64 + 2 x 32 + 3 x 64 x 160 +
  // 128)
  const ModelConfig model =
      run_of_json(R"({"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 1,
                      "num_attention_heads": 4, "num_key_value_heads": 2,
                      "intermediate_size": 160, "vocab_size": 512})")
          .model;
  CHECK(parameters_of(model) == 65'536 + 64 + 8'192 + 4'096 + 128 + 30'720 + 128);
}

TEST_CASE(
    "gpt2 has other names of its sizes, and dropout where all three probabilities are not 0") {
  const ModelConfig model =
      run_of_json(R"({"model_type": "gpt2", "hidden_size": 64, "num_hidden_layers": 2,
                      "num_attention_heads": 4, "max_position_embeddings": 128,
                      "resid_pdrop": 0, "embd_pdrop": 0.0, "attn_pdrop": 0})")
          .model;
  CHECK(model.hidden == 64);
  CHECK(model.layers == 2);
  CHECK(model.heads == 4);
  CHECK(model.max_positions == 128);
  CHECK_FALSE(model.dropout);
  CHECK(fault_of(R"({"model_type": "gpt2", "attn_pdrop": 0})") ==
        "1:1 resid_pdrop is 0.1, embd_pdrop is 0.1, attn_pdrop is 0: dropout in some places only "
        "is not modelled");
  CHECK(fault_of(R"({"model_type": "gpt2", "n_embd": 768, "hidden_size": 768})") ==
        "1:54 hidden_size is another name of n_embd: write one of them");
  CHECK(fault_of(R"({"model_type": "gpt2", "n_ctx": 1024})") == "loaded");
  CHECK(fault_of(R"({"model_type": "gpt2", "n_ctx": 512})") ==
        "1:33 n_ctx is 512 and n_positions 1024: a mask of another size is not modelled");
}

TEST_CASE("keys beside hf_config lie over what the file says") {
  const std::string json = R"({"model_type": "llama", "num_hidden_layers": 4})";
  const ModelConfig model =
      run_of_json(json, ", layers: 2, vocab: 1000, extra_parameters: 7").model;
  CHECK(model.layers == 2);
  CHECK(model.vocab == 1000);
  CHECK(model.extra_parameters == 7);
  CHECK(model.hidden == 4096);
  const std::string off = "dropout: 0";
  CHECK_FALSE(run_of_json(R"({"model_type": "gpt2"})", ", " + off).model.dropout);
  CHECK(fault_of(json, ", base: gpt-7b")
            .ends_with("base: hf_config describes the whole model already"));
}

TEST_CASE("strategies and sweeps change keys of an imported model") {
  const Folder folder(R"({"model_type": "llama", "num_hidden_layers": 4})");
  const Scenario scenario = load(folder.write("s.yaml",
                                              "model: {hf_config: config.json}\n"
                                              "hardware: h200\n"
                                              "sweep: {model.layers: [1, 2]}\n"
                                              "strategies:\n"
                                              "  - name: as it is\n"
                                              "  - name: narrow\n"
                                              "    model: {ffn: 256}\n"
                                              "  - name: another\n"
                                              "    model: {hf_config: ./config.json}\n"));
  REQUIRE(scenario.runs.size() == 6);
  CHECK(scenario.runs[0].model.layers == 1);
  CHECK(scenario.runs[0].model.ffn == 11008);
  CHECK(scenario.runs[4].model.layers == 2);
  CHECK(scenario.runs[4].model.ffn == 256);
  CHECK(scenario.runs[5].model.ffn == 11008);
}

TEST_CASE(
    "a model that lies over another replaces it, whether it is imported or of the catalogue") {
  const Folder folder(R"({"model_type": "gpt2", "n_layer": 3})");
  const Scenario scenario = load(folder.write("s.yaml",
                                              "model: {base: gpt2-774m, max_positions: 77}\n"
                                              "hardware: h200\n"
                                              "strategies:\n"
                                              "  - name: of the catalogue\n"
                                              "  - name: imported\n"
                                              "    model: {hf_config: config.json}\n"));
  REQUIRE(scenario.runs.size() == 2);
  CHECK(scenario.runs[0].model.layers == 36);
  CHECK(scenario.runs[1].model.layers == 3);
  CHECK(scenario.runs[1].model.max_positions == 77);  // a key of its own stays
  const std::vector<Override> back = {{"model", "{base: gpt2-124m}"}};
  const Scenario again = load(folder.path("s.yaml"), back);
  CHECK(again.runs[1].model.layers == 12);
}

TEST_CASE("a path is relative to the scenario file") {
  const Folder folder(R"({"model_type": "gpt2", "n_layer": 3})");
  const std::string text = "model: {hf_config: config.json}\n" + kHardware;
  CHECK(load(folder.write("s.yaml", text)).runs[0].model.layers == 3);
  // That of a text without a folder, and of --set, to the working folder.
  CHECK(errors_of(text).find("test.yaml:1:20: error: hf_config: cannot read: No such file or "
                             "directory\n") == 0);
  const std::string catalogue =
      folder.write("t.yaml", "model: {base: gpt2-124m, layers: 5}\n" + kHardware);
  const std::vector<Override> set = {{"model.hf_config", "config.json"}};
  CHECK(refusal_of(catalogue, set)
            .find("--set model.hf_config=config.json: error: hf_config: cannot "
                  "read: No such file or directory; looked at config.json") == 0);
  const std::vector<Override> whole = {{"model.hf_config", folder.path("config.json")}};
  CHECK(load(catalogue, whole).runs[0].model.layers == 5);
  CHECK(load(catalogue, whole).runs[0].model.hidden == 768);
}

}  // namespace
}  // namespace tidemark::scenarios
