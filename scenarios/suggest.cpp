#include "scenarios/suggest.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace tidemark::scenarios {
namespace {

constexpr std::size_t kLongestName = 100;  // longer than any known name: nothing is near

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// What other tools call a thing that has another name here.
struct OtherWord {
  std::string_view elsewhere;
  std::string_view here;
};
constexpr auto kOtherWords = std::to_array<OtherWord>({
    {"cpu", "host"},
    {"ram", "host"},
    {"cuda", "gpu"},
    {"nvme", "ssd"},
    {"disk", "ssd"},
    {"seq_len", "sequence"},
    {"sequence_length", "sequence"},
    {"batch_size", "micro_batch"},
    {"micro_batch_size", "micro_batch"},
    {"gradient_accumulation", "micro_batches"},
    {"gradient_accumulation_steps", "micro_batches"},
    {"gradient_checkpointing", "checkpoint"},
    {"activation_checkpointing", "checkpoint"},
    {"bfloat16", "bf16"},
    {"float32", "fp32"},
    {"adam", "adamw"},
    {"sdpa", "flash"},
    {"flash_attention_2", "flash"},
    {"true", "full"},
});

}  // namespace

// Optimal string alignment: three rows of the usual table.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_up(b.size() + 1), up(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_up.swap(up);
    up.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
  if (name.empty() || name.size() > kLongestName) return {};
  const std::string wanted = lower_case(name);
  for (const OtherWord& word : kOtherWords) {
    if (word.elsewhere != wanted) continue;
    const auto found = std::ranges::find(known, word.here);
    if (found != known.end()) return *found;
  }
  // The beginning of a name says more than one that is spelt nearly alike: h100, and not h200, for
  // h100-80gb-sxm.
  std::string_view longer;
  for (const std::string_view candidate : known) {
    const std::string lower = lower_case(candidate);
    if (lower == wanted) return candidate;
    if (wanted.size() < 3 || !lower.starts_with(wanted)) continue;
    if (longer.empty() || candidate.size() < longer.size()) longer = candidate;
  }
  if (!longer.empty()) return longer;
  const std::size_t allowed = std::max<std::size_t>(1, wanted.size() / 3);
  std::string_view best;
  std::size_t best_distance = allowed + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(wanted, lower_case(candidate));
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view name, std::span<const std::string_view> known) {
  std::string text;
  const std::string_view meant = nearest(name, known);
  if (!meant.empty()) text = "did you mean '" + std::string(meant) + "'? ";
  text += "known: ";
  // Names with commas of their own would run together.
  const bool quoted = std::ranges::any_of(
      known, [](std::string_view each) { return each.find(',') != std::string_view::npos; });
  const std::string mark = quoted ? "'" : "";
  for (std::size_t i = 0; i < known.size(); ++i) {
    text += (i > 0 ? ", " : "") + mark + std::string(known[i]) + mark;
  }
  return text;
}

}  // namespace tidemark::scenarios
