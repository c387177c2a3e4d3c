#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "hardware/decimal.hpp"
#include "scenarios/moves_section.hpp"
#include "scenarios/option_values.hpp"
#include "scenarios/options.hpp"
#include "scenarios/presets.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/sections.hpp"
#include "scenarios/suggest.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

// The preset's settings, as if written where the preset is named.
Value settings_of(const Preset& preset, const Mark& mark) {
  Value mapping;
  mapping.kind = Value::Kind::kMapping;
  mapping.mark = mark;
  for (const PresetSetting& setting : preset.settings) {
    Value value;
    value.kind = Value::Kind::kScalar;
    value.mark = mark;
    value.text = setting.value;
    set_at(mapping, std::string(setting.key), mark, value);
  }
  return mapping;
}

// Keys below `part` ("optimizer") move up beside it; `to` becomes the part's own value.
void flatten_part(Value& offload, std::string_view part, Diagnostics& diagnostics) {
  const auto found = std::ranges::find(offload.entries, part, &Entry::key);
  if (found == offload.entries.end() || !found->value.is_mapping()) return;
  const Value mapping = std::move(found->value);
  offload.entries.erase(found);
  const std::string path = "offload." + std::string(part);
  Reader reader(mapping, path, diagnostics);
  for (const OptionSpec& option : options_of(path)) {
    const Value* value = reader.find(option.name);
    if (value == nullptr) continue;
    const std::string key(option.name == "to" ? part : option.name);
    if (offload.find(key) != nullptr) {
      diagnostics.error(value->mark, key + ": written in offload and again in " + path,
                        "leave one of them out");
      continue;
    }
    offload.entries.push_back({key, value->mark, *value});
  }
  reader.finish();
}

// Keys that are written lie over those of the preset.
Value over_preset(const Value& section, Diagnostics& diagnostics) {
  Value written = expand_short_form(section, "offload");
  const Value* name = written.find("preset");
  if (name == nullptr || !name->is_scalar()) return written;
  const Preset* preset = find_preset(name->text);
  if (preset != nullptr) return merge(settings_of(*preset, name->mark), written, "offload");
  std::vector<std::string_view> known;
  for (const Preset& row : presets()) known.push_back(row.name);
  diagnostics.error(name->mark, "unknown preset " + in_quotes(name->text),
                    suggestion(name->text, known));
  return written;
}

}  // namespace

Value flatten_offload(const Value& section, Diagnostics& diagnostics) {
  Value flat = section;
  for (const std::string_view part : {"optimizer", "gradients"}) {
    flatten_part(flat, part, diagnostics);
  }
  return flat;
}

void add_preset_checkpoint(Value& tree) {
  const Value* offload = tree.find("offload");
  if (offload == nullptr) return;
  const Value written = expand_short_form(*offload, "offload");
  const Value* name = written.find("preset");
  const Preset* preset = name != nullptr && name->is_scalar() ? find_preset(name->text) : nullptr;
  if (preset == nullptr || preset->checkpoint.empty()) return;
  Value policy;
  policy.kind = Value::Kind::kScalar;
  policy.mark = name->mark;
  policy.text = preset->checkpoint;
  const auto found = std::ranges::find(tree.entries, "checkpoint", &Entry::key);
  if (found == tree.entries.end()) {
    tree.entries.push_back({"checkpoint", policy.mark, std::move(policy)});
  } else {
    found->value = merge(policy, found->value, "checkpoint");
  }
}

Offload read_offload(const Value& section, Diagnostics& diagnostics) {
  const Value mapping = over_preset(flatten_offload(section, diagnostics), diagnostics);
  Reader reader(mapping, "offload", diagnostics);
  const OptionValues values(reader, options_of("offload"));
  reader.finish();
  Offload offload;
  offload.optimizer = values.choice<Offload::States>("optimizer");
  offload.gradients_leave = values.choice<Offload::GradientsLeave>("gradients_leave");
  values.update("bucket", offload.bucket);
  values.update("buffers", offload.buffers);
  offload.update_on = values.choice<Offload::Processor>("update_on");
  values.update("fraction", offload.fraction);
  offload.overlap = values.flag("overlap");
  offload.delayed_update = values.flag("delayed_update");
  offload.gradients = values.choice<Offload::States>("gradients");
  offload.accumulate_on = values.choice<Offload::Processor>("accumulate_on");
  offload.transport.memory = values.choice<Transport::HostMemory>("memory");
  offload.transport.pinned_pool = values.choice<Transport::PinnedPool>("pinned_pool");
  offload.cpu_kernel = values.choice<CpuKernel>("cpu_kernel");
  offload.upcast = values.flag("upcast");
  offload.clip = values.flag("clip");
  offload.transport.ssd_path = values.choice<Transport::SsdPath>("ssd_path");
  offload.activations = read_activations(mapping, diagnostics);
  offload.parameters = read_parameters(mapping, diagnostics);
  return offload;
}

}  // namespace tidemark::scenarios
