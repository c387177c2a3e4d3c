#include "scenarios/sweep.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "hardware/decimal.hpp"
#include "scenarios/options.hpp"
#include "scenarios/parse.hpp"
#include "scenarios/suggest.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

// Whether a dotted key names a section of a scenario or something below one.
bool names_section(const std::string& key, const Mark& mark, Diagnostics& diagnostics) {
  const std::string section = key.substr(0, key.find('.'));
  if (section == "name" || section == "strategies" || section == "sweep") {
    diagnostics.error(mark,
                      in_quotes(section) + " belongs to the scenario as a whole: it cannot vary");
    return false;
  }
  if (key.starts_with('.') || key.ends_with('.') || key.find("..") != std::string::npos) {
    diagnostics.error(mark, in_quotes(key) + " is not a key: write section.key");
    return false;
  }
  if (find_section(section) != nullptr) return true;
  std::vector<std::string_view> known;
  for (const Section& each : sections()) {
    if (each.name.find('.') == std::string_view::npos) known.push_back(each.name);
  }
  diagnostics.error(mark, "unknown section " + in_quotes(section), suggestion(section, known));
  return false;
}

void report_twice(const std::vector<Value>& values, Diagnostics& diagnostics) {
  std::set<std::string> seen;
  for (const Value& value : values) {
    std::string text = write_flow(value);
    if (seen.contains(text))
      diagnostics.error(value.mark, in_quotes(text) + " stands in the list twice");
    seen.insert(std::move(text));
  }
}

}  // namespace

std::vector<SweptKey> read_sweep(const Value* sweep, Diagnostics& diagnostics) {
  std::vector<SweptKey> keys;
  if (sweep == nullptr) return keys;
  if (!sweep->is_mapping()) {
    diagnostics.error(sweep->mark,
                      "sweep: expected dotted keys with lists of values, found " + describe(*sweep),
                      "for example {training.micro_batch: [1, 2, 4]}");
    return keys;
  }
  for (const Entry& entry : sweep->entries) {
    if (!names_section(entry.key, entry.mark, diagnostics)) continue;
    if (entry.value.kind != Value::Kind::kSequence || entry.value.items.empty()) {
      diagnostics.error(entry.value.mark,
                        "sweep of " + in_quotes(entry.key) + ": expected a list of values, found " +
                            (entry.value.kind == Value::Kind::kSequence ? "an empty one"
                                                                        : describe(entry.value)));
      continue;
    }
    report_twice(entry.value.items, diagnostics);
    keys.push_back({entry.key, entry.mark, entry.value.items});
  }
  return keys;
}

std::vector<SweptKey> read_overrides(const std::vector<Override>& overrides,
                                     Diagnostics& diagnostics) {
  std::vector<SweptKey> keys;
  int order = 0;
  for (const Override& each : overrides) {
    Source source{"--set " + each.key + "=" + each.value, {}, ++order};
    const Mark mark{std::make_shared<const Source>(std::move(source))};
    if (!names_section(each.key, mark, diagnostics)) continue;
    Value value = parse_option_value(mark.source, each.value, diagnostics);
    keys.push_back({each.key, mark, {}});
    keys.back().values.push_back(std::move(value));
  }
  return keys;
}

std::vector<const Value*> point(const std::vector<SweptKey>& sweep, std::int64_t number) {
  std::vector<const Value*> values(sweep.size());
  for (std::size_t i = sweep.size(); i-- > 0;) {
    const auto size = static_cast<std::int64_t>(sweep[i].values.size());
    values[i] = &sweep[i].values[static_cast<std::size_t>(number % size)];
    number /= size;
  }
  return values;
}

std::int64_t count_points(const std::vector<SweptKey>& sweep, std::int64_t limit) {
  std::int64_t points = 1;
  for (const SweptKey& key : sweep) {
    points *= static_cast<std::int64_t>(key.values.size());
    if (points > limit) return limit + 1;
  }
  return points;
}

}  // namespace tidemark::scenarios
