#include "tools/text_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "hardware/ensure.hpp"

namespace tidemark::tools {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::string_view kIndent = "    ";

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string padded(const std::string& text, std::size_t width, Align align, Ink ink) {
  const std::string blanks(width - std::min(width, text_width(text)), ' ');
  return align == Align::kLeft ? inked(text, ink) + blanks : blanks + inked(text, ink);
}

// A number and what follows it stay on one line: "33.3 %", "(268.4 MB".
std::size_t end_of_word(std::string_view text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  const std::size_t digit = word.find_first_not_of('(');
  const bool number = digit != std::string_view::npos && word[digit] >= '0' && word[digit] <= '9';
  if (!number || end == text.size()) return end;
  return std::min(text.find(' ', end + 1), text.size());
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::string inked(std::string_view text, Ink ink) {
  if (ink == Ink::kPlain || text.empty()) return std::string(text);
  // ECMA-48, select graphic rendition: bold, green, red, faint.
  constexpr std::array<std::string_view, 5> kCodes = {"0", "1", "32", "31", "2"};
  return "\x1b[" + std::string(kCodes[static_cast<std::size_t>(ink)]) + 'm' + std::string(text) +
         "\x1b[0m";
}

std::size_t text_width(std::string_view text) {
  // Continuation bytes of UTF-8 are 10xxxxxx.
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = end_of_word(text);
    const std::string_view word = text.substr(0, end);
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (text_width(line) + 1 + text_width(word) <= width) {
      line += ' ';
      line += word;
    } else {
      lines.emplace_back(word);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

TextTable::TextTable(std::vector<TextColumn> columns) : columns_(std::move(columns)) {
  for (const TextColumn& column : columns_) header_.cells.push_back(split_lines(column.title));
}

void TextTable::add_row(std::vector<std::string> cells) {
  ensure(cells.size() == columns_.size(), "a row should have one cell a column");
  Row row;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    row.cells.push_back(wrap(cells[c], columns_[c].widest));
  }
  rows_.push_back(std::move(row));
}

void TextTable::set_ink(std::size_t column, Ink ink) {
  std::vector<Ink>& inks = rows_.back().inks;
  inks.resize(columns_.size(), Ink::kPlain);
  inks[column] = ink;
}

void TextTable::add_detail(std::string text) { rows_.back().details.push_back(std::move(text)); }

std::string TextTable::render(std::size_t width, bool colors) const {
  std::vector<std::size_t> widths(columns_.size());
  const auto measure = [&](const Row& row) {
    for (std::size_t c = 0; c < widths.size(); ++c) {
      for (const std::string& line : row.cells[c]) {
        widths[c] = std::max(widths[c], text_width(line));
      }
    }
  };
  measure(header_);
  std::ranges::for_each(rows_, measure);

  std::string out;
  const auto print = [&](const Row& row) {
    std::size_t lines = 0;
    for (const auto& cell : row.cells) lines = std::max(lines, cell.size());
    for (std::size_t l = 0; l < lines; ++l) {
      std::string line;
      for (std::size_t c = 0; c < widths.size(); ++c) {
        if (c > 0) line += kGap;
        line += padded(l < row.cells[c].size() ? row.cells[c][l] : std::string(), widths[c],
                       columns_[c].align, colors && !row.inks.empty() ? row.inks[c] : Ink::kPlain);
      }
      append_line(out, std::move(line));
    }
    for (const std::string& detail : row.details) {
      for (const std::string& line : wrap(detail, width - kIndent.size())) {
        append_line(out, std::string(kIndent) + inked(line, colors ? Ink::kFaint : Ink::kPlain));
      }
    }
  };
  print(header_);
  std::ranges::for_each(rows_, print);
  return out;
}

}  // namespace tidemark::tools
