#include "scenarios/reader.hpp"

#include <algorithm>
#include <utility>

#include "hardware/decimal.hpp"
#include "scenarios/suggest.hpp"

namespace tidemark::scenarios {
namespace {

std::string in(const std::string& where) { return where.empty() ? "" : " in " + where; }

}  // namespace

Reader::Reader(const Value& value, std::string where, Diagnostics& diagnostics)
    : value_(value), where_(std::move(where)), diagnostics_(diagnostics) {
  if (!value.is_mapping()) {
    diagnostics_.error(value.mark, (where_.empty() ? "" : where_ + ": ") +
                                       "expected keys with values, found " + describe(value));
  }
}

const Value* Reader::find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  return value_.find(key);
}

const Value* Reader::require(std::string_view key) {
  const Value* found = find(key);
  if (found == nullptr && value_.is_mapping()) {
    diagnostics_.error(value_.mark, "missing key " + in_quotes(key) + in(where_));
  }
  return found;
}

void Reader::finish() {
  const std::vector<std::string_view> known(known_.begin(), known_.end());
  for (const Entry& entry : value_.entries) {
    if (std::ranges::find(known, entry.key) != known.end()) continue;
    if (diagnostics_.saturated()) return;
    diagnostics_.error(entry.mark, "unknown key " + in_quotes(entry.key) + in(where_),
                       suggestion(entry.key, known));
  }
}

}  // namespace tidemark::scenarios
