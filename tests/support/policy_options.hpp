#pragma once
// Options of a policy as the loader would fill them in.

#include <algorithm>
#include <string>
#include <vector>

#include "graph/policies/policy.hpp"

namespace tidemark::support {

inline std::vector<PolicyOption> preset_options(const Policy& policy) {
  std::vector<PolicyOption> options;
  for (const OptionSpec& spec : policy.options) {
    PolicyOption option;
    option.name = spec.name;
    const std::string preset(spec.preset);
    switch (spec.kind) {
      case OptionKind::kInteger:
        option.integer = std::stoll(preset);
        break;
      case OptionKind::kNumber:
        option.number = std::stod(preset);
        break;
      case OptionKind::kFlag:
        option.integer = preset == "true";
        break;
      case OptionKind::kChoice:
        option.integer = std::ranges::find(spec.choices, spec.preset) - spec.choices.begin();
        break;
      case OptionKind::kTime:
        option.integer = 1'000'000'000'000;  // a second, whatever the preset
        break;
      case OptionKind::kNames:
        for (std::size_t begin = 0; begin < preset.size();) {
          const std::size_t end = std::min(preset.find(", ", begin), preset.size());
          option.names.push_back(preset.substr(begin, end - begin));
          begin = end + 2;
        }
        break;
      default:
        break;  // not stated
    }
    options.push_back(option);
  }
  return options;
}

}  // namespace tidemark::support
