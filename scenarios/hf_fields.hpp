#pragma once
// Every field of a Hugging Face config.json that Tidemark knows, as data. A field is a key of
// `model:`, or has only certain values that are modelled, or changes neither memory nor time. Any
// other field is refused, since nobody can say what it would change.

#include <span>
#include <string_view>

namespace tidemark::scenarios {

// A field that is a key of `model:`.
struct HfKey {
  std::string_view field;
  std::string_view key;
  std::string_view preset{};  // what the transformers library takes where it is not written
  std::string_view alias{};   // another name that the library knows the field by
  bool nullable = false;      // null leaves the default of `model:`
};

// A field of which only some values are modelled; null always is one of them.
struct HfFixed {
  std::string_view field;
  std::span<const std::string_view> values;  // as written in the file, text with its quotes
  std::string_view otherwise;                // what any other value would mean
};

struct HfFamily {
  std::string_view model_type;
  std::string_view model_class;   // in `architectures`
  std::string_view architecture;  // of `model:`
  bool qkv_bias = false;
  std::span<const HfKey> keys;
  std::span<const HfFixed> fixed;
  // Attention over the last tokens only: "" where the family has none.
  std::string_view window_preset{};
  bool window_has_switch = false;  // use_sliding_window and max_window_layers
};

std::span<const HfFamily> hf_families();

std::span<const HfFixed> hf_fixed_of_all();      // in every family
std::span<const HfFixed> hf_fixed_of_rope();     // in rope_scaling and rope_parameters
std::span<const std::string_view> hf_ignored();  // in every family
std::span<const std::string_view> hf_ignored_of_rope();

}  // namespace tidemark::scenarios
