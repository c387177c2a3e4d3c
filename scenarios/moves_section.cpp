#include "scenarios/moves_section.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/move_options.hpp"
#include "scenarios/option_values.hpp"
#include "scenarios/options.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

// The mapping at `key`, written out where it is short for {to: ...}.
Value part(const Value& section, const char* key) {
  const Value* found = section.find(key);
  if (found != nullptr) return expand_short_form(*found, std::string("offload.") + key);
  Value nothing;
  nothing.kind = Value::Kind::kMapping;
  nothing.mark = section.mark;
  return nothing;
}

// Bits by Module, of which the first is none.
std::uint32_t modules_of(const std::vector<std::string>& names) {
  std::uint32_t bits = 0;
  for (const std::string& name : names) {
    const auto row = std::ranges::find(kModules, name) - kModules.begin();
    bits |= 2u << row;
  }
  return bits;
}

}  // namespace

ActivationOffload read_activations(const Value& offload, Diagnostics& diagnostics) {
  const Value mapping = part(offload, "activations");
  Reader reader(mapping, "offload.activations", diagnostics);
  const OptionValues values(reader, options_of("offload.activations"));
  reader.finish();
  ActivationOffload options;
  options.to = values.choice<ActivationOffload::To>("to");
  options.which = values.choice<ActivationOffload::Which>("which");
  options.modules = modules_of(values.names("modules"));
  values.update("larger_than", options.larger_than);
  values.update("keep_last", options.keep_last);
  values.update("prefetch", options.prefetch);
  options.when = values.choice<ActivationOffload::When>("when");
  values.update("pool", options.pool);
  options.synchronous = values.flag("synchronous");

  // A key that says nothing beside the others, and why.
  const auto refuse = [&](const char* key, const std::string& why) {
    if (values.stated(key)) diagnostics.error(values.mark(key), std::string(key) + ": " + why);
  };
  const bool modules = options.which == ActivationOffload::Which::kModules;
  if (modules && !values.stated("modules")) {
    diagnostics.error(values.mark("which"), "which: modules needs a list of them, modules: [norm]");
  }
  if (!modules) refuse("modules", "only which: modules reads them");
  if (options.synchronous) {
    refuse("prefetch", "synchronous copies come back when they are read");
    if (options.when == ActivationOffload::When::kFitsInWindow) {
      refuse("when", "the GPU waits for every synchronous copy: none fits in its window");
    }
  }
  return options;
}

ParameterOffload read_parameters(const Value& offload, Diagnostics& diagnostics) {
  const Value mapping = part(offload, "parameters");
  Reader reader(mapping, "offload.parameters", diagnostics);
  const OptionValues values(reader, options_of("offload.parameters"));
  reader.finish();
  ParameterOffload options;
  options.to = values.choice<ParameterOffload::To>("to");
  values.update("prefetch", options.prefetch);
  values.update("buffers", options.buffers);
  return options;
}

}  // namespace tidemark::scenarios
