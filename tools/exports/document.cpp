#include "tools/exports/document.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "hardware/ensure.hpp"
#include "tools/exports/json_text.hpp"

namespace tidemark::tools {
namespace {

// As in Python's pickletools.
namespace opcode {
constexpr char kProtocol = '\x80';
constexpr char kEmptyDictionary = '}';
constexpr char kEmptyList = ']';
constexpr char kMark = '(';
constexpr char kSetItems = 'u';
constexpr char kAppends = 'e';
constexpr char kUnicode = 'X';  // length in four bytes
constexpr char kByte = 'K';
constexpr char kTwoBytes = 'M';
constexpr char kInteger = 'J';  // four bytes, signed
constexpr char kLong = '\x8a';  // length in one byte, signed
constexpr char kTrue = '\x88';
constexpr char kFalse = '\x89';
constexpr char kPut = 'q';  // slot in one byte
constexpr char kLongPut = 'r';
constexpr char kGet = 'h';
constexpr char kLongGet = 'j';
constexpr char kStop = '.';
}  // namespace opcode

}  // namespace

void JsonDocument::separate() {
  if (!first_) out_ += out_.back() == ':' ? "" : ",";
  first_ = false;
}

void JsonDocument::dictionary() {
  separate();
  out_ += '{';
  open_.push_back('}');
  first_ = true;
}

void JsonDocument::list() {
  separate();
  out_ += '[';
  open_.push_back(']');
  first_ = true;
}

void JsonDocument::end() {
  out_ += open_.back();
  open_.pop_back();
  first_ = false;
}

void JsonDocument::key(std::string_view name) {
  separate();
  append_json_text(out_, name);
  out_ += ':';
}

void JsonDocument::text(std::string_view value) {
  separate();
  append_json_text(out_, value);
}

void JsonDocument::number(std::int64_t value) {
  separate();
  fmt::format_to(std::back_inserter(out_), "{}", value);
}

void JsonDocument::flag(bool value) {
  separate();
  out_ += value ? "true" : "false";
}

std::string JsonDocument::finish() {
  ensure(open_.empty(), "every dictionary and list is ended");
  return std::move(out_) + "\n";
}

PickleDocument::PickleDocument() {
  out_ += opcode::kProtocol;
  out_ += '\x02';
}

void PickleDocument::bytes(std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) out_ += static_cast<char>(value >> (8 * i) & 0xff);
}

void PickleDocument::put() {
  const bool small = slots_ < 256;
  out_ += small ? opcode::kPut : opcode::kLongPut;
  bytes(slots_++, small ? 1 : 4);
}

void PickleDocument::get(std::uint32_t slot) {
  const bool small = slot < 256;
  out_ += small ? opcode::kGet : opcode::kLongGet;
  bytes(slot, small ? 1 : 4);
}

void PickleDocument::dictionary() {
  out_ += opcode::kEmptyDictionary;
  out_ += opcode::kMark;
  open_.push_back(opcode::kSetItems);
}

void PickleDocument::list() {
  out_ += opcode::kEmptyList;
  out_ += opcode::kMark;
  open_.push_back(opcode::kAppends);
}

void PickleDocument::end() {
  out_ += open_.back();
  open_.pop_back();
}

void PickleDocument::text(std::string_view value) {
  const auto known = texts_.find(value);
  if (known != texts_.end()) {
    get(known->second);
    return;
  }
  out_ += opcode::kUnicode;
  bytes(value.size(), 4);
  out_ += value;
  texts_.emplace(value, slots_);
  put();
}

void PickleDocument::number(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0 && value < 0x100) {
    out_ += opcode::kByte;
    bytes(bits, 1);
  } else if (value >= 0 && value < 0x1'0000) {
    out_ += opcode::kTwoBytes;
    bytes(bits, 2);
  } else if (value >= -0x8000'0000ll && value < 0x8000'0000ll) {
    out_ += opcode::kInteger;
    bytes(bits, 4);
  } else {
    out_ += opcode::kLong;
    out_ += '\x08';
    bytes(bits, 8);
  }
}

void PickleDocument::flag(bool value) { out_ += value ? opcode::kTrue : opcode::kFalse; }

bool PickleDocument::repeat(std::uint64_t id) {
  const auto known = remembered_.find(id);
  if (known == remembered_.end()) return false;
  get(known->second);
  return true;
}

void PickleDocument::remember(std::uint64_t id) {
  remembered_.emplace(id, slots_);
  put();
}

std::string PickleDocument::finish() {
  ensure(open_.empty(), "every dictionary and list is ended");
  return std::move(out_) + opcode::kStop;
}

}  // namespace tidemark::tools
