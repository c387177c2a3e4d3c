#include "tools/ledger.hpp"

#include <algorithm>
#include <string_view>

#include "graph/lower.hpp"

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

}  // namespace

Ledger make_ledger(const scenarios::RunSpec& run) {
  LoweringInput input;
  input.model = run.model;
  input.training = run.training;
  input.training.micro_batches = 1;
  input.kernels = run.kernels;
  const StepGraph graph = lower(input);

  Ledger ledger;
  ledger.parameters = graph.parameter_count;
  ledger.layers = run.model.layers;
  ledger.layer = run.model.layers / 2;
  add_components(graph, ledger);
  for (const Tensor& tensor : graph.tensors) {
    const bool made_in_forward =
        !tensor.initial() && graph.op(tensor.producer).phase == Phase::kForward;
    if (!tensor.saved || !made_in_forward || tensor.layer < 0) continue;
    ledger.saved_of_all_layers += tensor.bytes;
    if (tensor.layer != ledger.layer) continue;
    ledger.saved.push_back(
        {std::string(graph.name(tensor.name)), tensor.shape, tensor.dtype, tensor.bytes});
    ledger.saved_of_layer += tensor.bytes;
  }
  return ledger;
}

}  // namespace tidemark::tools
