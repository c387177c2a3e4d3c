#include <array>
#include <string_view>

#include "hardware/decimal.hpp"
#include "scenarios/option_values.hpp"
#include "scenarios/options.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/sections.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

constexpr auto kRequired = std::to_array<std::string_view>(
    {"architecture", "layers", "hidden", "heads", "vocab", "max_positions"});

ModelConfig to_config(const OptionValues& values) {
  ModelConfig model;
  model.architecture = values.choice<Architecture>("architecture");
  values.update("layers", model.layers);
  values.update("hidden", model.hidden);
  values.update("heads", model.heads);
  model.kv_heads = values.has("kv_heads") ? values.integer("kv_heads") : model.heads;
  if (values.has("head_dim")) {
    model.head_dim = values.integer("head_dim");
  } else if (model.heads > 0) {
    model.head_dim = model.hidden / model.heads;
  }
  const bool gpt =
      model.architecture == Architecture::kGpt || model.architecture == Architecture::kGpt2;
  if (gpt) model.ffn = 4 * model.hidden;
  values.update("ffn", model.ffn);
  values.update("vocab", model.vocab);
  values.update("max_positions", model.max_positions);
  model.tied_embeddings = values.flag("tied_embeddings");
  model.qkv_bias = values.flag("qkv_bias");
  model.dropout = values.number("dropout") > 0;
  values.update("extra_parameters", model.extra_parameters);
  return model;
}

bool same(const ModelConfig& a, const ModelConfig& b) {
  return a.architecture == b.architecture && a.layers == b.layers && a.hidden == b.hidden &&
         a.heads == b.heads && a.kv_heads == b.kv_heads && a.head_dim == b.head_dim &&
         a.ffn == b.ffn && a.vocab == b.vocab && a.max_positions == b.max_positions &&
         a.tied_embeddings == b.tied_embeddings && a.qkv_bias == b.qkv_bias &&
         a.dropout == b.dropout && a.extra_parameters == b.extra_parameters;
}

ModelConfig read_mapping(const Value& mapping, Diagnostics& diagnostics, bool complete) {
  Reader reader(mapping, "model", diagnostics);
  if (complete && mapping.is_mapping()) {
    for (const std::string_view key : kRequired) reader.require(key);
  }
  const OptionValues values(reader, options_of("model"));
  reader.finish();
  const bool needs_ffn = complete && values.has("architecture") && !values.stated("ffn");
  ModelConfig model = to_config(values);
  if (needs_ffn && model.ffn == 0) reader.require("ffn");
  return model;
}

}  // namespace

std::span<const std::string_view> keys_of_every_model() { return kRequired; }

ModelConfig read_model(const Value& section, Catalogue& catalogue, Diagnostics& diagnostics) {
  const Value user = expand_short_form(section, "model");
  const Value* base = user.find("base");
  if (base == nullptr || !base->is_scalar()) {
    ModelConfig model = read_mapping(user, diagnostics, base == nullptr);
    model.name = "custom";
    return model;
  }
  const Value* known = catalogue.model(base->text, base->mark);
  if (known == nullptr) return read_mapping(user, diagnostics, false);
  ModelConfig model = read_mapping(merge(*known, user, "model"), diagnostics, true);
  model.name = same(model, read_mapping(*known, diagnostics, true)) ? base->text : "custom";
  return model;
}

}  // namespace tidemark::scenarios
