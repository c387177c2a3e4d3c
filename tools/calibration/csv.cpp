#include "tools/calibration/csv.hpp"

#include <algorithm>
#include <string_view>

#include "scenarios/text_check.hpp"
#include "tools/text_table.hpp"

namespace tidemark::tools {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class LineReader {
 public:
  LineReader(std::string_view line, scenarios::Mark mark, scenarios::Diagnostics& diagnostics)
      : line_(line), mark_(std::move(mark)), diagnostics_(diagnostics) {}

  CsvRow read() {
    CsvRow row;
    row.mark = place(0, 1);
    row.mark.width = static_cast<int>(std::max<std::size_t>(1, text_width(trimmed(line_))));
    do {
      row.cells.push_back(read_cell());
    } while (next());
    return row;
  }

 private:
  // Columns count characters, not bytes.
  scenarios::Mark place(std::size_t begin, std::size_t length) const {
    scenarios::Mark mark = mark_;
    mark.column = static_cast<int>(text_width(line_.substr(0, begin))) + 1;
    mark.width =
        static_cast<int>(std::max<std::size_t>(1, text_width(line_.substr(begin, length))));
    return mark;
  }

  void skip_blanks() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  }

  CsvCell read_cell() {
    skip_blanks();
    const std::size_t begin = at_;
    if (at_ < line_.size() && line_[at_] == '"') return read_quoted();
    while (at_ < line_.size() && line_[at_] != ',') ++at_;
    const std::string_view text = trimmed(line_.substr(begin, at_ - begin));
    return {std::string(text), place(begin, text.size())};
  }

  CsvCell read_quoted() {
    const std::size_t begin = at_++;
    std::string text;
    while (at_ < line_.size()) {
      if (line_[at_] == '"') {
        if (at_ + 1 >= line_.size() || line_[at_ + 1] != '"') break;
        ++at_;
      }
      text += line_[at_++];
    }
    CsvCell cell{std::move(text), place(begin, at_ + 1 - begin)};
    if (at_ >= line_.size()) {
      diagnostics_.error(cell.mark, "quotes that do not end on this line");
      return cell;
    }
    ++at_;
    skip_blanks();
    if (at_ < line_.size() && line_[at_] != ',' && line_[at_] != '\r') {
      diagnostics_.error(place(at_, 1), "expected a comma after the quotes");
    }
    while (at_ < line_.size() && line_[at_] != ',') ++at_;
    return cell;
  }

  bool next() {
    if (at_ >= line_.size()) return false;
    ++at_;  // the comma
    return true;
  }

  std::string_view line_;
  scenarios::Mark mark_;
  scenarios::Diagnostics& diagnostics_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<CsvRow> parse_csv(const std::shared_ptr<const scenarios::Source>& source,
                              scenarios::Diagnostics& diagnostics) {
  std::vector<CsvRow> rows;
  std::string_view rest = source->text;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // as spreadsheets write it
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  if (const auto fault = scenarios::check_text(rest)) {
    scenarios::Mark whole;
    whole.source = source;
    diagnostics.error(whole, fault->message, "comma-separated values in UTF-8");
    return rows;
  }
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::string_view content = trimmed(text);
    if (content.empty() || content.front() == '#') continue;
    scenarios::Mark mark;
    mark.source = source;
    mark.line = line;
    rows.push_back(LineReader(text, mark, diagnostics).read());
  }
  return rows;
}

}  // namespace tidemark::tools
