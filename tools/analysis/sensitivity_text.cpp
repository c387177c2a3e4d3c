// What a faster machine would do, for people.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity.hpp"
#include "tools/analysis/least_rate.hpp"
#include "tools/analysis/sensitivity.hpp"
#include "tools/text_table.hpp"

namespace tidemark::tools {
namespace {

constexpr double kWorthARow = 0.0005;  // of the step: what prints as 0.1 % or more

std::string label(const Sensitivity& run) {
  std::string text = run.strategy;
  for (const auto& [key, value] : run.point) {
    text += fmt::format(", {} {}", key.substr(key.rfind('.') + 1), value);
  }
  return text;
}

void append_wrapped(std::string& out, const std::string& text, std::size_t width) {
  const std::vector<std::string> lines = wrap(text, width - 2);
  for (std::size_t i = 0; i < lines.size(); ++i) out += (i > 0 ? "  " : "") + lines[i] + '\n';
}

double share(SimTime part, SimTime whole) {
  return whole.count() == 0 ? 0 : seconds(part) / seconds(whole);
}

std::string signed_time(SimTime time) {
  return time.count() < 0 ? "-" + format_time(-time) : format_time(time);
}

void append_effects(std::string& out, const Sensitivity& run, std::size_t width) {
  TextTable table({{"figure", Align::kLeft}, {"from"}, {"to"}, {"step"}, {"saves"}, {"%"}});
  std::string idle;
  std::string fitting;
  bool any = false;
  bool worse = false;
  for (const Effect& effect : run.effects) {
    if (!run.fits && effect.fits) {
      fitting += fmt::format("{}{}", fitting.empty() ? "" : ", ", effect.figure->words);
    }
    if (!counts(effect, run.step_time)) {
      idle += fmt::format("{}{}", idle.empty() ? "" : ", ", effect.figure->words);
      continue;
    }
    any = true;
    worse = worse || effect.saves.count() < 0;
    table.add_row({std::string(effect.figure->words), text_of(effect.from), text_of(effect.to),
                   format_time(effect.step_time), signed_time(effect.saves),
                   fmt::format("{:.1f}", 100 * share(effect.saves, run.step_time))});
  }
  if (any) out += table.render(width);
  if (worse) out += "(below zero: the step gets longer, as transfers meet at other moments)\n";
  if (!idle.empty()) append_wrapped(out, "less than 0.1 % each: " + idle, width);
  if (run.fits) return;
  append_wrapped(out, fitting.empty() ? "none of these makes it fit" : "makes it fit: " + fitting,
                 width);
}

std::string waits_for(const Needed& needed) {
  if (needed.hidden) return "nothing";
  if (!needed.binds) return "another";
  return fmt::format("{} {}", spoken(*needed.binds, needed.update_pace),
                     format_time(needed.binds_for));
}

std::string rate_text(const Needed& needed, std::int64_t rate) {
  return rate > 0 ? needed.mover->text(rate) : "any";
}

void append_needed(std::string& out, const Sensitivity& run, std::size_t width) {
  if (run.needed.empty()) {
    out += "nothing moves between tiers\n";
    return;
  }
  TextTable table({{"traffic", Align::kLeft},
                   {"moves"},
                   {"has"},
                   {"needs"},
                   {"step then"},
                   {"then waits for", Align::kLeft, 20},
                   {"hides at"}});
  for (const Needed& needed : run.needed) {
    table.add_row({std::string(needed.mover->words),
                   needed.moves.count > 0 ? format_bytes(needed.moves) : "-",
                   rate_text(needed, needed.has), rate_text(needed, needed.needs),
                   format_time(needed.step_needed), waits_for(needed),
                   rate_text(needed, needed.to_hide)});
  }
  out += table.render(width);
}

void append_run(std::string& out, const Sensitivity& run, std::size_t width) {
  std::string title = fmt::format("{}: {} a step", label(run), format_time(run.step_time));
  if (!run.fits) title += " with enough memory";
  if (!run.needed.empty()) {
    title += fmt::format(", {} if moving bytes took no time", format_time(run.step_endless));
  }
  append_wrapped(out, title, width);
  out += '\n';
  append_effects(out, run, width);
  out += '\n';
  append_needed(out, run, width);
}

}  // namespace

bool counts(const Effect& effect, SimTime step_time) {
  return std::abs(share(effect.saves, step_time)) >= kWorthARow;
}

std::string sensitivity_text(std::span<const ScenarioSensitivities> scenarios, std::size_t width) {
  std::string out;
  for (const ScenarioSensitivities& scenario : scenarios) {
    if (!out.empty()) out += '\n';
    out += scenario.name + '\n';
    for (const Sensitivity& run : scenario.runs) {
      out += '\n';
      append_run(out, run, width);
    }
    out += '\n';
    append_wrapped(out,
                   "figure: the step simulated again with this figure of the machine 10 % better "
                   "(latencies 10/11, drives one more), what saves most first",
                   width);
    append_wrapped(out,
                   fmt::format("needs: the least rate at which the step is within {:.0f} % of what "
                               "it is with this mover infinitely fast, found by simulations to "
                               "half a percent; latencies stay",
                               100 * kHidden),
                   width);
    append_wrapped(out,
                   "step then: the step at that rate; then waits for: what is longest on the "
                   "critical path of what moves bytes once this mover is infinitely fast, and how "
                   "long; nothing: no other mover holds the step up, another: several do",
                   width);
    append_wrapped(out,
                   "hides at: the same with all other movers infinitely fast, that is, behind "
                   "computing alone",
                   width);
  }
  return out;
}

}  // namespace tidemark::tools
