#pragma once
// Typed access to one mapping of a scenario that remembers what was asked for: finish() then
// reports every key that nobody wanted, so that no list of known keys is kept by hand.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/option.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

class Reader {
 public:
  // `where` names the mapping in messages: "training". A value that is no mapping is reported and
  // read as an empty one. Both references must outlive the reader.
  Reader(const Value& value, std::string where, Diagnostics& diagnostics);

  // The key's value; null when the key is not there. Either way the key is known from now on.
  const Value* find(std::string_view key);
  // As find(), and reports a missing key at the mapping.
  const Value* require(std::string_view key);
  // Reports the keys that were never asked for, each with the nearest known one.
  void finish();

  const Mark& mark() const { return value_.mark; }
  Diagnostics& diagnostics() { return diagnostics_; }

 private:
  const Value& value_;
  std::string where_;
  Diagnostics& diagnostics_;
  std::vector<std::string> known_;
};

// One value of an option. Whole numbers, flags, choices (the row of the choice) and quantities are
// `integer`, in the units of OptionSpec.
struct OptionValue {
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<std::string> names;  // kNames, in the order written
};

// Nothing: it is not a value of `spec`, which has been reported.
std::optional<OptionValue> read_value(const Value& value, const OptionSpec& spec,
                                      Diagnostics& diagnostics);

}  // namespace tidemark::scenarios
