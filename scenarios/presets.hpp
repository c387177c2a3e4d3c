#pragma once
// What known systems set under `offload:`, as data.

#include <span>
#include <string_view>

namespace tidemark::scenarios {

struct PresetSetting {
  std::string_view key;  // of the section offload, dotted: "activations.to"
  std::string_view value;
};

struct Preset {
  std::string_view name;
  std::string_view summary;  // two lines
  std::string_view paper;
  std::span<const PresetSetting> settings;
  // The policy of the section checkpoint where none is written there; empty: as without the preset.
  std::string_view checkpoint = {};
};

std::span<const Preset> presets();
const Preset* find_preset(std::string_view name);  // null: there is none

}  // namespace tidemark::scenarios
