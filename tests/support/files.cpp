#include "tests/support/files.hpp"

#include <fstream>
#include <stdexcept>

namespace tidemark::test {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

}  // namespace

std::string source_file(const std::string& path) {
  return std::string(TIDEMARK_SOURCE_DIR "/") + path;
}

std::vector<Row> csv_rows(const std::string& path) {
  std::ifstream file(source_file(path));
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = cells_of(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != header.size())
      throw std::runtime_error(path + ": a row of another length: " + line);
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = cells[i];
  }
  return rows;
}

}  // namespace tidemark::test
