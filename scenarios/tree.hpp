#pragma once
// Scenario sections as trees that later ones lay over earlier ones: catalogue entry, base section,
// strategy, sweep, --set.

#include <string>
#include <string_view>

#include "scenarios/diagnostic.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

// `checkpoint: full` is short for `checkpoint: {policy: full}`. `path` is a section's dotted name;
// values of sections without a short form, and what is no scalar, come back as they are.
Value expand_short_form(Value value, std::string_view path);

// `over` laid over `base`: mappings merge key by key, anything else replaces. Another policy takes
// the place of the one that was there together with its options, another allocator with its
// settings.
Value merge(const Value& base, const Value& over, const std::string& path = "");

// Lays `value` over what stands at the dotted key, making the mappings on the way.
void set_at(Value& root, const std::string& dotted_key, const Mark& key_mark, const Value& value);

// What stands at the dotted key; null: nothing.
const Value* find_at(const Value& root, std::string_view dotted_key);

// On one line, as YAML: "8", "{policy: every-n, n: 2}".
std::string write_flow(const Value& value);

}  // namespace tidemark::scenarios
