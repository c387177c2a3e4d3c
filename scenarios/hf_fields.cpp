#include "scenarios/hf_fields.hpp"

#include <array>

namespace tidemark::scenarios {
namespace {

using Names = std::string_view;

constexpr auto kNoValue = std::span<const Names>();
constexpr auto kFalse = std::to_array<Names>({"false"});
constexpr auto kTrue = std::to_array<Names>({"true"});
constexpr auto kZero = std::to_array<Names>({"0", "0.0", "false"});
constexpr auto kOne = std::to_array<Names>({"1", "1.0"});
constexpr auto kEmpty = std::to_array<Names>({"{}"});
constexpr auto kSilu = std::to_array<Names>({"\"silu\"", "\"swish\""});  // two names of nn.SiLU
constexpr auto kGelu = std::to_array<Names>({"\"gelu_new\""});
// Frequencies that are made once, with the model.
constexpr auto kRopeTypes =
    std::to_array<Names>({"\"default\"", "\"linear\"", "\"llama3\"", "\"yarn\""});

// Presets: src/transformers/models/{llama,mistral,qwen2,gpt2}/configuration_*.py in
// github.com/huggingface/transformers: llama and qwen2 at commit 008e5743, mistral at 001f85b3,
// gpt2 at 01ae98ae.

constexpr auto kLlamaKeys = std::to_array<HfKey>({
    {"hidden_size", "hidden", "4096"},
    {"num_hidden_layers", "layers", "32"},
    {"num_attention_heads", "heads", "32"},
    {.field = "num_key_value_heads", .key = "kv_heads", .nullable = true},
    {.field = "head_dim", .key = "head_dim", .nullable = true},
    {"intermediate_size", "ffn", "11008"},
    {"vocab_size", "vocab", "32000"},
    {"max_position_embeddings", "max_positions", "2048"},
    {"tie_word_embeddings", "tied_embeddings", "false"},
});

constexpr auto kMistralKeys = std::to_array<HfKey>({
    {"hidden_size", "hidden", "4096"},
    {"num_hidden_layers", "layers", "32"},
    {"num_attention_heads", "heads", "32"},
    {.field = "num_key_value_heads", .key = "kv_heads", .preset = "8", .nullable = true},
    {.field = "head_dim", .key = "head_dim", .nullable = true},
    {"intermediate_size", "ffn", "14336"},
    {"vocab_size", "vocab", "32000"},
    {"max_position_embeddings", "max_positions", "131072"},
    {"tie_word_embeddings", "tied_embeddings", "false"},
});

constexpr auto kQwen2Keys = std::to_array<HfKey>({
    {"hidden_size", "hidden", "4096"},
    {"num_hidden_layers", "layers", "32"},
    {"num_attention_heads", "heads", "32"},
    {.field = "num_key_value_heads", .key = "kv_heads", .preset = "32", .nullable = true},
    {.field = "head_dim", .key = "head_dim", .nullable = true},
    {"intermediate_size", "ffn", "22016"},
    {"vocab_size", "vocab", "151936"},
    {"max_position_embeddings", "max_positions", "32768"},
    {"tie_word_embeddings", "tied_embeddings", "false"},
});

constexpr auto kGpt2Keys = std::to_array<HfKey>({
    {"n_embd", "hidden", "768", "hidden_size"},
    {"n_layer", "layers", "12", "num_hidden_layers"},
    {"n_head", "heads", "12", "num_attention_heads"},
    {.field = "n_inner", .key = "ffn", .nullable = true},
    {"vocab_size", "vocab", "50257"},
    {"n_positions", "max_positions", "1024", "max_position_embeddings"},
    {"tie_word_embeddings", "tied_embeddings", "true"},
});

constexpr HfFixed kActivation{"hidden_act", kSilu, "an MLP with another activation than silu"};
constexpr HfFixed kAttentionDropout{"attention_dropout", kZero, "dropout of attention weights"};
constexpr HfFixed kMlpBias{"mlp_bias", kFalse, "a bias in the MLP"};

constexpr auto kLlamaFixed = std::to_array<HfFixed>({
    kActivation,
    kAttentionDropout,
    kMlpBias,
    {"attention_bias", kFalse, "a bias on the attention's output projection"},
    {"pretraining_tp", kOne, "slicing the projections as in pretraining"},
    {"sliding_window", kNoValue, "a sliding window in the llama family"},
});
constexpr auto kMistralFixed = std::to_array<HfFixed>({
    kActivation,
    kAttentionDropout,
    kMlpBias,
    {"attention_bias", kFalse, "a bias in the attention of the mistral family"},
});
constexpr auto kQwen2Fixed = std::to_array<HfFixed>({kActivation, kAttentionDropout, kMlpBias});
constexpr auto kGpt2Fixed = std::to_array<HfFixed>({
    {"activation_function", kGelu, "an MLP with another activation than gelu_new"},
    {"scale_attn_weights", kTrue, "attention whose scores are not scaled"},
    {"scale_attn_by_inverse_layer_idx", kFalse, "scaling the scores by layer"},
    {"reorder_and_upcast_attn", kFalse, "computing the scores in fp32"},
});

constexpr auto kFixed = std::to_array<HfFixed>({
    {"quantization_config", kNoValue, "training of quantized weights"},
    {"auto_map", kEmpty, "a model with code of its own"},
    {"is_encoder_decoder", kFalse, "an encoder beside the decoder"},
    {"tie_encoder_decoder", kFalse, "an encoder beside the decoder"},
    {"add_cross_attention", kFalse, "attention to another model's output"},
    {"cross_attention_hidden_size", kNoValue, "attention to another model's output"},
    {"num_local_experts", kZero, "a mixture of experts"},
    {"num_experts", kZero, "a mixture of experts"},
    {"n_routed_experts", kZero, "a mixture of experts"},
    {"num_experts_per_tok", kZero, "a mixture of experts"},
    {"moe_intermediate_size", kNoValue, "a mixture of experts"},
    {"output_router_logits", kFalse, "a mixture of experts"},
    {"chunk_size_feed_forward", kZero, "an MLP that runs in chunks"},
    {"output_attentions", kFalse, "keeping the attention weights of every block"},
    {"output_hidden_states", kFalse, "keeping the output of every block"},
    {"pruned_heads", kEmpty, "a model without some of its heads"},
    {"torchscript", kFalse, "copying tied weights"},
    {"gradient_checkpointing", kFalse, "checkpointing by this field and not by `checkpoint:`"},
});

constexpr auto kRopeFixed = std::to_array<HfFixed>({
    {"rope_type", kRopeTypes, "computing rotary frequencies anew in forward"},
    {"type", kRopeTypes, "computing rotary frequencies anew in forward"},
    {"partial_rotary_factor", kOne, "turning a part of each head only"},
});

constexpr auto kRopeIgnored =
    std::to_array<Names>({"attention_factor", "beta_fast", "beta_slow", "factor", "finetuned",
                          "high_freq_factor", "low_freq_factor", "mscale", "mscale_all_dim",
                          "original_max_position_embeddings", "rope_theta", "truncate"});

// Names, token ids, initial values, constants inside of kernels, the dtype of the stored weights
// (training.precision says in which one is trained), heads that a causal language model does not
// have, what generation does, and use_cache: keys and values are cached for generation, a training
// script turns that off.
constexpr auto kIgnored = std::to_array<Names>({
    // of the file
    "_name_or_path",
    "name_or_path",
    "_commit_hash",
    "transformers_version",
    "tokenizer_class",
    "prefix",
    "torch_dtype",
    "dtype",
    "use_bfloat16",
    "tf_legacy_loss",
    "return_dict",
    "use_cache",
    "is_decoder",
    "_attn_implementation",
    "_attn_implementation_autoset",
    "attn_implementation",
    // of the model
    "initializer_range",
    "rms_norm_eps",
    "layer_norm_epsilon",
    "rope_theta",
    "original_max_position_embeddings",
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "unk_token_id",
    "sep_token_id",
    "decoder_start_token_id",
    // of heads for other tasks
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "finetuning_task",
    "task_specific_params",
    "classifier_dropout",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    // of generation
    "bad_words_ids",
    "begin_suppress_tokens",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "length_penalty",
    "max_length",
    "max_new_tokens",
    "min_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_scores",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict_in_generate",
    "suppress_tokens",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
});

constexpr auto kFamilies = std::to_array<HfFamily>({
    {.model_type = "llama",
     .model_class = "LlamaForCausalLM",
     .architecture = "llama",
     .keys = kLlamaKeys,
     .fixed = kLlamaFixed},
    {.model_type = "mistral",
     .model_class = "MistralForCausalLM",
     .architecture = "llama",
     .keys = kMistralKeys,
     .fixed = kMistralFixed,
     .window_preset = "4096"},
    {.model_type = "qwen2",
     .model_class = "Qwen2ForCausalLM",
     .architecture = "llama",
     .qkv_bias = true,  // q, k and v have biases, the output projection none: modeling_qwen2.py
     .keys = kQwen2Keys,
     .fixed = kQwen2Fixed,
     .window_preset = "4096",
     .window_has_switch = true},
    {.model_type = "gpt2",
     .model_class = "GPT2LMHeadModel",
     .architecture = "gpt2",
     .keys = kGpt2Keys,
     .fixed = kGpt2Fixed},
});

}  // namespace

std::span<const HfFamily> hf_families() { return kFamilies; }
std::span<const HfFixed> hf_fixed_of_all() { return kFixed; }
std::span<const HfFixed> hf_fixed_of_rope() { return kRopeFixed; }
std::span<const std::string_view> hf_ignored() { return kIgnored; }
std::span<const std::string_view> hf_ignored_of_rope() { return kRopeIgnored; }

}  // namespace tidemark::scenarios
