#include "tools/ledger.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "graph/option.hpp"
#include "graph/policies/policy.hpp"
#include "scenarios/options.hpp"
#include "tools/changes.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {
namespace {

// "blocks.3.mlp.weight.exp_avg" -> "exp_avg"
std::string last_part(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return std::string(dot == std::string_view::npos ? name : name.substr(dot + 1));
}

std::string component_of(const StepGraph& graph, const Tensor& tensor) {
  if (tensor.category != Category::kOptimizerState) return std::string(name_of(tensor.category));
  return last_part(graph.name(tensor.name));
}

void add(Ledger& ledger, const std::string& name, Bytes bytes) {
  const auto found = std::ranges::find(ledger.components, name, &LedgerComponent::name);
  if (found == ledger.components.end()) {
    ledger.components.push_back({name, bytes});
  } else {
    found->bytes += bytes;
  }
  ledger.states += bytes;
}

// States stand there before a steady step, save gradients: those that backward leaves.
void add_components(const StepGraph& graph, Ledger& ledger) {
  for (const Category category : {Category::kParameters, Category::kGradients,
                                  Category::kMasterWeights, Category::kOptimizerState}) {
    if (category == Category::kGradients) {
      for (const Parameter& parameter : graph.parameters) {
        if (parameter.gradient == kNoTensor) continue;
        add(ledger, std::string(name_of(category)), graph.tensor(parameter.gradient).bytes);
      }
      continue;
    }
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.category == category && tensor.initial()) {
        add(ledger, component_of(graph, tensor), tensor.bytes);
      }
    }
  }
}

StepGraph lower_one_micro_batch(scenarios::RunSpec run) {
  run.training.micro_batches = 1;
  run.offload = {};
  return lower_run(run, StepKind::kSteady);
}

scenarios::RunSpec without_recompute(scenarios::RunSpec run) {
  run.checkpoint_policy = "none";
  run.checkpoint_options.clear();
  run.checkpointing.segments.clear();
  return run;
}

bool saved_in_forward(const StepGraph& graph, const Tensor& tensor) {
  return tensor.saved && !tensor.initial() && graph.op(tensor.producer).phase == Phase::kForward;
}

std::vector<std::string> nodes_that_save(const StepGraph& graph, TensorId tensor) {
  std::vector<std::string> nodes;
  for (const SavedBy& each : graph.saves) {
    if (each.tensor != tensor) continue;
    std::string node(graph.name(each.node));
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(std::move(node));
  }
  return nodes;
}

OptionEffect effect_of(const scenarios::RunSpec& run) {
  const StepGraph graph = lower_one_micro_batch(run);
  OptionEffect effect;
  for (const Tensor& tensor : graph.tensors) {
    if (!saved_in_forward(graph, tensor)) continue;
    effect.saved += tensor.bytes;
    if (tensor.layer == run.model.layers / 2) effect.saved_of_layer += tensor.bytes;
  }
  return effect;
}

// One change for each value of each option of `kernels`, and two that are not kernels.
std::vector<Change> possible_changes() {
  std::vector<Change> changes;
  const auto add = [&](std::string key, std::string value) {
    changes.push_back({"", {{std::move(key), std::move(value)}}, false});
  };
  for (const OptionSpec& option : scenarios::options_of("kernels")) {
    const std::string key = "kernels." + std::string(option.name);
    if (option.kind == OptionKind::kFlag) {
      add(key, "true");
      add(key, "false");
    }
    for (const std::string_view choice : option.choices) {
      // A version would be read as a number: "2.x" needs no quotes, "1.13" does.
      const bool number = choice.find_first_not_of("0123456789.") == std::string_view::npos;
      add(key, number ? "\"" + std::string(choice) + "\"" : std::string(choice));
    }
  }
  add("model.dropout", "0");
  add("checkpoint", "full");
  return changes;
}

}  // namespace

std::vector<OptionEffect> option_effects(const scenarios::RunSpec& run) {
  const scenarios::RunSpec base = without_recompute(run);
  std::vector<OptionEffect> effects;
  for (const Change& change : possible_changes()) {
    const std::span<const Change> alone(&change, 1);
    const std::optional<scenarios::RunSpec> changed = with_changes(base, alone);
    if (!changed) continue;
    OptionEffect effect = effect_of(*changed);
    effect.yaml = as_yaml(alone).front();
    effects.push_back(std::move(effect));
  }
  return effects;
}

std::optional<OptionEffect> saved_as_it_is(const scenarios::RunSpec& run) {
  const Policy* policy = find_policy(run.checkpoint_policy);
  if (policy != nullptr && policy->planner != nullptr) return std::nullopt;
  OptionEffect effect = effect_of(run);
  effect.yaml = "checkpoint: " + run.checkpoint_policy;
  return effect;
}

Ledger make_ledger(const scenarios::RunSpec& run) {
  const StepGraph graph = lower_one_micro_batch(without_recompute(run));

  Ledger ledger;
  ledger.parameters = graph.parameter_count;
  ledger.layers = run.model.layers;
  ledger.layer = run.model.layers / 2;
  add_components(graph, ledger);
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    const bool made_by_update =
        index(tensor.producer) != kNoIndex && graph.op(tensor.producer).phase == Phase::kOptimizer;
    if (made_by_update && tensor.category == Category::kGradients) {
      ledger.gradient_copies += tensor.bytes;
    }
    if (!saved_in_forward(graph, tensor)) continue;
    ledger.saved_in_all += tensor.bytes;
    if (tensor.layer < 0) continue;
    ledger.saved_of_all_layers += tensor.bytes;
    if (tensor.layer != ledger.layer) continue;
    ledger.saved.push_back({std::string(graph.name(tensor.name)), tensor.shape, tensor.dtype,
                            tensor.bytes, graph.op(tensor.producer).module,
                            nodes_that_save(graph, TensorId(i))});
    ledger.saved_of_layer += tensor.bytes;
  }
  return ledger;
}

}  // namespace tidemark::tools
