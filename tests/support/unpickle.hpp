#pragma once
// Reads a pickle of dictionaries, lists, text, whole numbers and flags, as pickletools.py describes
// the opcodes of protocol 2. Anything else throws.

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::test {

class Unpickler {
 public:
  using Json = nlohmann::json;

  explicit Unpickler(std::string_view text) : text_(text) {}

  Json read() {
    if (take(2) != std::string_view("\x80\x02", 2)) throw std::runtime_error("not protocol 2");
    while (true) {
      const char opcode = take(1)[0];
      if (opcode == '.') break;
      step(opcode);
    }
    if (stack_.size() != 1 || !marks_.empty() || !text_.empty()) {
      throw std::runtime_error("not one value");
    }
    return stack_.back();
  }

 private:
  std::string_view take(std::size_t count) {
    if (text_.size() < count) throw std::runtime_error("too short");
    const std::string_view taken = text_.substr(0, count);
    text_.remove_prefix(count);
    return taken;
  }

  std::uint64_t unsigned_of(std::size_t count) {
    std::uint64_t value = 0;
    const std::string_view bytes = take(count);
    for (std::size_t i = 0; i < count; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    return value;
  }

  std::int64_t signed_of(std::size_t count) {
    const std::uint64_t value = unsigned_of(count);
    const std::size_t shift = 64 - 8 * count;
    return static_cast<std::int64_t>(value << shift) >> shift;
  }

  std::vector<Json> since_mark() {
    if (marks_.empty()) throw std::runtime_error("no mark");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Json> values(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return values;
  }

  void step(char opcode) {
    switch (opcode) {
      case '(':
        marks_.push_back(stack_.size());
        break;
      case '}':
        stack_.push_back(Json::object());
        break;
      case ']':
        stack_.push_back(Json::array());
        break;
      case 'u': {
        const std::vector<Json> values = since_mark();
        for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
          stack_.back()[values[i].get<std::string>()] = values[i + 1];
        }
        break;
      }
      case 'e':
        for (Json& value : since_mark()) stack_.back().push_back(std::move(value));
        break;
      case 'X':
        stack_.push_back(std::string(take(unsigned_of(4))));
        break;
      case 'K':
        stack_.push_back(unsigned_of(1));
        break;
      case 'M':
        stack_.push_back(unsigned_of(2));
        break;
      case 'J':
        stack_.push_back(signed_of(4));
        break;
      case '\x8a':
        stack_.push_back(signed_of(unsigned_of(1)));
        break;
      case '\x88':
      case '\x89':
        stack_.push_back(opcode == '\x88');
        break;
      case 'q':
      case 'r':
        memo_[unsigned_of(opcode == 'q' ? 1 : 4)] = stack_.back();
        break;
      case 'h':
      case 'j':
        stack_.push_back(memo_.at(unsigned_of(opcode == 'h' ? 1 : 4)));
        break;
      default:
        throw std::runtime_error("unknown opcode");
    }
  }

  std::string_view text_;
  std::vector<Json> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, Json> memo_;
};

}  // namespace tidemark::test
