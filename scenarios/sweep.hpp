#pragma once
// `sweep:` and --set: keys whose values are laid over the sections of every strategy.

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/diagnostic.hpp"
#include "scenarios/load.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

// A dotted key and what it takes, one after the other; --set has one value.
struct SweptKey {
  std::string key;
  Mark mark;
  std::vector<Value> values;
};

// Nothing where `sweep` is null. Only keys of sections can be swept.
std::vector<SweptKey> read_sweep(const Value* sweep, Diagnostics& diagnostics);

std::vector<SweptKey> read_overrides(const std::vector<Override>& overrides,
                                     Diagnostics& diagnostics);

// The values of point `number` of the cross product, in the order of the keys; the last key varies
// fastest.
std::vector<const Value*> point(const std::vector<SweptKey>& sweep, std::int64_t number);

// Points of the cross product, 1 without keys; at most `limit` + 1.
std::int64_t count_points(const std::vector<SweptKey>& sweep, std::int64_t limit);

}  // namespace tidemark::scenarios
