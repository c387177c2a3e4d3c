// What is refused in a config.json, and where the line is.

#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "scenarios/parse.hpp"
#include "tests/scenarios/hf_text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

TEST_CASE("sequences up to the sliding window are full attention, longer ones are refused") {
  const std::string mistral = "{\"model_type\": \"mistral\",\n \"sliding_window\": 1000}";
  CHECK(run_of_json(mistral, "", "training: {sequence: 1000}\n").training.sequence == 1000);
  CHECK(run_of_json(mistral).training.sequence == 1000);  // the default
  CHECK(faults_of(mistral, "", "training: {sequence: 1001}\n").front() ==
        "2:20 sliding_window is 1000: attention over a part of the 1001 tokens is not modelled");
  const std::string positions = ", max_positions: 4000";
  CHECK(run_of_json(mistral, positions, "training: {sequence: 3000}\n").training.sequence == 3000);
  const auto most = [](const std::string& fields) {
    return run_of_json("{" + fields + "}").model.max_positions;
  };
  CHECK(most(R"("model_type": "mistral", "sliding_window": null)") == 131'072);
  CHECK(most(R"("model_type": "mistral", "sliding_window": 131072)") == 131'072);
  CHECK(most(R"("model_type": "mistral", "sliding_window": 131071)") == 131'071);
  // Qwen2 has a switch, and blocks before max_window_layers (28 where missing) have no window.
  const std::string qwen2 = R"("model_type": "qwen2", "sliding_window": 64)";
  CHECK(most(qwen2) == 32'768);
  CHECK(most(qwen2 + R"(, "use_sliding_window": false)") == 32'768);
  CHECK(most(qwen2 + R"(, "use_sliding_window": true)") == 64);
  const std::string used = qwen2 + R"(, "use_sliding_window": true, "max_window_layers": 28)";
  CHECK(most(used + R"(, "num_hidden_layers": 29)") == 64);
  CHECK(most(used + R"(, "num_hidden_layers": 28)") == 32'768);
}

TEST_CASE("rotary frequencies that are made once are accepted, others are refused") {
  const auto fault = [](const std::string& scaling) {
    return fault_of("{\"model_type\": \"llama\",\n\"rope_scaling\": " + scaling + "}");
  };
  CHECK(fault("null") == "loaded");
  CHECK(fault(R"({"type": "linear", "factor": 2.0})") == "loaded");
  CHECK(fault(R"({"rope_type": "yarn", "factor": 4.0, "beta_fast": 32})") == "loaded");
  CHECK(fault(R"({"type": "dynamic", "factor": 2.0})") ==
        "2:26 type is 'dynamic': computing rotary frequencies anew in forward is not modelled");
  CHECK(fault(R"({"rope_type": "default", "partial_rotary_factor": 0.5})") ==
        "2:67 partial_rotary_factor is '0.5': turning a part of each head only is not modelled");
  CHECK(fault(R"({"type": "linear", "short_mscale": 2.0})") ==
        "2:36 unknown field 'short_mscale' in rope_scaling");
  CHECK(fault("7") == "2:17 rope_scaling: expected a mapping, found '7'");
}

TEST_CASE("parts that are not modelled are refused by name, each at its place") {
  const auto fault = [](const std::string& type, const std::string& field) {
    return fault_of("{\"model_type\": \"" + type + "\",\n" + field + "}");
  };
  const struct {
    const char* type;
    const char* field;
    const char* named;  // how the message starts
  } refused[] = {
      {"llama", R"("mlp_bias": true)", "2:13 mlp_bias is 'true': a bias in the MLP is not"},
      {"llama", R"("mlp_bias": "false")", "2:13 mlp_bias is 'false'"},  // text is true in Python
      {"llama", R"("attention_bias": true)", "2:19 attention_bias is 'true'"},
      {"mistral", R"("attention_bias": true)", "2:19 attention_bias is 'true'"},
      {"llama", R"("attention_dropout": 0.1)", "2:22 attention_dropout is '0.1'"},
      {"qwen2", R"("hidden_act": "gelu")", "2:15 hidden_act is 'gelu'"},
      {"llama", R"("pretraining_tp": 2)", "2:19 pretraining_tp is '2'"},
      {"llama", R"("sliding_window": 4096)", "2:19 sliding_window is '4096'"},
      {"llama", R"("num_local_experts": 8)", "2:22 num_local_experts is '8': a mixture of experts"},
      {"mistral", R"("quantization_config": {"bits": 4})", "2:24 quantization_config is a mapping"},
      {"llama", R"("auto_map": {"AutoModel": "x.Y"})", "2:13 auto_map is a mapping"},
      {"qwen2", R"("layer_types": ["full_attention", "sliding_attention"])",
       "2:35 layer_types is 'sliding_attention'"},
      {"gpt2", R"("activation_function": "gelu")", "2:24 activation_function is 'gelu'"},
      {"gpt2", R"("add_cross_attention": true)", "2:24 add_cross_attention is 'true'"},
      {"gpt2", R"("scale_attn_weights": false)", "2:23 scale_attn_weights is 'false'"},
      {"gpt2", R"("scale_attn_by_inverse_layer_idx": true)", "2:36 scale_attn_by_inverse"},
      {"gpt2", R"("reorder_and_upcast_attn": true)", "2:28 reorder_and_upcast_attn is 'true'"},
      {"llama", R"("architectures": ["LlamaForSequenceClassification"])",
       "2:19 architectures: 'LlamaForSequenceClassification' is not modelled"},
      {"gpt2", R"("architectures": ["GPT2Model"])", "2:19 architectures: 'GPT2Model' is not"},
      {"llama", R"("hidden_size": -1)", "2:16 hidden_size: must be at least 1"},
      {"llama", R"("hidden_size": "64")", "2:16 hidden_size: expected a whole number, found text"},
      {"llama", R"("num_hidden_layers": null)", "2:1 num_hidden_layers: expected a whole number"},
      {"llama", R"("tie_word_embeddings": "yes")", "2:24 tie_word_embeddings: expected true or"},
      {"llama", R"("num_attention_heads": 6)", "2:24 6 heads do not divide hidden 4096"},
      {"mistral", R"("num_key_value_heads": 5)", "2:24 5 kv_heads do not divide 32 heads"},
      {"gpt2", R"("num_key_value_heads": 4)", "2:1 unknown field 'num_key_value_heads' of a gpt2"},
      {"llama", R"("attn_logit_softcapping": 50.0)", "2:1 unknown field 'attn_logit_softcapping'"},
  };
  for (const auto& each : refused) {
    INFO(each.field);
    const std::string message = fault(each.type, each.field);
    INFO(message);
    CHECK(message.starts_with(each.named));
  }
}

TEST_CASE("values that say nothing else than the default are accepted") {
  const auto fault = [](const std::string& type, const std::string& fields) {
    return fault_of("{\"model_type\": \"" + type + "\", " + fields + "}");
  };
  CHECK(fault("llama", R"("mlp_bias": false, "attention_bias": false, "pretraining_tp": 1)") ==
        "loaded");
  CHECK(fault("llama", R"("quantization_config": null, "num_local_experts": 0)") == "loaded");
  CHECK(fault("llama", R"("hidden_act": "swish", "architectures": null)") == "loaded");
  CHECK(fault("gpt2", R"("scale_attn_weights": true, "pruned_heads": {})") == "loaded");
  CHECK(fault("gpt2", R"("id2label": {"0": "LABEL_0"}, "use_cache": false)") == "loaded");
  CHECK(fault("qwen2", R"("layer_types": ["full_attention"], "torch_dtype": "float16")") ==
        "loaded");
}

TEST_CASE("an unknown field is shown with the field that was probably meant") {
  const Folder folder("{\"model_type\": \"llama\",\n  \"hidden_sise\": 64}");
  const std::string text =
      errors_of("model: {hf_config: " + folder.path("config.json") + "}\n" + kHardware);
  CHECK(text == folder.path("config.json") +
                    ":2:3: error: unknown field 'hidden_sise' of a llama config.json\n"
                    "    2 |   \"hidden_sise\": 64}\n"
                    "      |   ^~~~~~~~~~~ did you mean 'hidden_size'? otherwise it may change the "
                    "model: take it out of the file if it does not");
}

TEST_CASE("what is no config.json is refused") {
  CHECK(fault_of("[1, 2]").ends_with("hf_config: not a config.json: it does not start with {"));
  CHECK(fault_of("").ends_with("hf_config: not a config.json: it does not start with {"));
  CHECK(fault_of("{}") == "1:1 missing field 'model_type': not the config.json of a model");
  CHECK(fault_of(R"({"model_type": "gemma2"})") ==
        "1:16 model_type is 'gemma2': it is not modelled");
  CHECK(fault_of(R"({"model_type": ["llama"]})") ==
        "1:16 model_type is a list: it is not modelled");
  CHECK(fault_of("{\"model_type\": \"llama\",\n\"vocab_size\": 10,\n\"vocab_size\": 20}") ==
        "3:1 duplicate key 'vocab_size'");
  CHECK(fault_of("{\"model_type\": \"llama\", \"a\": " + std::string(20, '[') +
                 std::string(20, ']') + "}")
            .ends_with("nested too deeply: more than 16 lists and mappings inside one another"));
  CHECK(fault_of("{\"model_type\": \"llama\"").starts_with("1:"));
  CHECK(fault_of("{\"model_type\": \"llama\", \"vocab_size\": \"\xff\"}").find("UTF-8") !=
        std::string::npos);
  CHECK(fault_of("{" + std::string(kMostFileBytes, ' ') + "}")
            .ends_with("hf_config: too long for a config.json: more than 1048576 bytes"));
  CHECK(errors_of("model: {hf_config: /tmp}\n" + kHardware)
            .find("hf_config: cannot read: it is a folder, not a config.json") !=
        std::string::npos);
  CHECK(errors_of("model: {hf_config: /dev/zero}\n" + kHardware)
            .find("hf_config: cannot read: it is no regular file") != std::string::npos);
  CHECK(errors_of("model: {hf_config: [a]}\n" + kHardware)
            .find("hf_config: expected text, found a list") != std::string::npos);
}

TEST_CASE("all faults of a file are shown at once, and each once for all runs") {
  const Folder folder(
      "{\"model_type\": \"llama\",\n\"mlp_bias\": true,\n\"hidden_act\": \"relu\"}");
  const std::string text = errors_of("model: {hf_config: " + folder.path("config.json") + "}\n" +
                                     "sweep: {training.micro_batch: [1, 2, 3]}\n" + kHardware);
  CHECK(text.find("mlp_bias is") == text.rfind("mlp_bias is"));
  CHECK(text.find("config.json:2:13: error: mlp_bias is") != std::string::npos);
  CHECK(text.find("config.json:3:15: error: hidden_act is") != std::string::npos);
}

TEST_CASE("a scenario reads at most 100 different files") {
  const Folder folder(R"({"model_type": "gpt2"})");
  const auto sweep = [&](int files) {
    std::string text = "model: {hf_config: config.json}\nsweep:\n  model.hf_config: [config.json";
    std::string name = "config.json";
    for (int i = 1; i < files; ++i) {
      name.insert(0, "./");
      text += ", " + name;
    }
    return folder.write("s.yaml", text + "]\n" + kHardware);
  };
  CHECK(load(sweep(100)).runs.size() == 100);
  CHECK(refusal_of(sweep(101)).find("hf_config: more than 100 different files") !=
        std::string::npos);
}

}  // namespace
}  // namespace tidemark::scenarios
