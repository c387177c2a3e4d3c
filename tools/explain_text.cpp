#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hardware/quantity.hpp"
#include "tools/explain.hpp"
#include "tools/text_table.hpp"
#include "tools/told_apart.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {
namespace {

using remat::Drawn;

Bytes reserved_hbm(const Report& report) { return report.tier(Tier::kHbm).peak_reserved; }

std::string peak_sentence(const Report& report) {
  const TierReport& hbm = report.tier(Tier::kHbm);
  const Peak& peak = hbm.peak_moment;
  std::vector<std::pair<Bytes, Category>> parts;
  for (std::size_t c = 0; c < peak.by_category.size(); ++c) {
    if (peak.by_category[c].count > 0) {
      parts.emplace_back(peak.by_category[c], static_cast<Category>(c));
    }
  }
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string held;
  for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), 3); ++i) {
    held += fmt::format("{}{} {}", i == 0 ? "" : ", ", spoken(parts[i].second),
                        format_bytes(parts[i].first));
  }
  const std::string where = peak.op.empty()
                                ? "at the start of the step"
                                : "in " + place(name_of(peak.phase), peak.layer, peak.op);
  const auto [most, capacity] = told_apart(hbm.peak, hbm.capacity);
  return fmt::format("Peak: HBM holds most, {} of {}, {}; of it {}.", most, capacity, where, held);
}

std::string group_text(const ExplainedBlocks& blocks) {
  static constexpr std::array<const char*, 4> kWords = {"", "kept", "made again", "moved"};
  std::string out = fmt::format(": keeps {}, makes {} again in {}, moves {}\n\n",
                                format_bytes(blocks.kept), format_bytes(blocks.recomputed),
                                format_time(blocks.recompute), format_bytes(blocks.moved));
  TextTable table({{"tensor", Align::kLeft, 30},
                   {"of", Align::kLeft},
                   {"fate", Align::kLeft},
                   {"bytes"},
                   {"made again in"},
                   {"in HBM for"}});
  for (const ExplainedTensor& tensor : blocks.tensors) {
    table.add_row({tensor.name, std::string(spoken(tensor.module)),
                   kWords[static_cast<std::size_t>(tensor.fate)], format_bytes(tensor.bytes),
                   tensor.fate == Drawn::kRecomputed ? format_time(tensor.recompute) : "-",
                   format_time(tensor.alive)});
  }
  return out + table.render(kTerminalWidth) + "\n";
}

std::string change_words(const Helpful& help) {
  std::string yaml;
  for (const std::string& line : as_yaml(std::span(&help.change, 1))) {
    yaml += (yaml.empty() ? "" : "; ") + line;
  }
  return fmt::format("{} ({})", help.change.words, yaml);
}

// The two that save most.
std::string machine_sentence(const Report& report, std::span<const Effect> effects) {
  std::string saves;
  for (const Effect& effect : effects.first(std::min<std::size_t>(effects.size(), 2))) {
    if (effect.saves <= SimTime(0) || !counts(effect, report.step_time)) break;
    saves +=
        fmt::format("{} {} ({} for {}) {} {}, {:.1f} % of the step", saves.empty() ? "" : "; then",
                    effect.figure->words, text_of(effect.to), text_of(effect.from),
                    saves.empty() ? "saves most," : "saves", format_time(effect.saves),
                    100 * seconds(effect.saves) / seconds(report.step_time));
  }
  const std::string tried =
      fmt::format("{} figures of the machine, each simulated 10 % better or with one more drive,",
                  effects.size());
  return saves.empty() ? fmt::format("None of {} saves 0.1 % of the step.", tried)
                       : fmt::format("Of {}{}.", tried, saves);
}

}  // namespace

std::vector<std::string> sentences(const Report& report, const WhatHelps& help) {
  std::vector<std::string> lines = {peak_sentence(report)};
  lines.push_back("What holds it up: " + report.bottleneck + ".");
  if (report.placement && report.placement->bound && !report.placement->cost) {
    lines.push_back(fmt::format(
        "Its plan recomputes for {}; none within the same memory recomputes for less than {}.",
        format_time(report.placement->recompute), format_time(*report.placement->bound)));
  }
  const std::string tried = fmt::format("{} single changes, each simulated", help.tried);
  const auto answer = [&](const char* what, const Helpful& each) {
    const Bytes free = each.report.tier(Tier::kHbm).capacity - reserved_hbm(each.report);
    lines.push_back(
        fmt::format("{} of {}: {}: {}, {}; {}.", what, tried, change_words(each),
                    instead_of("step", each.report.step_time, report.step_time),
                    instead_of("HBM", reserved_hbm(each.report), reserved_hbm(report)),
                    each.report.fits() ? format_bytes(free) + " left" : "does not fit"));
  };
  if (help.one_for_both) {
    answer("Fastest that fits, and least HBM,", *help.fastest);
  } else if (help.fastest) {
    answer("Fastest that fits", *help.fastest);
  } else {
    lines.push_back(fmt::format("None of {}, {}.", tried,
                                report.fits() ? "is faster and fits"
                                              : "makes it fit; run --why-not-fit tries several "
                                                "at once"));
  }
  if (!help.one_for_both && help.smallest) {
    answer("Least HBM", *help.smallest);
  } else if (!help.smallest) {
    lines.push_back("None of them needs less HBM.");
  }
  lines.push_back(machine_sentence(report, help.machine));
  return lines;
}

std::string blocks_text(const Explanation& explanation) {
  std::string out;
  if (!explanation.before.tensors.empty()) {
    out += "into the first block" + group_text(explanation.before);
  }
  for (const ExplainedBlocks& blocks : explanation.blocks) {
    out += blocks.first == blocks.last ? fmt::format("block {}", blocks.first)
                                       : fmt::format("blocks {} to {}", blocks.first, blocks.last);
    out += group_text(blocks);
  }
  return out;
}

}  // namespace tidemark::tools
