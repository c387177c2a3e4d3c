#pragma once
// Reads what tools/report_html/packed.hpp describes, for tests.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::test {

class UnpackedColumns {
 public:
  explicit UnpackedColumns(std::string_view base64) {
    Reader from{bytes_of(base64)};
    const std::uint64_t size = from.number();
    for (;;) {
      bytes_.bytes += from.take(from.number());
      const std::uint64_t length = from.number();
      if (length == 0) break;
      const std::uint64_t back = from.number();
      for (std::uint64_t i = 0; i < length; ++i) {
        bytes_.bytes.push_back(bytes_.bytes[bytes_.bytes.size() - back]);
      }
    }
    if (bytes_.bytes.size() != size) throw std::runtime_error("packed columns of another length");
  }

  std::vector<std::int64_t> column() {
    std::vector<std::int64_t> numbers(bytes_.number());
    if (bytes_.number() == 0) {
      for (std::int64_t& number : numbers) number = bytes_.zigzag();
      return numbers;
    }
    std::vector<std::int64_t> distinct(bytes_.number());
    for (std::int64_t& number : distinct) number = bytes_.zigzag();
    for (std::int64_t& number : numbers) number = distinct[bytes_.number()];
    return numbers;
  }

  std::vector<std::int64_t> sums() {
    std::vector<std::int64_t> numbers = column();
    for (std::size_t i = 1; i < numbers.size(); ++i) numbers[i] += numbers[i - 1];
    return numbers;
  }

  std::string text() { return bytes_.take(bytes_.number()); }
  bool at_end() const { return bytes_.at == bytes_.bytes.size(); }

 private:
  struct Reader {
    std::string bytes;
    std::size_t at = 0;

    std::uint64_t number() {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.at(at++));
        value |= std::uint64_t{byte & 127u} << shift;
        if (byte < 128) return value;
      }
    }
    std::int64_t zigzag() {
      const std::uint64_t value = number();
      return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
    }
    std::string take(std::uint64_t count) {
      if (count > bytes.size() - at) throw std::runtime_error("packed columns that end early");
      at += count;
      return bytes.substr(at - count, count);
    }
  };

  static std::string bytes_of(std::string_view base64) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    std::uint32_t word = 0;
    int bits = 0;
    for (const char c : base64) {
      if (c == '=') break;
      word = word << 6 | static_cast<std::uint32_t>(kDigits.find(c));
      bits += 6;
      if (bits >= 8) out.push_back(static_cast<char>(word >> (bits -= 8)));
    }
    return out;
  }

  Reader bytes_;
};

}  // namespace tidemark::test
