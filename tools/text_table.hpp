#pragma once
// A table for a terminal: columns as wide as they need to be, two blanks between them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::tools {

inline constexpr std::size_t kTerminalWidth = 100;  // what every table fits

// How text looks where colours are shown.
enum class Ink : std::uint8_t { kPlain, kStrong, kGood, kBad, kFaint };

enum class Align : std::uint8_t { kLeft, kRight };

struct TextColumn {
  std::string title;  // may have a second line after '\n', such as the unit
  Align align = Align::kRight;
  std::size_t widest = 1000;  // longer cells continue on the next line, broken at blanks
};

class TextTable {
 public:
  explicit TextTable(std::vector<TextColumn> columns);

  // One cell a column.
  void add_row(std::vector<std::string> cells);
  // Of a cell of the last row.
  void set_ink(std::size_t column, Ink ink);
  // A line below the last row, indented, wrapped at `width`.
  void add_detail(std::string text);

  // Every line ends with a line break and has no blanks before it.
  std::string render(std::size_t width, bool colors = false) const;

 private:
  struct Row {
    std::vector<std::vector<std::string>> cells;  // lines of each cell
    std::vector<Ink> inks;                        // empty: all plain
    std::vector<std::string> details;
  };

  std::vector<TextColumn> columns_;
  Row header_;
  std::vector<Row> rows_;
};

// `text` between the escape sequences of its ink.
std::string inked(std::string_view text, Ink ink);

// Characters (code points) of UTF-8 text.
std::size_t text_width(std::string_view text);

// Lines of at most `width` characters, broken at blanks, but not between a number and what follows
// it; a longer word has a line of its own.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace tidemark::tools
