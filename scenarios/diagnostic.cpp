#include "scenarios/diagnostic.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "hardware/decimal.hpp"

namespace tidemark::scenarios {
namespace {

constexpr std::size_t kLineShown = 110;  // a longer source line is shown around the column only
constexpr std::size_t kStrategiesShown = 3;

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::string_view line_of(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

// The source line and the caret below it. Tabs are kept in both, so that the caret lines up.
std::string excerpt(const Mark& mark, const std::string& hint) {
  const std::string_view line = line_of(mark.source->text, mark.line);
  const std::size_t column = std::min(static_cast<std::size_t>(mark.column - 1), line.size());
  std::size_t first = 0;
  if (line.size() > kLineShown && column > kLineShown / 2) first = column - kLineShown / 2;
  while (first > 0 && continues_character(line[first])) --first;
  std::size_t last = std::min(line.size(), first + kLineShown);
  while (last < line.size() && continues_character(line[last])) ++last;
  const std::string cut_before = first > 0 ? "..." : "";
  const std::string cut_after = last < line.size() ? "..." : "";

  std::string shown = cut_before;
  std::string caret(cut_before.size(), ' ');
  for (std::size_t i = first; i < last; ++i) {
    shown += is_control(line[i]) && line[i] != '\t' ? '?' : line[i];
    if (i < column && !continues_character(line[i])) caret += line[i] == '\t' ? '\t' : ' ';
  }
  caret += '^';
  const std::size_t end = std::min(last, column + static_cast<std::size_t>(mark.width));
  for (std::size_t i = column + 1; i < end; ++i) {
    if (!continues_character(line[i])) caret += '~';
  }
  std::string number = std::to_string(mark.line);
  number.insert(0, number.size() < 5 ? 5 - number.size() : 0, ' ');
  const std::string margin(number.size(), ' ');
  return "\n" + number + " | " + shown + cut_after + "\n" + margin + " | " + caret +
         (hint.empty() ? "" : " " + hint);
}

auto place(const Diagnostic& d) {
  return std::tuple(d.mark.source ? d.mark.source->order : 0, d.mark.line, d.mark.column);
}

// " (strategy 'a')", " (strategies 'a', 'b', 'c' and 2 more)"
std::string strategies_text(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  std::string text = names.size() == 1 ? " (strategy " : " (strategies ";
  const std::size_t shown = std::min(names.size(), kStrategiesShown);
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + in_quotes(names[i]);
  if (shown < names.size()) text += " and " + std::to_string(names.size() - shown) + " more";
  return text + ")";
}

std::string render_all(const std::vector<Diagnostic>& diagnostics, std::size_t left_out) {
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics) {
    all += (all.empty() ? "" : "\n") + render(diagnostic);
  }
  if (left_out > 0) all += "\nand " + std::to_string(left_out) + " more errors";
  return all;
}

}  // namespace

std::string render(const Diagnostic& diagnostic) {
  const Mark& mark = diagnostic.mark;
  std::string text = mark.source ? mark.source->name : std::string();
  if (mark.line > 0) {
    text += ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
  }
  text += (text.empty() ? "error: " : ": error: ") + diagnostic.message;
  text += strategies_text(diagnostic.strategies);
  if (mark.alias_line > 0) {
    text += " (used by the alias at " + std::to_string(mark.alias_line) + ":" +
            std::to_string(mark.alias_column) + ")";
  }
  if (mark.line > 0 && !mark.source->text.empty()) return text + excerpt(mark, diagnostic.hint);
  return diagnostic.hint.empty() ? text : text + "; " + diagnostic.hint;
}

ScenarioError::ScenarioError(std::vector<Diagnostic> diagnostics, std::size_t left_out)
    : std::runtime_error(render_all(diagnostics, left_out)), diagnostics_(std::move(diagnostics)) {}

void Diagnostics::error(const Mark& mark, std::string message, std::string hint) {
  ++reported_;
  if (saturated()) return;
  Diagnostic found(mark, std::move(message), std::move(hint));
  const auto known = std::ranges::find_if(diagnostics_, [&](const Diagnostic& d) {
    return place(d) == place(found) && d.message == found.message;
  });
  if (known == diagnostics_.end()) {
    if (!strategy_.empty()) found.strategies.push_back(strategy_);
    diagnostics_.push_back(std::move(found));
    return;
  }
  std::vector<std::string>& names = known->strategies;
  // Empty: it was reported before any strategy was looked at. With a sweep, strategies return.
  if (!names.empty() && std::ranges::find(names, strategy_) == names.end()) {
    names.push_back(strategy_);
  }
}

void Diagnostics::leave_strategies_out(const std::function<bool(const Diagnostic&)>& plain) {
  for (Diagnostic& diagnostic : diagnostics_) {
    if (plain(diagnostic)) diagnostic.strategies.clear();
  }
}

void Diagnostics::throw_if_any() {
  if (diagnostics_.empty()) return;
  std::ranges::stable_sort(diagnostics_, {}, place);
  const std::size_t shown = std::min(diagnostics_.size(), kMost);
  const std::size_t left_out = diagnostics_.size() - shown;
  diagnostics_.erase(diagnostics_.begin() + static_cast<std::ptrdiff_t>(shown), diagnostics_.end());
  throw ScenarioError(std::move(diagnostics_), left_out);
}

}  // namespace tidemark::scenarios
