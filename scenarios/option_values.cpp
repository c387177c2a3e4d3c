#include "scenarios/option_values.hpp"

#include <algorithm>
#include <optional>

#include "hardware/ensure.hpp"

namespace tidemark::scenarios {
namespace {

std::optional<OptionValue> read_preset(const OptionSpec& spec, Diagnostics& diagnostics) {
  if (spec.preset.empty()) return std::nullopt;
  Value value;
  value.kind = Value::Kind::kScalar;
  value.text = spec.preset;
  if (spec.kind == OptionKind::kNames) {  // "norm, rotary"
    value.kind = Value::Kind::kSequence;
    for (std::size_t begin = 0; begin < spec.preset.size();) {
      const std::size_t end = std::min(spec.preset.find(", ", begin), spec.preset.size());
      Value& item = value.items.emplace_back();
      item.kind = Value::Kind::kScalar;
      item.text = spec.preset.substr(begin, end - begin);
      begin = end + 2;
    }
  }
  return read_value(value, spec, diagnostics);
}

}  // namespace

OptionValues::OptionValues(Reader& reader, std::span<const OptionSpec> options) {
  for (const OptionSpec& spec : options) {
    const Value* value = reader.find(spec.name);
    if (spec.kind == OptionKind::kSection) continue;
    Slot slot;
    slot.name = spec.name;
    slot.stated = value != nullptr;
    if (value != nullptr) slot.mark = value->mark;
    const auto found = value != nullptr ? read_value(*value, spec, reader.diagnostics())
                                        : read_preset(spec, reader.diagnostics());
    slot.present = found.has_value();
    if (found) slot.value = *found;
    slots_.push_back(std::move(slot));
  }
}

const OptionValues::Slot& OptionValues::slot(std::string_view name) const {
  const auto found = std::ranges::find(slots_, name, &Slot::name);
  ensure(found != slots_.end(), "every option that is used has a row");
  return *found;
}

void OptionValues::update(std::string_view name, std::int64_t& target) const {
  if (has(name)) target = integer(name);
}

void OptionValues::update(std::string_view name, double& target) const {
  if (has(name)) target = number(name);
}

void OptionValues::update(std::string_view name, SimTime& target) const {
  if (has(name)) target = SimTime(integer(name));
}

}  // namespace tidemark::scenarios
