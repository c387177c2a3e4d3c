#include "sim/allocators/caching_settings.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>

namespace tidemark::sim {
namespace {

constexpr std::array<std::string_view, 20> kKnown = {"backend",
                                                     "expandable_segments",
                                                     "garbage_collection_threshold",
                                                     "graph_capture_record_stream_reuse",
                                                     "large_segment_size_mb",
                                                     "max_non_split_rounding_mb",
                                                     "max_split_size_mb",
                                                     "page_map_us",
                                                     "page_unmap_us",
                                                     "per_process_memory_fraction",
                                                     "pinned_num_register_threads",
                                                     "pinned_reserve_segment_size_mb",
                                                     "pinned_use_background_threads",
                                                     "pinned_use_cuda_host_register",
                                                     "pinned_use_hip_host_register",
                                                     "release_lock_on_cudamalloc",
                                                     "release_lock_on_hipmalloc",
                                                     "roundup_power2_divisions",
                                                     "segment_alloc_us",
                                                     "segment_free_us"};
// Known to PyTorch, and they move bytes in ways that are not modelled here.
constexpr std::array<std::string_view, 2> kNotModelled = {"large_segment_size_mb",
                                                          "pinned_reserve_segment_size_mb"};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

std::string unknown_setting(std::string_view name) {
  std::string reason = "unknown setting '" + std::string(name) + "'";
  const auto nearest =
      std::min_element(kKnown.begin(), kKnown.end(), [&](std::string_view a, std::string_view b) {
        return edit_distance(name, a) < edit_distance(name, b);
      });
  if (edit_distance(name, *nearest) <= std::max<std::size_t>(2, name.size() / 3)) {
    return reason + ", did you mean '" + std::string(*nearest) + "'?";
  }
  reason += "; known:";
  for (const std::string_view known : kKnown) {
    reason += (known == kKnown.front() ? " " : ", ") + std::string(known);
  }
  return reason;
}

struct Token {
  std::string text;
  std::size_t position = 0;
};

bool is_mark(char c) { return c == ',' || c == ':' || c == '[' || c == ']'; }

std::vector<Token> split(std::string_view text) {
  std::vector<Token> tokens;
  bool word_open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;  // inside a word too: PyTorch drops spaces before it looks
    if (is_mark(text[i])) {
      tokens.push_back({std::string(1, text[i]), i});
      word_open = false;
    } else if (word_open) {
      tokens.back().text += text[i];
    } else {
      tokens.push_back({std::string(1, text[i]), i});
      word_open = true;
    }
  }
  return tokens;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(split(text)), end_(text.size()) {}

  ParsedSettings parse() {
    while (at_ < tokens_.size()) {
      if (!setting()) skip_setting();
      if (at_ < tokens_.size() && !take(',')) {
        fail("expected ',' before '" + word() + "'");
        skip_setting();
        take(',');
      }
    }
    return std::move(parsed_);
  }

 private:
  std::string word() const { return at_ < tokens_.size() ? tokens_[at_].text : std::string(); }
  bool at_mark() const { return at_ == tokens_.size() || is_mark(word()[0]); }
  bool take(char mark) {
    if (at_ == tokens_.size() || word() != std::string(1, mark)) return false;
    return ++at_, true;
  }
  bool fail(std::string reason) {
    const std::size_t position = at_ < tokens_.size() ? tokens_[at_].position : end_;
    parsed_.errors.push_back({position, std::move(reason)});
    return false;
  }
  // To the next comma that does not stand within brackets.
  void skip_setting() {
    for (int depth = 0; at_ < tokens_.size() && (depth > 0 || word() != ","); ++at_) {
      depth += word() == "[" ? 1 : word() == "]" ? -1 : 0;
    }
  }

  bool setting() {
    CachingSettings& settings = parsed_.settings;
    if (at_mark()) return fail("expected the name of a setting");
    const std::string name = word();
    if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) {
      return fail(unknown_setting(name));
    }
    if (std::find(kNotModelled.begin(), kNotModelled.end(), name) != kNotModelled.end()) {
      return fail(name + " is not modelled");
    }
    ++at_;
    if (!take(':')) return fail(name + ": expected ':' and a value");
    if (name == "roundup_power2_divisions") return divisions(name);
    if (at_mark()) return fail(name + ": expected a value");
    if (name == "max_split_size_mb") return mebibytes(name, settings.max_split_size);
    if (name == "max_non_split_rounding_mb")
      return mebibytes(name, settings.max_non_split_rounding);
    if (name == "garbage_collection_threshold") {
      return share(name, settings.garbage_collection_threshold, "between 0 and 1, both excluded",
                   [](double value) { return value > 0 && value < 1; });
    }
    if (name == "per_process_memory_fraction") {
      double fraction = 0;
      // Less leaves no room for the smallest segment of 2 MiB on a card of 2 GiB.
      if (!share(name, fraction, "from 0.001 to 1",
                 [](double value) { return value >= 0.001 && value <= 1; })) {
        return false;
      }
      settings.memory_fraction = fraction;
      return true;
    }
    if (name == "segment_alloc_us") return microseconds(name, settings.costs.segment_alloc);
    if (name == "segment_free_us") return microseconds(name, settings.costs.segment_free);
    if (name == "page_map_us") return microseconds(name, settings.costs.page_map);
    if (name == "page_unmap_us") return microseconds(name, settings.costs.page_unmap);
    if (name == "backend") return backend();
    if (name == "pinned_num_register_threads") return register_threads(name);
    bool without_effect = false;
    return truth(name,
                 name == "expandable_segments" ? settings.expandable_segments : without_effect);
  }

  bool backend() {
    if (word() == "native") return ++at_, true;
    if (word() == "cudaMallocAsync") {
      return fail("backend: cudaMallocAsync is not modelled, only native is");
    }
    return fail("backend: '" + word() + "' is not one of native, cudaMallocAsync");
  }

  bool truth(const std::string& name, bool& value) {
    if (word() != "True" && word() != "False") {
      return fail(name + ": '" + word() + "' is not one of True, False");
    }
    value = word() == "True";
    return ++at_, true;
  }

  std::optional<std::int64_t> whole_number() const {
    const std::string text = word();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
  }

  bool mebibytes(const std::string& name, Bytes& bytes) {
    constexpr std::int64_t kLeast = 20;  // the large segment, in MiB
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() >> 20;
    const auto value = whole_number();
    if (!value) return fail(name + ": '" + word() + "' is not a whole number of MiB");
    if (*value < kLeast) return fail(name + ": " + word() + " is too small, the least is 20");
    bytes = Bytes(std::min(*value, kMost) << 20);
    return ++at_, true;
  }

  bool microseconds(const std::string& name, SimTime& time) {
    // A call takes about 10^2; with more than this, 10^9 calls would pass the simulated clock.
    constexpr std::int64_t kMost = 5'000;
    const auto value = whole_number();
    if (!value || *value > kMost) {
      return fail(name + ": '" + word() + "' is not a whole number of microseconds up to 5000");
    }
    time = SimTime(*value * 1'000'000);
    return ++at_, true;
  }

  template <class Holds>
  bool share(const std::string& name, double& share, const char* range, Holds holds) {
    const std::string text = word();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      return fail(name + ": '" + text + "' is not a number");
    }
    if (!holds(value)) return fail(name + ": " + text + " is out of range, it lies " + range);
    share = value;
    return ++at_, true;
  }

  bool register_threads(const std::string& name) {
    const auto value = whole_number();
    if (!value || *value < 1 || *value > 128 ||
        !std::has_single_bit(static_cast<std::uint64_t>(*value))) {
      return fail(name + ": '" + word() + "' is not a power of two from 1 to 128");
    }
    return ++at_, true;
  }

  std::optional<std::int64_t> power_of_two(const std::string& name, const char* what,
                                           bool or_zero) {
    const auto value = at_mark() ? std::nullopt : whole_number();
    if (!value ||
        (*value == 0 ? !or_zero : !std::has_single_bit(static_cast<std::uint64_t>(*value)))) {
      fail(name + ": " + what + " '" + word() + "' is not a power of two" +
           (or_zero ? " or 0" : ""));
      return std::nullopt;
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 20;
    if (*value > kMost) {
      fail(name + ": " + what + " " + word() + " is more than 2^20");
      return std::nullopt;
    }
    ++at_;
    return value;
  }

  // Either one number for every interval, or [start in MiB:divisions, ..., >:divisions]. The first
  // entry also sets the intervals below it; '>' sets those above the entry before it (until PyTorch
  // 2.8 it overwrote that entry too).
  bool divisions(const std::string& name) {
    auto& all = parsed_.settings.roundup_power2_divisions;
    if (!take('[')) {
      const auto value = power_of_two(name, "divisions", false);
      if (value) all.fill(*value);
      return value.has_value();
    }
    std::size_t last = 0;
    bool first = true;
    while (!take(']')) {
      const bool above = word() == ">";
      std::optional<std::int64_t> start;
      if (above) {
        ++at_;
      } else if (!(start = power_of_two(name, "interval", false))) {
        return false;
      }
      if (!take(':')) return fail(name + ": expected ':' and the divisions of the interval");
      const auto value = power_of_two(name, "divisions", true);
      if (!value) return false;
      if (above) {
        std::fill(all.begin() + static_cast<std::ptrdiff_t>(std::min(last + 1, all.size())),
                  all.end(), *value);
      } else {
        const auto log2 =
            static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(*start)) - 1);
        last = std::min(log2, all.size() - 1);
        if (first) std::fill_n(all.begin(), last, *value);
        all[last] = *value;
        first = false;
      }
      if (word() != "]" && !take(',')) return fail(name + ": expected ',' or ']'");
    }
    return true;
  }

  std::vector<Token> tokens_;
  std::size_t end_;
  std::size_t at_ = 0;
  ParsedSettings parsed_;
};

}  // namespace

ParsedSettings parse_caching_settings(std::string_view text) { return Parser(text).parse(); }

}  // namespace tidemark::sim
