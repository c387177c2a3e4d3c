// The ledger for programs. Extend names, do not rename them.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tidemark/version.hpp"
#include "tools/csv_cell.hpp"
#include "tools/ledger.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {
namespace {

using Json = nlohmann::ordered_json;

Json shape_json(const Shape& shape) {
  Json sizes = Json::array();
  for (int i = 0; i < shape.rank; ++i) sizes.push_back(shape.at(i));
  return sizes;
}

Json ledger_of_run(const RunLedger& run) {
  Json point = Json::object();
  for (const auto& [key, value] : run.run->point) {
    point[key] = Json::parse(value, nullptr, false);
    if (point[key].is_discarded()) point[key] = value;
  }
  Json states = Json::array();
  for (const LedgerComponent& component : run.ledger.components) {
    states.push_back({{"name", component.name}, {"bytes", component.bytes.count}});
  }
  Json saved = Json::array();
  for (const SavedTensor& tensor : run.ledger.saved) {
    saved.push_back({{"name", tensor.name},
                     {"of", spoken(tensor.module)},
                     {"saved_by", tensor.saved_by},
                     {"shape", shape_json(tensor.shape)},
                     {"dtype", name_of(tensor.dtype)},
                     {"bytes", tensor.bytes.count}});
  }
  Json options = Json::array();
  for (const OptionEffect& effect : run.effects) {
    options.push_back({{"option", effect.yaml},
                       {"block_saves_bytes", effect.saved_of_layer.count},
                       {"model_saves_bytes", effect.saved.count}});
  }
  Json as_it_is;  // null: planned for a budget
  if (run.as_it_is) {
    as_it_is = {{"option", run.as_it_is->yaml},
                {"block_saves_bytes", run.as_it_is->saved_of_layer.count},
                {"model_saves_bytes", run.as_it_is->saved.count}};
  }
  return {{"strategy", run.run->strategy},
          {"point", std::move(point)},
          {"model", run.run->model.name},
          {"parameters", run.ledger.parameters},
          {"states", std::move(states)},
          {"states_bytes", run.ledger.states.count},
          {"gradient_copies_bytes", run.ledger.gradient_copies.count},
          {"block", run.ledger.layer},
          {"blocks", run.ledger.layers},
          {"saved", std::move(saved)},
          {"block_saves_bytes", run.ledger.saved_of_layer.count},
          {"all_blocks_save_bytes", run.ledger.saved_of_all_layers.count},
          {"model_saves_bytes", run.ledger.saved_in_all.count},
          {"as_it_is", std::move(as_it_is)},
          {"options", std::move(options)}};
}

}  // namespace

// One scenario is one object; several are an array of them.
std::string ledger_json(std::span<const ScenarioLedgers> scenarios) {
  Json all = Json::array();
  for (const ScenarioLedgers& scenario : scenarios) {
    Json runs = Json::array();
    for (const RunLedger& run : scenario.runs) runs.push_back(ledger_of_run(run));
    all.push_back({{"tidemark", kVersion}, {"scenario", scenario.name}, {"runs", std::move(runs)}});
  }
  const Json& root = all.size() == 1 ? all[0] : all;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ledger_csv(std::span<const ScenarioLedgers> scenarios) {
  std::string out = "scenario,strategy,point,kind,name,of,saved_by,shape,dtype,bytes,model_bytes\n";
  for (const ScenarioLedgers& scenario : scenarios) {
    for (const RunLedger& run : scenario.runs) {
      const std::string start =
          fmt::format("{},{},{},", csv_cell(scenario.name), csv_cell(run.run->strategy),
                      point_cell(run.run->point));
      for (const LedgerComponent& component : run.ledger.components) {
        out += fmt::format("{}state,{},,,,,{},\n", start, csv_cell(component.name),
                           component.bytes.count);
      }
      if (run.ledger.gradient_copies > Bytes(0)) {
        out += fmt::format("{}update,gradient copies,,,,{},{},\n", start, name_of(DType::kF32),
                           run.ledger.gradient_copies.count);
      }
      for (const SavedTensor& tensor : run.ledger.saved) {
        std::string nodes, shape;
        for (const std::string& node : tensor.saved_by) nodes += (nodes.empty() ? "" : " ") + node;
        for (int i = 0; i < tensor.shape.rank; ++i) {
          shape += fmt::format("{}{}", i > 0 ? "x" : "", tensor.shape.at(i));
        }
        out += fmt::format("{}saved,{},{},{},{},{},{},\n", start, csv_cell(tensor.name),
                           csv_cell(spoken(tensor.module)), csv_cell(nodes), shape,
                           name_of(tensor.dtype), tensor.bytes.count);
      }
      if (run.as_it_is) {
        out += fmt::format("{}policy,{},,,,,{},{}\n", start, csv_cell(run.as_it_is->yaml),
                           run.as_it_is->saved_of_layer.count, run.as_it_is->saved.count);
      }
      for (const OptionEffect& effect : run.effects) {
        out += fmt::format("{}option,{},,,,,{},{}\n", start, csv_cell(effect.yaml),
                           effect.saved_of_layer.count, effect.saved.count);
      }
    }
  }
  return out;
}

}  // namespace tidemark::tools
