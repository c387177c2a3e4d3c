#include "graph/policies/modules.hpp"

#include <algorithm>
#include <utility>

#include "graph/policies/policy.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {

DropsFn recompute_modules, recompute_attention_core;

namespace {

Module module_of(std::string_view name) {
  const auto found = std::ranges::find(kModuleNames, name, &ModuleName::name);
  ensure(found != kModuleNames.end(), "the loader should have refused an unknown module");
  return found->module;
}

// Tensors that the modules of any block save. What they read of others stays, as the arguments of a
// checkpoint do; so do their outputs, which others read, where `outputs_stay`.
remat::Drops drop_modules(const StepGraph& graph, const std::vector<Module>& modules,
                          bool outputs_stay) {
  const auto within = [&](Module m) { return std::ranges::find(modules, m) != modules.end(); };
  std::vector<remat::Fate> fate(graph.tensors.size(), remat::Fate::kAsSaved);
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    const Op& o = graph.ops[op];
    if (o.phase != Phase::kForward) continue;
    if (o.layer >= 0 && within(o.module)) {
      for (const TensorId t : graph.outputs_of(OpId{op})) fate[index(t)] = remat::Fate::kDropped;
      for (const TensorId t : graph.inputs_of(OpId{op})) {
        if (fate[index(t)] == remat::Fate::kAsSaved) fate[index(t)] = remat::Fate::kKept;
      }
    } else if (outputs_stay) {
      for (const TensorId t : graph.inputs_of(OpId{op})) {
        if (fate[index(t)] == remat::Fate::kDropped) fate[index(t)] = remat::Fate::kAsSaved;
      }
    }
  }
  return {std::move(fate), remat::Timing::kEntry};
}

}  // namespace

// Megatron-LM: --recompute-granularity selective --recompute-modules ...; Korthikanti et al.,
// "Reducing Activation Recomputation in Large Transformer Models", arXiv:2205.05198.
remat::Drops recompute_attention_core(const StepGraph& graph, const PolicyInput&) {
  return drop_modules(graph, {Module::kAttentionCore}, true);
}

remat::Drops recompute_modules(const StepGraph& graph, const PolicyInput& input) {
  std::vector<Module> modules;
  for (const std::string& name : input.options[0].names) modules.push_back(module_of(name));
  return drop_modules(graph, modules, input.options[1].integer != 0);
}

}  // namespace tidemark
