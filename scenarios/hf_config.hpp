#pragma once
// What the config.json of a Hugging Face model says, as keys of `model:`. Nothing in it is passed
// over in silence: a part that is not modelled, and a field that is not known, is an error at its
// place in the file.

#include <optional>

#include "scenarios/diagnostic.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

struct HfModel {
  Value keys;  // a `model:` mapping whose marks point into the file
  // sliding_window, where it is in use and shorter than the positions; max_positions is as long.
  std::optional<Value> window;
};

// Of a parsed file. What is wrong with it has been reported.
HfModel read_hf_config(const Value& file, Diagnostics& diagnostics);

}  // namespace tidemark::scenarios
