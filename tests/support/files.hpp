#pragma once

#include <map>
#include <string>
#include <vector>

namespace tidemark::test {

// The path of a file of the source tree, by its path from the root: "tests/data/...".
std::string source_file(const std::string& path);

// The rows of such a CSV file by column, as RFC 4180 has it but for line breaks in cells. Throws
// std::runtime_error where the file cannot be read or a row has not as many cells as the header.
using Row = std::map<std::string, std::string>;
std::vector<Row> csv_rows(const std::string& path);

}  // namespace tidemark::test
