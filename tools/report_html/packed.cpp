#include "tools/report_html/packed.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace tidemark::tools {
namespace {

void put_number(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

std::uint64_t zigzag(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? ~(bits << 1) : bits << 1;
}

std::string plain(std::span<const std::int64_t> column) {
  std::string out;
  for (const std::int64_t value : column) put_number(out, zigzag(value));
  return out;
}

// The most frequent first: they get the short numbers. Empty where there are too many.
std::string with_dictionary(std::span<const std::int64_t> column) {
  std::map<std::int64_t, std::uint64_t> counts;
  for (const std::int64_t value : column) ++counts[value];
  if (counts.size() > column.size() / 2) return {};
  std::vector<std::pair<std::int64_t, std::uint64_t>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  put_number(out, rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    put_number(out, zigzag(rows[i].first));
    counts[rows[i].first] = i;
  }
  for (const std::int64_t value : column) put_number(out, counts[value]);
  return out;
}

// Repetitions are looked for by the hash of their first bytes, among the last few of that hash.
class Repetitions {
 public:
  static constexpr std::size_t kLeast = 4;

  explicit Repetitions(std::string_view text)
      : text_(text), newest_(std::size_t{1} << kBits, kNone), older_(text.size(), kNone) {}

  struct Match {
    std::size_t length = 0;
    std::size_t back = 0;
  };
  Match longest_at(std::size_t at) const {
    Match best;
    if (at + kLeast > text_.size()) return best;
    std::size_t from = newest_[hash(at)];
    for (int tries = 0; from != kNone && tries < kMostTries; ++tries, from = older_[from]) {
      const std::size_t length = same(from, at);
      if (length >= kLeast && length > best.length) best = {length, at - from};
    }
    return best;
  }
  void learn(std::size_t at) {
    if (at + kLeast > text_.size()) return;
    older_[at] = std::exchange(newest_[hash(at)], at);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr int kBits = 16;
  static constexpr int kMostTries = 32;

  std::size_t hash(std::size_t at) const {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < kLeast; ++i) {
      word = word << 8 | static_cast<unsigned char>(text_[at + i]);
    }
    return word * 2654435761u >> (32 - kBits);
  }
  std::size_t same(std::size_t from, std::size_t at) const {
    std::size_t length = 0;
    while (at + length < text_.size() && text_[from + length] == text_[at + length]) ++length;
    return length;
  }

  std::string_view text_;
  std::vector<std::size_t> newest_, older_;
};

std::string packed(std::string_view text) {
  std::string out;
  put_number(out, text.size());
  Repetitions seen(text);
  std::size_t first = 0;  // of the bytes that are taken as they are
  for (std::size_t at = 0; at < text.size();) {
    const Repetitions::Match match = seen.longest_at(at);
    if (match.length == 0) {
      seen.learn(at++);
      continue;
    }
    put_number(out, at - first);
    out.append(text.substr(first, at - first));
    put_number(out, match.length);
    put_number(out, match.back);
    for (const std::size_t end = at + match.length; at < end; ++at) seen.learn(at);
    first = at;
  }
  put_number(out, text.size() - first);
  out.append(text.substr(first));
  put_number(out, 0);
  return out;
}

std::string in_base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out.push_back(k <= count ? kDigits[word >> (18 - 6 * k) & 63] : '=');
    }
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> differences(std::span<const std::int64_t> values) {
  std::vector<std::int64_t> out;
  out.reserve(values.size());
  std::int64_t before = 0;
  for (const std::int64_t value : values) out.push_back(value - std::exchange(before, value));
  return out;
}

void PackedColumns::add(std::span<const std::int64_t> column) {
  put_number(bytes_, column.size());
  const std::string numbers = plain(column);
  const std::string indexed = with_dictionary(column);
  const bool shorter = !indexed.empty() && indexed.size() < numbers.size();
  put_number(bytes_, shorter ? 1 : 0);
  bytes_ += shorter ? indexed : numbers;
}

void PackedColumns::add_text(std::string_view text) {
  put_number(bytes_, text.size());
  bytes_ += text;
}

std::string PackedColumns::base64() const { return in_base64(packed(bytes_)); }

}  // namespace tidemark::tools
