// A line a run, a column a number, as RFC 4180 has it. Every file of one call has the same columns;
// swept keys stand in columns named after them.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tools/csv_cell.hpp"
#include "tools/formats/format.hpp"

namespace tidemark::tools {
namespace {

std::string number(Bytes bytes) { return fmt::format("{}", bytes.count); }
std::string number(SimTime time) { return fmt::format("{}", seconds(time)); }

struct Column {
  std::string name;
  std::function<std::string(const Report&)> value;
};

void add_verdict(std::vector<Column>& columns) {
  columns.push_back({"fits", [](const Report& r) { return r.fits() ? "true" : "false"; }});
  columns.push_back(
      {"out_of_memory_tier", [](const Report& r) {
         return r.fits() ? std::string()
                         : std::string(kTierNames[static_cast<std::size_t>(r.out_of_memory->tier)]);
       }});
  columns.push_back({"out_of_memory_op", [](const Report& r) {
                       return r.fits() ? std::string() : r.out_of_memory->op;
                     }});
  columns.push_back({"needed_bytes", [](const Report& r) {
                       return r.fits() ? std::string() : number(r.out_of_memory->needed);
                     }});
}

void add_totals(std::vector<Column>& columns) {
  columns.push_back({"step_time_s", [](const Report& r) { return number(r.step_time); }});
  columns.push_back(
      {"tokens_per_s", [](const Report& r) { return fmt::format("{}", r.tokens_per_second); }});
  columns.push_back(
      {"model_flops", [](const Report& r) { return fmt::format("{}", r.model_flops.count); }});
  columns.push_back({"hardware_flops",
                     [](const Report& r) { return fmt::format("{}", r.hardware_flops.count); }});
  columns.push_back({"mfu", [](const Report& r) { return fmt::format("{}", r.mfu); }});
  columns.push_back(
      {"parameters", [](const Report& r) { return fmt::format("{}", r.parameters); }});
}

void add_memory(std::vector<Column>& columns) {
  for (std::size_t t = 0; t < kTierNames.size(); ++t) {
    const std::string tier(kTierNames[t]);
    columns.push_back(
        {tier + "_capacity_bytes", [t](const Report& r) { return number(r.tiers[t].capacity); }});
    columns.push_back(
        {tier + "_peak_bytes", [t](const Report& r) { return number(r.tiers[t].peak); }});
  }
  for (std::size_t c = 0; c < kCategoryNames.size(); ++c) {
    columns.push_back({fmt::format("hbm_peak_{}_bytes", kCategoryNames[c]), [c](const Report& r) {
                         return number(r.tier(Tier::kHbm).peak_moment.by_category[c]);
                       }});
  }
}

// Of HBM in a steady step.
void add_allocator(std::vector<Column>& columns) {
  const auto bytes = [&](const char* name, Bytes AllocatorFigures::*figure) {
    columns.push_back({fmt::format("allocator_{}_bytes", name),
                       [figure](const Report& r) { return number(r.allocator.steady.*figure); }});
  };
  const auto count = [&](const char* name, std::int64_t AllocatorFigures::*figure) {
    columns.push_back({fmt::format("allocator_{}", name), [figure](const Report& r) {
                         return fmt::format("{}", r.allocator.steady.*figure);
                       }});
  };
  columns.push_back({"allocator", [](const Report& r) { return r.allocator.kind; }});
  bytes("allocated_peak", &AllocatorFigures::allocated_peak);
  bytes("active_peak", &AllocatorFigures::active_peak);
  bytes("reserved_peak", &AllocatorFigures::reserved_peak);
  bytes("inactive_split_peak", &AllocatorFigures::inactive_split_peak);
  bytes("fragmentation_at_peak", &AllocatorFigures::fragmentation_at_peak);
  count("driver_allocations", &AllocatorFigures::driver_allocations);
  count("driver_frees", &AllocatorFigures::driver_frees);
  count("retries", &AllocatorFigures::retries);
  columns.push_back({"allocator_driver_time_s",
                     [](const Report& r) { return number(r.allocator.steady.driver_time); }});
}

void add_time(std::vector<Column>& columns) {
  columns.push_back({"busy_s", [](const Report& r) { return number(r.compute_busy); }});
  columns.push_back({"recompute_s", [](const Report& r) { return number(r.recompute); }});
  for (std::size_t c = 0; c < sim::kStallCauseNames.size(); ++c) {
    columns.push_back({fmt::format("stall_{}_s", sim::kStallCauseNames[c]),
                       [c](const Report& r) { return number(r.stalls[c]); }});
  }
  for (std::size_t p = 0; p < kResourceNames.size(); ++p) {
    columns.push_back({fmt::format("critical_path_{}_s", kResourceNames[p]),
                       [p](const Report& r) { return number(r.critical_path[p]); }});
  }
  for (const LinkKind kind :
       {LinkKind::kPcieH2d, LinkKind::kPcieD2h, LinkKind::kNvmeRead, LinkKind::kNvmeWrite}) {
    const auto row = static_cast<std::size_t>(kind);
    columns.push_back({fmt::format("{}_bytes", kLinkNames[row]),
                       [row](const Report& r) { return number(r.traffic[row]); }});
  }
  columns.push_back({"days_to_rated_writes", [](const Report& r) {
                       return r.days_to_rated_writes > 0 ? fmt::format("{}", r.days_to_rated_writes)
                                                         : std::string();
                     }});
}

std::vector<Column> columns_for(std::span<const ScenarioReports> scenarios) {
  std::vector<Column> columns;
  columns.push_back({"strategy", [](const Report& r) { return csv_cell(r.strategy); }});
  std::vector<std::string> swept;
  for (const ScenarioReports& scenario : scenarios) {
    for (const Report& report : scenario.runs) {
      for (const auto& [key, value] : report.point) {
        if (std::ranges::find(swept, key) == swept.end()) swept.push_back(key);
      }
    }
  }
  for (const std::string& key : swept) {
    columns.push_back({key, [key](const Report& r) {
                         const auto entry = std::ranges::find(
                             r.point, key, &std::pair<std::string, std::string>::first);
                         return entry == r.point.end() ? std::string() : csv_cell(entry->second);
                       }});
  }
  add_verdict(columns);
  add_totals(columns);
  add_memory(columns);
  add_time(columns);
  add_allocator(columns);
  return columns;
}

}  // namespace

std::string csv(std::span<const ScenarioReports> scenarios, const FormatOptions&) {
  const std::vector<Column> columns = columns_for(scenarios);
  std::string out = "scenario";
  for (const Column& column : columns) out += ',' + csv_cell(column.name);
  out += '\n';
  for (const ScenarioReports& scenario : scenarios) {
    for (const Report& report : scenario.runs) {
      out += csv_cell(scenario.name);
      for (const Column& column : columns) out += ',' + column.value(report);
      out += '\n';
    }
  }
  return out;
}

}  // namespace tidemark::tools
