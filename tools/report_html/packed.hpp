#pragma once
// Columns of whole numbers as text for a web page: short where numbers repeat, read back by
// web/packed.js.
//
//   number    LEB128; a signed one first as zigzag: 0, -1, 1, -2, … become 0, 1, 2, 3, …
//   column    count, kind 0: the numbers
//             count, kind 1: count of distinct ones, these, and for each number which of them it is
//   text      count of bytes, the bytes
//   packed    count of bytes that come out, then over and over: count of bytes to take as they are,
//             these, count of bytes to repeat (0: the end), how far back they stand
//   and that as base64

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::tools {

// What stands between neighbours: the first as it is, then the differences.
std::vector<std::int64_t> differences(std::span<const std::int64_t> values);

class PackedColumns {
 public:
  void add(std::span<const std::int64_t> column);
  void add_text(std::string_view text);

  std::string base64() const;

 private:
  std::string bytes_;
};

}  // namespace tidemark::tools
