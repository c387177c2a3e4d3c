#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tidemark/version.hpp"
#include "tools/column_scale.hpp"
#include "tools/comparison.hpp"
#include "tools/placement_json.hpp"
#include "tools/runtime_placement.hpp"
#include "tools/text_table.hpp"
#include "tools/wording.hpp"

namespace tidemark::tools {
namespace {

double share(SimTime part, SimTime whole) {
  return whole.count() == 0
             ? 0
             : static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

double share(Flops part, Flops whole) {
  return whole.count == 0 ? 0 : static_cast<double>(part.count) / static_cast<double>(whole.count);
}

Bytes peak_of(const Compared& row) { return row.report.tier(Tier::kHbm).peak_reserved; }

// Of a column with nothing in it, that of the peaks.
template <class BytesOf>
ColumnScale scale_of(std::span<const Compared> rows, BytesOf bytes_of) {
  Bytes most;
  Bytes highest;
  for (const Compared& row : rows) {
    most = std::max(most, bytes_of(row));
    highest = std::max(highest, peak_of(row));
  }
  return byte_scale(most.count > 0 ? most : highest);
}

SimTime longest_step(std::span<const Compared> rows) {
  SimTime most{};
  for (const Compared& row : rows) most = std::max(most, row.report.step_time);
  return most;
}

std::string legend(std::span<const Compared> rows) {
  std::string text =
      "time: beside a step that keeps everything. recomp and bound: of the time in which that one "
      "computes; FLOPs: of products and attention that run again, of the model's; PCIe: both ways, "
      "a "
      "step. No schedule whose HBM stays within a row's peak recomputes for less than its "
      "bound. *: no other row needs no more memory and no more time (of those that fit, if any "
      "does). ";
  if (std::ranges::any_of(rows, &Compared::missed_budget)) {
    text +=
        "missed: no plan of the policy was found within its budget; this one needs least of those "
        "tried, and "
        "more than the budget. ";
  }
  if (std::ranges::any_of(rows, &Compared::moves_activations)) {
    text +=
        "Of a row that moves activations (hybrid; ilp with move: host) the bound is what none "
        "takes longer, whatever it "
        "moves. ";
  }
  text += "Policies with a budget plan by an estimate of memory, corrected by simulation";
  const auto decides = std::ranges::find_if(rows, [](const Compared& row) {
    return row.report.placement && row.report.placement->method == kAtRunTime;
  });
  if (decides == rows.end()) return text + ".";
  return text + "; " + decides->policy.substr(0, decides->policy.find(',')) +
         " decides as the simulated run allocates.";
}

void append_wrapped(std::string& out, const std::string& text) {
  for (const std::string& line : wrap(text, kTerminalWidth)) out += line + "\n";
}

}  // namespace

std::string comparison_text(const std::string& title, std::span<const Compared> rows, bool colors,
                            bool planning_time) {
  const ColumnScale budgets =
      scale_of(rows, [](const Compared& row) { return row.budget.value_or(Bytes(0)); });
  const ColumnScale bytes = scale_of(rows, peak_of);
  const ColumnScale moved = scale_of(rows, [](const Compared& row) { return row.moved; });
  const ColumnScale time = time_scale(longest_step(rows));
  const int digits = time.size == 1 ? 3 : 2;
  const auto with_unit = [](const char* name, ColumnScale scale) {
    return TextColumn{fmt::format("{}\n{}", name, scale.unit)};
  };
  std::vector<TextColumn> columns = {{"policy", Align::kLeft, 34},
                                     with_unit("budget", budgets),
                                     {"fits"},
                                     with_unit("HBM", bytes),
                                     with_unit("step", time),
                                     {"time\n+ %"},
                                     {"recomp\n%"},
                                     {"bound\n%"},
                                     {"FLOPs\n+ %"},
                                     with_unit("PCIe", moved),
                                     {"", Align::kLeft}};
  if (planning_time) columns.push_back({"planned in\nms"});
  TextTable table(std::move(columns));
  for (const Compared& row : rows) {
    std::vector<std::string> cells = {
        row.policy,
        row.budget ? scaled(*row.budget, budgets) : "-",
        row.report.fits() ? "yes" : "no",
        scaled(peak_of(row), bytes),
        scaled(row.report.step_time, time, digits),
        fmt::format("{:.2f}", 100 * share(row.over, row.base)),
        fmt::format("{:.2f}", 100 * share(row.report.recompute, row.base_busy)),
        row.bound ? fmt::format("{:.2f}", 100 * share(*row.bound, row.base_busy)) : "-",
        fmt::format("{:.1f}", 100 * share(row.recomputed, row.report.model_flops)),
        scaled(row.moved, moved),
        row.missed_budget() ? "missed"
        : row.on_front      ? "*"
                            : ""};
    if (planning_time) {
      const auto& note = row.report.placement;
      cells.push_back(note ? fmt::format("{:.1f}", 1000 * note->planning_seconds) : "-");
    }
    table.add_row(std::move(cells));
    if (row.on_front) table.set_ink(0, Ink::kStrong);
    if (row.missed_budget()) table.set_ink(10, Ink::kBad);
    table.set_ink(2, row.report.fits() ? Ink::kGood : Ink::kBad);
  }
  std::string out = title + "\n\n" + table.render(kTerminalWidth, colors) + "\n";
  append_wrapped(out, legend(rows));
  const std::string floor = what_no_policy_moves(rows);
  if (!floor.empty()) {
    out += "\n";
    append_wrapped(out, floor);
  }
  return out;
}

std::string comparison_json(const std::string& title, std::span<const Compared> rows) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Compared& row : rows) {
    list.push_back({{"policy", row.policy},
                    {"budget_bytes", row.budget ? Json(row.budget->count) : Json(nullptr)},
                    {"budget_met", row.budget ? Json(!row.missed_budget()) : Json(nullptr)},
                    {"fits", row.report.fits()},
                    {"hbm_peak_bytes", peak_of(row).count},
                    {"step_time_s", seconds(row.report.step_time)},
                    {"overhead_s", seconds(row.over)},
                    {"recompute_s", seconds(row.report.recompute)},
                    {"bound_s", row.bound ? Json(seconds(*row.bound)) : Json(nullptr)},
                    {"recomputed_flops", row.recomputed.count},
                    {"moved_bytes", row.moved.count},
                    {"placement",
                     row.report.placement ? placement_json(*row.report.placement) : Json(nullptr)},
                    {"on_front", row.on_front}});
  }
  return Json{{"tidemark", kVersion}, {"scenario", title}, {"policies", std::move(list)}}.dump(2) +
         "\n";
}

std::string comparison_csv(std::span<const Compared> rows) {
  std::string out =
      "policy,budget_bytes,fits,hbm_peak_bytes,step_time_s,overhead_s,recompute_s,bound_s,"
      "recomputed_flops,moved_bytes,on_front,budget_met,simulations\n";
  for (const Compared& row : rows) {
    const PlacementNote* note = row.report.placement ? &*row.report.placement : nullptr;
    out += fmt::format("\"{}\",{},{},{},{},{},{},{},{},{},{},{},{}\n", row.policy,
                       row.budget ? fmt::format("{}", row.budget->count) : "", row.report.fits(),
                       peak_of(row).count, seconds(row.report.step_time), seconds(row.over),
                       seconds(row.report.recompute),
                       row.bound ? fmt::format("{}", seconds(*row.bound)) : "",
                       row.recomputed.count, row.moved.count, row.on_front,
                       note == nullptr ? "" : fmt::format("{}", note->met),
                       note == nullptr ? "" : fmt::format("{}", note->simulations));
  }
  return out;
}

}  // namespace tidemark::tools
