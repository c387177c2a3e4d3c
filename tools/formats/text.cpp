// One table for people, a row a strategy, and a line for each run's bottleneck.

#include <fmt/format.h>

#include <algorithm>

#include "graph/policies/policy.hpp"
#include "hardware/quantity.hpp"
#include "tools/column_scale.hpp"
#include "tools/formats/format.hpp"
#include "tools/sparkline.hpp"
#include "tools/text_table.hpp"
#include "tools/told_apart.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {
namespace {

constexpr std::size_t kNameWidth = 34;  // of a strategy, where nothing is swept
constexpr std::size_t kLeastNameWidth = 16;
constexpr std::size_t kMostSparklines = 12;  // of a sweep: more would hide its table

Bytes most_bytes(std::span<const Report> runs) {
  Bytes most;
  for (const Report& run : runs) {
    for (const TierReport& tier : run.tiers) most = std::max(most, tier.peak);
  }
  return most;
}

SimTime longest_step(std::span<const Report> runs) {
  SimTime most{};
  for (const Report& run : runs) most = std::max(most, run.step_time);
  return most;
}

// What the peak consists of, largest first.
std::string contents(const Peak& peak, ColumnScale scale) {
  std::vector<std::size_t> parts;
  for (std::size_t c = 0; c < peak.by_category.size(); ++c) {
    if (static_cast<double>(peak.by_category[c].count) >= 0.05 * scale.size) parts.push_back(c);
  }
  std::ranges::stable_sort(parts, [&](std::size_t a, std::size_t b) {
    return peak.by_category[a] > peak.by_category[b];
  });
  std::string text;
  for (const std::size_t c : parts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", spoken(static_cast<Category>(c)),
                        scaled(peak.by_category[c], scale));
  }
  return text;
}

std::string stalls(const Report& run, ColumnScale scale) {
  std::string text;
  for (std::size_t c = 0; c < run.stalls.size(); ++c) {
    if (seconds(run.stalls[c]) < 0.005 * scale.size) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", sim::kStallCauseNames[c],
                        scaled(run.stalls[c], scale));
  }
  return text;
}

std::string swept_name(const std::string& key) { return key.substr(key.rfind('.') + 1); }

std::vector<TextColumn> columns_for(std::span<const Report> runs, ColumnScale bytes,
                                    ColumnScale time) {
  std::vector<TextColumn> columns;
  std::size_t name_width = kNameWidth;
  for (const auto& [key, value] : runs.front().point) {
    columns.push_back({swept_name(key) + "\n"});
    const std::size_t taken = swept_name(key).size() + 2;
    name_width -= std::min(taken, name_width - kLeastNameWidth);
  }
  const auto with_unit = [](const char* title, ColumnScale scale) {
    return TextColumn{fmt::format("{}\n{}", title, scale.unit)};
  };
  columns.push_back({"strategy\n", Align::kLeft, name_width});
  columns.push_back({"fits\n", Align::kLeft});
  columns.push_back(with_unit("HBM", bytes));
  columns.push_back(with_unit("host", bytes));
  columns.push_back(with_unit("SSD", bytes));
  columns.push_back(with_unit("step", time));
  columns.push_back(with_unit("recomp", time));
  columns.push_back(with_unit("stalls", time));
  columns.push_back({"tokens\n/s"});
  columns.push_back({"MFU\n%"});
  return columns;
}

// Whole tokens; of very slow steps two digits.
std::string tokens_text(double per_second) {
  if (per_second > 0 && per_second < 9.5) return fmt::format("{:.2g}", per_second);
  return format_count(static_cast<std::int64_t>(per_second + 0.5));
}

std::vector<std::string> row_for(const Report& run, ColumnScale bytes, ColumnScale time) {
  std::vector<std::string> cells;
  for (const auto& [key, value] : run.point) cells.push_back(value);
  // Brackets: not a time that this machine could show.
  const auto supposed = [&](std::string text) { return run.fits() ? text : "(" + text + ")"; };
  cells.push_back(run.strategy);
  cells.push_back(run.fits() ? "yes" : "no");
  for (const TierReport& tier : run.tiers) cells.push_back(scaled(tier.peak, bytes));
  cells.push_back(supposed(scaled(run.step_time, time)));
  cells.push_back(scaled(run.recompute, time));
  cells.push_back(scaled(run.stalled(), time));
  cells.push_back(supposed(tokens_text(run.tokens_per_second)));
  cells.push_back(supposed(fmt::format("{:.1f}", 100 * run.mfu)));
  return cells;
}

// Memory over the step in a line.
void add_sparkline(TextTable& table, const Report& run, const FormatOptions& options) {
  const auto& columns = run.profile.columns[static_cast<std::size_t>(Tier::kHbm)];
  if (columns.empty()) return;
  table.add_detail(fmt::format("HBM over the step: {}", sparkline(columns, options.ascii)));
}

void add_details(TextTable& table, const Report& run, ColumnScale bytes, ColumnScale time,
                 const FormatOptions& options) {
  const Peak& peak = run.tier(Tier::kHbm).peak_moment;
  const std::string moment =
      peak.op.empty() ? "from the start" : place(name_of(peak.phase), peak.layer, peak.op);
  table.add_detail(fmt::format("HBM peak ({}): {}", moment, contents(peak, bytes)));
  add_sparkline(table, run, options);
  const TierReport& host = run.tier(Tier::kHost);
  if (host.peak.count > 0) {
    table.add_detail(fmt::format("host peak: {}; of {}", contents(host.peak_moment, bytes),
                                 scaled(host.capacity, bytes)));
  }
  const std::string causes = stalls(run, time);
  if (!causes.empty()) table.add_detail(fmt::format("stalls: {}", causes));
  const std::string path = limits_text(run.critical_path, run.update_pace);
  if (!path.empty()) table.add_detail(fmt::format("critical path: {}", path));
  if (run.days_to_rated_writes > 0) {
    table.add_detail(fmt::format(
        "SSD: {} written a step, the rated writes are reached after {:.{}f} days of training",
        format_bytes(run.traffic[static_cast<std::size_t>(LinkKind::kNvmeWrite)]),
        run.days_to_rated_writes, run.days_to_rated_writes < 10 ? 1 : 0));
  }
}

void append_largest(std::string& out, const Report& run, std::size_t count) {
  const Peak& peak = run.tier(Tier::kHbm).peak_moment;
  TextTable table({{"largest in HBM at its peak", Align::kLeft, 26},
                   {"bytes"},
                   {"layer"},
                   {"category", Align::kLeft},
                   {"made by, freed by", Align::kLeft, 32}});
  const auto by = [](const std::string& op, Phase phase) {
    return fmt::format("{} ({})", op, name_of(phase));
  };
  for (std::size_t i = 0; i < std::min(count, peak.largest.size()); ++i) {
    const Alive& alive = peak.largest[i];
    const std::string maker =
        alive.made_by.empty() ? "before the step" : by(alive.made_by, alive.made_in);
    const std::string last = alive.freed_by.empty() ? "stays" : by(alive.freed_by, alive.freed_in);
    table.add_row({alive.name, format_count(alive.bytes.count),
                   alive.layer < 0 ? "" : std::to_string(alive.layer), spoken(alive.category),
                   maker + ", " + last});
  }
  out += fmt::format("\n{}\n{}", run.strategy, table.render(kTerminalWidth));
}

std::string label(const Report& run) {
  std::string text = run.strategy;
  for (const auto& [key, value] : run.point) {
    text += fmt::format(", {} {}", swept_name(key), value);
  }
  return text;
}

void append_wrapped(std::string& out, const std::string& line) {
  const std::vector<std::string> lines = wrap(line, kTerminalWidth - 2);
  for (std::size_t i = 0; i < lines.size(); ++i) out += (i > 0 ? "  " : "") + lines[i] + '\n';
}

// "12 driver calls (1.7 ms)"
std::string driver_calls(const AllocatorFigures& figures) {
  const std::int64_t calls = figures.driver_allocations + figures.driver_frees;
  std::string text = calls == 0 ? "no" : format_count(calls);
  text += calls == 1 ? " driver call" : " driver calls";
  if (calls != 0) text += fmt::format(" ({})", format_time(figures.driver_time));
  return text;
}

// "both: its plan (layered's) takes 60.0 GB of its budget of 85.0 GB of HBM, found by 4
// simulations; it recomputes for 12.0 ms, of which the best plan would save 3.1 % at most"
std::string placement_text(const Report& run) {
  const PlacementNote& note = *run.placement;
  std::string by;
  if (!note.method.empty()) {
    const bool policy = find_policy(note.method) != nullptr;
    by = fmt::format(" ({}{})", note.method, policy ? "'s" : "");
  }
  if (note.method == "none") by = ", to keep everything,";
  const auto [peak, budget] = told_apart(note.peak, note.budget);
  std::string text = fmt::format(
      "{}: its plan{} takes {}{} its budget of {} of HBM, found by {} simulation{}; it recomputes",
      label(run), by, peak, note.met ? " of" : ", more than", budget, note.simulations,
      note.simulations == 1 ? "" : "s");
  text += note.recompute.count() == 0 ? " nothing" : " for " + format_time(note.recompute);
  const auto moved = [&](Bytes bytes, const char* where) {
    if (bytes.count > 0)
      text += fmt::format(", and moves {} to the {}", format_bytes(bytes), where);
  };
  moved(note.to_host, "host");
  moved(note.to_ssd, "SSD");
  if (!note.bound) return text;
  if (note.cost) {
    if (note.cost->count() == 0) return text;
    text += fmt::format("; its program counts {} for recompute and waits for copies",
                        format_time(*note.cost));
    if (*note.bound == *note.cost) return text + ", and proves that no choice costs less";
    return text + fmt::format(", and proves that no choice costs {:.1f} % less",
                              100 * note.gap().value_or(0));
  }
  if (note.recompute.count() == 0) return text;
  if (*note.bound == note.recompute) return text + ", and no plan within as much memory for less";
  return text + fmt::format(", of which the best plan would save {:.1f} % at most",
                            100 * note.gap().value_or(0));
}

// What the allocator made of the bytes; where it failed, its own words and other settings.
void append_allocator(std::string& out, const Report& run) {
  const AllocatorFigures& steady = run.allocator.steady;
  std::string line = fmt::format(
      "{}: {} reserved at most, {} allocated, fragmentation at the peak {}; {} in the first step, "
      "{} "
      "in a steady one",
      label(run), format_bytes(steady.reserved_peak), format_bytes(steady.allocated_peak),
      format_bytes(steady.fragmentation_at_peak), driver_calls(run.allocator.first_step),
      driver_calls(steady));
  const std::int64_t retries = run.allocator.first_step.retries + steady.retries;
  if (retries != 0)
    line += fmt::format("; emptied its cache to try again: {}", format_count(retries));
  append_wrapped(out, line);
  if (run.fits()) return;
  const OutOfMemoryReport& oom = *run.out_of_memory;
  if (!oom.message.empty()) append_wrapped(out, fmt::format("{}: {}", label(run), oom.message));
  if (!oom.settings) return;
  const SettingsSearch& search = *oom.settings;
  std::string verdict =
      "no setting of the allocator helps: without any fragmentation it does not "
      "fit either";
  if (!search.fits.empty()) {
    verdict = fmt::format("it fits with {} (tried: {} of {} settings)", search.fits, search.tried,
                          settings_to_try().size());
  } else if (search.ideal_fits) {
    verdict = fmt::format(
        "it would fit without fragmentation, but with none of {} other settings "
        "that were tried",
        search.tried);
  }
  append_wrapped(out, fmt::format("{}: {}", label(run), verdict));
}

// How near the computed places are to the best that there can be.
void append_placement(std::string& out, const Report& run) {
  const AllocatorFigures& steady = run.allocator.steady;
  if (!steady.placement) return;
  const auto above = [](Bytes bytes, Bytes bound) {
    return 100 * (static_cast<double>(bytes.count) / static_cast<double>(bound.count) - 1);
  };
  const sim::PlacementFigures& placement = *steady.placement;
  std::string line =
      fmt::format("{}: placed in {}, {:.2f} % above the {} that live at once ({})", label(run),
                  format_bytes(steady.reserved_peak), above(steady.reserved_peak, placement.bound),
                  format_bytes(placement.bound), placement.rule);
  if (placement.greedy > steady.reserved_peak) {
    line += fmt::format("; simple rules: {:.2f} %", above(placement.greedy, placement.bound));
  }
  append_wrapped(out, line);
}

std::string scenario_text(const ScenarioReports& scenario, const FormatOptions& options) {
  const std::span<const Report> runs = scenario.runs;
  const ColumnScale bytes = byte_scale(most_bytes(runs));
  const ColumnScale time = time_scale(longest_step(runs));
  const bool sweep = !runs.front().point.empty();

  TextTable table(columns_for(runs, bytes, time));
  for (const Report& run : runs) {
    table.add_row(row_for(run, bytes, time));
    table.set_ink(run.point.size(), Ink::kStrong);
    table.set_ink(run.point.size() + 1, run.fits() ? Ink::kGood : Ink::kBad);
    if (!sweep) add_details(table, run, bytes, time, options);
    if (sweep && runs.size() <= kMostSparklines) add_sparkline(table, run, options);
  }
  std::string out =
      fmt::format("{}\n\n{}\n", inked(scenario.name, options.colors ? Ink::kStrong : Ink::kPlain),
                  table.render(kTerminalWidth, options.colors));
  for (const Report& run : runs) {
    append_wrapped(out, fmt::format("{}: {}", label(run), run.bottleneck));
    for (const std::string& warning : warnings_of(run)) {
      append_wrapped(out, fmt::format("{}: warning: {}", label(run), warning));
    }
    if (run.placement) append_wrapped(out, placement_text(run));
    if (run.allocator.keeps_cache) append_allocator(out, run);
    append_placement(out, run);
  }
  if (!std::ranges::all_of(runs, &Report::fits)) {
    out += "\n(in brackets: as it would be with enough memory)\n";
  }
  if (sweep) out += "\n(peaks, stalls and critical paths of a sweep: --json, --csv)\n";
  if (options.largest > 0) {
    for (const Report& run : runs) append_largest(out, run, options.largest);
  }
  for (const Report& run : runs) {
    if (run.remedies) out += "\n" + remedies_text(label(run), *run.remedies, kTerminalWidth);
  }
  return out;
}

}  // namespace

std::string text(std::span<const ScenarioReports> scenarios, const FormatOptions& options) {
  std::string out;
  for (const ScenarioReports& scenario : scenarios) {
    if (!out.empty()) out += '\n';
    out += scenario_text(scenario, options);
  }
  return out;
}

}  // namespace tidemark::tools
