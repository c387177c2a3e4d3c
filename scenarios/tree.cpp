#include "scenarios/tree.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "graph/policies/policy.hpp"
#include "scenarios/options.hpp"

namespace tidemark::scenarios {
namespace {

std::string join(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

Value mapping_at(const Mark& mark) {
  Value value;
  value.kind = Value::Kind::kMapping;
  value.mark = mark;
  return value;
}

Value* find_entry(Value& mapping, std::string_view key) {
  return const_cast<Value*>(std::as_const(mapping).find(key));
}

// `base` and `hf_config` both say what the model is: the one that lies over takes the other's
// place.
void drop_rival(Value& merged, const Value& over) {
  const bool imported = over.find("hf_config") != nullptr;
  if (imported == (over.find("base") != nullptr)) return;  // neither, or both: a fault of `over`
  const std::string_view rival = imported ? "base" : "hf_config";
  std::erase_if(merged.entries, [&](const Entry& entry) { return entry.key == rival; });
}

bool has_row(std::span<const OptionSpec> options, std::string_view key) {
  return std::ranges::find(options, key, &OptionSpec::name) != options.end();
}

// Of the keys that are not the policies' own. `replay` is what the mapping says of a policy that
// works by segments or by tensors.
bool says_nothing(const Policy& policy, const Value* replay, std::string_view key) {
  const bool either = policy.segments != nullptr && policy.drops != nullptr;
  const bool by_tensors = either && replay != nullptr && replay->text == "needed";
  const bool by_segments = policy.segments != nullptr && !by_tensors;
  if (key == "keep_dropout") return by_segments;
  if (key == "reentrant" && policy.cached != nullptr) return true;
  return !by_segments && (key == "reentrant" || key == "early_stop" || key == "keep_last");
}

// Options of the policy that was there, where another one is laid over it that has none of that
// name. Others stay, so that what nobody knows is still reported.
void drop_options_of_other_policy(Value& merged, const Value& over) {
  const Value* was = merged.find("policy");
  const Value* is = over.find("policy");
  if (was == nullptr || is == nullptr || was->text == is->text) return;
  const Policy* before = find_policy(was->text);
  const Policy* after = find_policy(is->text);
  if (before == nullptr || after == nullptr) return;
  std::erase_if(merged.entries, [&](const Entry& entry) {
    if (says_nothing(*after, over.find("replay"), entry.key)) return true;
    return has_row(before->options, entry.key) && !has_row(after->options, entry.key);
  });
}

// Settings are written for one kind of allocator.
void drop_settings_of_other_allocator(Value& merged, const Value& over) {
  const Value* was = merged.find("kind");
  const Value* is = over.find("kind");
  if (was == nullptr || is == nullptr || was->text == is->text) return;
  std::erase_if(merged.entries, [](const Entry& entry) { return entry.key == "settings"; });
}

}  // namespace

Value expand_short_form(Value value, std::string_view path) {
  const Section* section = find_section(path);
  if (section == nullptr || section->short_key.empty() || !value.is_scalar()) return value;
  Value mapping = mapping_at(value.mark);
  Mark mark = value.mark;
  mapping.entries.push_back({std::string(section->short_key), mark, std::move(value)});
  return mapping;
}

Value merge(const Value& base, const Value& over, const std::string& path) {
  if (!over.is_mapping()) return over;
  Value merged = expand_short_form(base, path);
  if (!merged.is_mapping()) return over;
  if (path == "model") drop_rival(merged, over);
  if (path == "checkpoint") drop_options_of_other_policy(merged, over);
  if (path == "allocator") drop_settings_of_other_allocator(merged, over);
  for (const Entry& entry : over.entries) {
    if (Value* below = find_entry(merged, entry.key)) {
      *below = merge(*below, entry.value, join(path, entry.key));
    } else {
      merged.entries.push_back(entry);
    }
  }
  return merged;
}

void set_at(Value& root, const std::string& dotted_key, const Mark& key_mark, const Value& value) {
  // As a mapping of one key per level, laid over the root.
  Value over = value;
  std::string_view rest = dotted_key;
  while (true) {
    const std::size_t dot = rest.rfind('.');
    const std::string_view key = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
    Value level = mapping_at(key_mark);
    level.entries.push_back({std::string(key), key_mark, std::move(over)});
    over = std::move(level);
    if (dot == std::string_view::npos) break;
    rest = rest.substr(0, dot);
  }
  root = merge(root, over);
}

const Value* find_at(const Value& root, std::string_view dotted_key) {
  const std::size_t dot = dotted_key.find('.');
  const Value* found = root.find(dotted_key.substr(0, dot));
  if (found == nullptr || dot == std::string_view::npos) return found;
  return find_at(*found, dotted_key.substr(dot + 1));
}

std::string write_flow(const Value& value) {
  std::string text;
  switch (value.kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kScalar:
      return value.text;
    case Value::Kind::kSequence:
      for (const Value& item : value.items) text += (text.empty() ? "" : ", ") + write_flow(item);
      return "[" + text + "]";
    case Value::Kind::kMapping:
      for (const Entry& entry : value.entries) {
        text += (text.empty() ? "" : ", ") + entry.key + ": " + write_flow(entry.value);
      }
      return "{" + text + "}";
  }
  return text;
}

}  // namespace tidemark::scenarios
