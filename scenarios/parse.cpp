#include "scenarios/parse.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "hardware/decimal.hpp"
#include "scenarios/text_check.hpp"

namespace tidemark::scenarios {
namespace {

struct Stop {};  // nothing more can be read from this document; the reason has been reported

std::size_t count_values(const Value& value) {
  std::size_t count = 1;
  for (const Value& item : value.items) count += count_values(item);
  for (const Entry& entry : value.entries) count += count_values(entry.value);
  return count;
}

int depth_of(const Value& value) {
  int depth = 0;
  for (const Value& item : value.items) depth = std::max(depth, 1 + depth_of(item));
  for (const Entry& entry : value.entries) depth = std::max(depth, 1 + depth_of(entry.value));
  return depth;
}

// Whether the quotes that open at byte `at` close again: yaml-cpp 0.7 takes the end of the file for
// the second one. True where no quotes open: at a block of text, an anchor or a tag.
bool closes_quotes(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return true;
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      const bool doubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
      if (!doubled) return true;
      ++i;
    }
  }
  return false;
}

// Builds a Value from yaml-cpp's events. Its Node interface would lose where an alias stands, and
// would keep duplicate keys and cycles.
class Builder : public YAML::EventHandler {
 public:
  // `text` is what is parsed: the text of `source`, unless that has none.
  Builder(std::shared_ptr<const Source> source, std::string_view text, Diagnostics& diagnostics)
      : source_(std::move(source)), text_(text), diagnostics_(diagnostics) {}

  Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      diagnostics_.error(place(mark), "a second document; a file has one");
      throw Stop{};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (wants_key()) return bad_key(place(mark), "a key is missing");
    Value value;
    value.mark = place(mark);
    add(std::move(value), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Mark use = place(mark);
    if (wants_key()) return bad_key(use, "an alias cannot be a key");
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      diagnostics_.error(use, "an alias inside of what it stands for");
      throw Stop{};
    }
    Value copy = found->second;
    count(use, count_values(copy));
    check_depth(use, depth_of(copy));
    note_alias(copy, use);
    add(std::move(copy), YAML::NullAnchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Mark at = place(mark);
    at.width = static_cast<int>(std::clamp<std::size_t>(text.size(), 1, 200));
    check_tag(at, tag);
    if (wants_key()) return start_entry(text, at);
    Value value;
    value.kind = Value::Kind::kScalar;
    value.text = text;
    value.quoted = tag == "!";  // yaml-cpp's sign of a scalar in quotes or a block
    if (value.quoted && !closes_quotes(text_, static_cast<std::size_t>(std::max(mark.pos, 0)))) {
      diagnostics_.error(at, "the quotes are not closed");
      throw Stop{};
    }
    if (value.quoted) at.width += 2;
    value.mark = at;
    add(std::move(value), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Value::Kind::kSequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Value::Kind::kMapping, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

  Mark place(const YAML::Mark& mark) const {
    if (source_->text.empty()) return {source_};
    return {source_, std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
  }

 private:
  struct Level {
    Value value;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;  // a mapping's key has come, its value has not
    bool drop = false;     // the key was refused: so is its value
    Entry entry;
    std::map<std::string, Mark> keys;  // where each came first
  };

  bool wants_key() const {
    return !levels_.empty() && levels_.back().value.is_mapping() && !levels_.back().has_key;
  }

  void bad_key(const Mark& mark, const char* message) {
    diagnostics_.error(mark, message);
    levels_.back().has_key = levels_.back().drop = true;
  }

  void start_entry(const std::string& key, const Mark& mark) {
    Level& level = levels_.back();
    level.has_key = true;
    level.drop = false;
    level.entry = Entry{key, mark, {}};
    if (key == "<<") {
      bad_key(mark, "merge keys are not supported: write the keys out");
      return;
    }
    const auto [known, added] = level.keys.emplace(key, mark);
    if (added) return;
    const Mark& first = known->second;
    diagnostics_.error(mark, "duplicate key " + in_quotes(key),
                       first.line > 0 ? "first at " + std::to_string(first.line) + ":" +
                                            std::to_string(first.column)
                                      : "");
    level.drop = true;
  }

  void open(Value::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    const Mark at = place(mark);
    check_tag(at, tag);
    if (wants_key()) {
      diagnostics_.error(
          at, "a key must be a word, not a list or a mapping; or a bracket is not closed");
      throw Stop{};
    }
    check_depth(at, 1);
    levels_.emplace_back();
    levels_.back().value.kind = kind;
    levels_.back().value.mark = at;
    levels_.back().anchor = anchor;
  }

  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    add(std::move(level.value), level.anchor);
  }

  void add(Value value, YAML::anchor_t anchor) {
    count(value.mark, 1);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = value;
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& level = levels_.back();
    if (!level.value.is_mapping()) {
      level.value.items.push_back(std::move(value));
      return;
    }
    if (!level.drop) {
      // yaml-cpp places a value that is not there at whatever comes next.
      if (value.kind == Value::Kind::kNull) value.mark = level.entry.mark;
      level.entry.value = std::move(value);
      level.value.entries.push_back(std::move(level.entry));
    }
    level.has_key = level.drop = false;
  }

  void check_tag(const Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;  // plain, quoted
    diagnostics_.error(mark, "tags are not supported: " + in_quotes(tag));
  }

  void check_depth(const Mark& mark, int more) {
    if (static_cast<int>(levels_.size()) + more <= kMostDepth) return;
    diagnostics_.error(mark, "nested too deeply: more than " + std::to_string(kMostDepth) +
                                 " lists and mappings inside one another");
    throw Stop{};
  }

  void count(const Mark& mark, std::size_t more) {
    values_ += more;
    if (values_ <= kMostValues) return;
    diagnostics_.error(mark, "too many values: more than " + std::to_string(kMostValues));
    throw Stop{};
  }

  static void note_alias(Value& value, const Mark& use) {
    value.mark.alias_line = use.line;
    value.mark.alias_column = use.column;
    for (Value& item : value.items) note_alias(item, use);
    for (Entry& entry : value.entries) {
      entry.mark.alias_line = use.line;
      entry.mark.alias_column = use.column;
      note_alias(entry.value, use);
    }
  }

  std::shared_ptr<const Source> source_;
  std::string_view text_;
  Diagnostics& diagnostics_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Value> anchors_;  // finished ones
  std::size_t values_ = 0;
  int documents_ = 0;
  Value root_;
};

bool tab_indents(const Source& source, int line) {
  std::istringstream lines(source.text);
  std::string text;
  for (int i = 0; i < line; ++i) std::getline(lines, text);
  const std::size_t tab = text.find('\t');
  return tab != std::string::npos && tab < text.find_first_not_of(" \t");
}

// yaml-cpp 0.8 names the anchor that is missing, 0.7 does not: the column points at it either way.
std::string words_of(const YAML::Exception& error) {
  constexpr std::string_view kNoAnchor = "the referenced anchor is not defined";
  return error.msg.starts_with(kNoAnchor) ? std::string(kNoAnchor) : error.msg;
}

Value parse_text(const std::shared_ptr<const Source>& source, const std::string& text,
                 Diagnostics& diagnostics) {
  Builder builder(source, text, diagnostics);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
  } catch (const YAML::Exception& error) {
    const Mark mark = builder.place(error.mark);
    diagnostics.error(mark, tab_indents(*source, mark.line)
                                ? "a tab in the indentation: YAML wants spaces"
                                : "not valid YAML: " + words_of(error));
  }
  Value root = builder.take();
  if (!root.mark.source) root.mark.source = source;
  return root;
}

Mark place_of_byte(const std::shared_ptr<const Source>& source, std::size_t at) {
  const std::string_view before = std::string_view(source->text).substr(0, at);
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t last_end = before.rfind('\n');
  const std::size_t column = last_end == std::string_view::npos ? at : at - last_end - 1;
  return {source, static_cast<int>(lines) + 1, static_cast<int>(column) + 1};
}

}  // namespace

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "nothing";
    case Value::Kind::kScalar:
      return in_quotes(value.text);
    case Value::Kind::kSequence:
      return "a list";
    case Value::Kind::kMapping:
      return "a mapping";
  }
  return {};
}

Value parse(const std::shared_ptr<const Source>& source, Diagnostics& diagnostics) {
  Value nothing;
  nothing.mark = {source};
  if (const auto fault = check_text(source->text)) {
    diagnostics.error(place_of_byte(source, fault->at), fault->message);
    return nothing;
  }
  const std::size_t faults = diagnostics.size();
  Value root = parse_text(source, source->text, diagnostics);
  if (root.kind == Value::Kind::kNull && diagnostics.size() == faults) {
    diagnostics.error({source}, "the file is empty");
  }
  return root;
}

Value parse_option_value(const std::shared_ptr<const Source>& source, const std::string& text,
                         Diagnostics& diagnostics) {
  if (check_text(text)) {
    diagnostics.error({source}, "not a text");
    return {};
  }
  return parse_text(source, text, diagnostics);
}

}  // namespace tidemark::scenarios
