#pragma once
// A YAML document as plain data, every value with its place. Made by parse(); nothing above knows
// of yaml-cpp.

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/diagnostic.hpp"

namespace tidemark::scenarios {

struct Entry;

struct Value {
  enum class Kind { kNull, kScalar, kSequence, kMapping };

  Kind kind = Kind::kNull;
  Mark mark;
  std::string text;            // scalar, as written, without quotes
  bool quoted = false;         // scalar in quotes or a block: text, never a number
  std::vector<Value> items;    // sequence
  std::vector<Entry> entries;  // mapping, in the order of the file, keys unique

  bool is_mapping() const { return kind == Kind::kMapping; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  const Value* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Mark mark;  // of the key
  Value value;
};

inline const Value* Value::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

// "a mapping", "a list", "'text'", "nothing": what was found, for messages.
std::string describe(const Value& value);

}  // namespace tidemark::scenarios
