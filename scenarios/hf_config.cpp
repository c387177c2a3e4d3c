#include "scenarios/hf_config.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hardware/decimal.hpp"
#include "scenarios/hf_fields.hpp"
#include "scenarios/options.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/suggest.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

constexpr auto kDropouts =
    std::to_array<std::string_view>({"resid_pdrop", "embd_pdrop", "attn_pdrop"});
constexpr std::string_view kDropoutPreset = "0.1";  // configuration_gpt2.py

bool is_null(const Value& value) { return value.kind == Value::Kind::kNull; }

std::string as_in_file(const Value& value) {
  return value.quoted ? "\"" + value.text + "\"" : write_flow(value);
}

Value scalar(std::string_view text, const Mark& mark) {
  Value value;
  value.kind = Value::Kind::kScalar;
  value.text = text;
  value.mark = mark;
  return value;
}

class HfReader {
 public:
  HfReader(const Value& file, const HfFamily& family, Diagnostics& diagnostics)
      : file_(file), family_(family), diagnostics_(diagnostics) {
    known_.emplace_back("model_type");
    model_.keys.kind = Value::Kind::kMapping;
    model_.keys.mark = file.mark;
  }

  HfModel read() {
    model_class();
    add("architecture", scalar(family_.architecture, file_.mark));
    for (const HfKey& key : family_.keys) take(key);
    if (family_.qkv_bias) add("qkv_bias", scalar("true", file_.mark));
    if (family_.architecture == "gpt2") {
      dropout();
      mask_size();
    } else {
      rope("rope_scaling");
      rope("rope_parameters");
      layer_types();
    }
    if (!family_.window_preset.empty()) window();
    fixed(file_, hf_fixed_of_all(), known_);
    fixed(file_, family_.fixed, known_);
    known_.insert(known_.end(), hf_ignored().begin(), hf_ignored().end());
    refuse_unknown(file_, known_, "of a " + std::string(family_.model_type) + " config.json");
    return std::move(model_);
  }

 private:
  const Value* find(std::string_view field) {
    known_.push_back(field);
    return file_.find(field);
  }

  void add(std::string_view key, Value value) {
    const Mark mark = value.mark;
    model_.keys.entries.push_back({std::string(key), mark, std::move(value)});
  }

  void not_modelled(const Value& value, std::string_view field, std::string_view meaning) {
    diagnostics_.error(value.mark, std::string(field) + " is " + describe(value) + ": " +
                                       std::string(meaning) + " is not modelled");
  }

  // The row of a key of `model:`, under the name that the file has for it.
  static OptionSpec spec_of(std::string_view key, std::string_view field) {
    OptionSpec spec = find_option(options_of("model"), key);
    spec.name = field;
    return spec;
  }

  // What is written or preset, held against the limits of a key of `model:`.
  std::optional<Value> checked(std::string_view field, const Value* written,
                               std::string_view preset, std::string_view key) {
    if (written == nullptr && preset.empty()) return std::nullopt;
    Value value = written != nullptr ? *written : scalar(preset, file_.mark);
    if (!read_value(value, spec_of(key, field), diagnostics_)) return std::nullopt;
    return value;
  }

  void take(const HfKey& row) {
    const Value* written = find(row.field);
    if (!row.alias.empty()) {
      const Value* other = find(row.alias);
      if (written != nullptr && other != nullptr) {
        diagnostics_.error(other->mark, std::string(row.alias) + " is another name of " +
                                            std::string(row.field) + ": write one of them");
      }
      if (written == nullptr) written = other;
    }
    if (row.nullable && written != nullptr && is_null(*written)) return;
    std::optional<Value> value = checked(row.field, written, row.preset, row.key);
    if (value) add(row.key, std::move(*value));
  }

  // `architectures`: heads for other tasks have other outputs and losses.
  void model_class() {
    const Value* classes = find("architectures");
    if (classes == nullptr || is_null(*classes)) return;
    if (classes->kind != Value::Kind::kSequence) {
      diagnostics_.error(classes->mark, "architectures: expected a list of class names, found " +
                                            describe(*classes));
      return;
    }
    for (const Value& each : classes->items) {
      if (each.text == family_.model_class) continue;
      diagnostics_.error(each.mark, "architectures: " + describe(each) + " is not modelled",
                         "of " + std::string(family_.model_type) + " only " +
                             std::string(family_.model_class) + " is");
    }
  }

  // One probability stands for all three: only whether it is 0 matters.
  void dropout() {
    std::vector<Value> values;
    std::size_t positive = 0;
    for (const std::string_view field : kDropouts) {
      std::optional<Value> value = checked(field, find(field), kDropoutPreset, "dropout");
      if (!value) return;
      Diagnostics none;
      const auto number = read_value(*value, spec_of("dropout", field), none);
      positive += number && number->number > 0 ? 1 : 0;
      values.push_back(std::move(*value));
    }
    if (positive != 0 && positive != values.size()) {
      diagnostics_.error(values[0].mark, "resid_pdrop is " + values[0].text + ", embd_pdrop is " +
                                             values[1].text + ", attn_pdrop is " + values[2].text +
                                             ": dropout in some places only is not modelled");
    }
    add("dropout", std::move(values[0]));
  }

  // n_ctx: the side of the causal mask in old versions of the library, otherwise without effect.
  void mask_size() {
    const std::optional<Value> size = checked("n_ctx", find("n_ctx"), "", "max_positions");
    const Value* positions = model_.keys.find("max_positions");
    if (!size || positions == nullptr || size->text == positions->text) return;
    diagnostics_.error(size->mark, "n_ctx is " + size->text + " and n_positions " +
                                       positions->text +
                                       ": a mask of another size is not modelled");
  }

  void rope(std::string_view field) {
    const Value* written = find(field);
    if (written == nullptr || is_null(*written)) return;
    if (!written->is_mapping()) {
      diagnostics_.error(written->mark,
                         std::string(field) + ": expected a mapping, found " + describe(*written));
      return;
    }
    std::vector<std::string_view> known;
    fixed(*written, hf_fixed_of_rope(), known);
    known.insert(known.end(), hf_ignored_of_rope().begin(), hf_ignored_of_rope().end());
    refuse_unknown(*written, known, "in " + std::string(field));
  }

  void layer_types() {
    const Value* types = find("layer_types");
    if (types == nullptr || is_null(*types)) return;
    for (const Value& each : types->items) {
      if (each.text != "full_attention") return not_modelled(each, "layer_types", "such a layer");
    }
    if (types->kind != Value::Kind::kSequence) not_modelled(*types, "layer_types", "such a layer");
  }

  void window() {
    bool used = true;
    if (family_.window_has_switch) {
      const Value* flag = find("use_sliding_window");
      const OptionSpec spec{.name = "use_sliding_window", .kind = OptionKind::kFlag};
      const auto on = flag != nullptr ? read_value(*flag, spec, diagnostics_) : std::nullopt;
      used = on && on->integer != 0;
      // Blocks before max_window_layers attend to all tokens. Preset: configuration_qwen2.py.
      const Value* first = find("max_window_layers");
      OptionSpec block = spec_of("layers", "max_window_layers");
      block.least = 0;
      const auto full =
          read_value(first != nullptr ? *first : scalar("28", file_.mark), block, diagnostics_);
      used = used && full && full->integer < integer_of("layers");
    }
    const Value* written = find("sliding_window");
    if (written != nullptr && is_null(*written)) return;
    const std::optional<Value> size =
        checked("sliding_window", written, family_.window_preset, "max_positions");
    if (!size || !used) return;
    for (Entry& entry : model_.keys.entries) {
      if (entry.key != "max_positions" || count_of(*size) >= count_of(entry.value)) continue;
      entry.value = *size;
      model_.window = size;
    }
  }

  std::int64_t count_of(const Value& value) {
    Diagnostics none;  // it has been read before
    const auto count = read_value(value, spec_of("max_positions", "max_positions"), none);
    return count ? count->integer : 0;
  }

  std::int64_t integer_of(std::string_view key) {
    const Value* value = model_.keys.find(key);
    return value != nullptr ? count_of(*value) : 0;
  }

  void fixed(const Value& mapping, std::span<const HfFixed> rows,
             std::vector<std::string_view>& known) {
    for (const HfFixed& row : rows) {
      known.push_back(row.field);
      const Value* value = mapping.find(row.field);
      if (value == nullptr || is_null(*value)) continue;
      const bool modelled = std::ranges::find(row.values, as_in_file(*value)) != row.values.end();
      if (!modelled) not_modelled(*value, row.field, row.otherwise);
    }
  }

  void refuse_unknown(const Value& mapping, const std::vector<std::string_view>& known,
                      const std::string& where) {
    for (const Entry& entry : mapping.entries) {
      if (std::ranges::find(known, entry.key) != known.end()) continue;
      if (diagnostics_.saturated()) return;
      const std::string_view meant = nearest(entry.key, known);
      std::string hint = "it may change the model: take it out of the file if it does not";
      if (!meant.empty()) hint = "did you mean '" + std::string(meant) + "'? otherwise " + hint;
      diagnostics_.error(entry.mark, "unknown field " + in_quotes(entry.key) + " " + where,
                         std::move(hint));
    }
  }

  const Value& file_;
  const HfFamily& family_;
  Diagnostics& diagnostics_;
  std::vector<std::string_view> known_;
  HfModel model_;
};

}  // namespace

HfModel read_hf_config(const Value& file, Diagnostics& diagnostics) {
  if (!file.is_mapping()) {
    diagnostics.error(file.mark, "expected the fields of a config.json, found " + describe(file));
    return {};
  }
  const Value* type = file.find("model_type");
  if (type == nullptr) {
    diagnostics.error(file.mark, "missing field 'model_type': not the config.json of a model");
    return {};
  }
  const auto found = std::ranges::find(hf_families(), type->text, &HfFamily::model_type);
  if (type->is_scalar() && found != hf_families().end()) {
    return HfReader(file, *found, diagnostics).read();
  }
  std::vector<std::string_view> known;
  for (const HfFamily& each : hf_families()) known.push_back(each.model_type);
  diagnostics.error(type->mark, "model_type is " + describe(*type) + ": it is not modelled",
                    suggestion(type->text, known));
  return {};
}

}  // namespace tidemark::scenarios
