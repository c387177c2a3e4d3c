#include "tools/calibration/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hardware/quantity.hpp"
#include "tools/text_table.hpp"

namespace tidemark::tools {
namespace {

Spread spread(std::vector<double> errors) {
  for (double& error : errors) error = std::abs(error);
  std::ranges::sort(errors);
  if (errors.empty()) return {};
  const std::size_t middle = errors.size() / 2;
  const double median =
      errors.size() % 2 == 1 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
  return {median, errors.back()};
}

// In the double quotes of YAML.
std::string in_double_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string percent(double share) { return fmt::format("{:+.1f}", share * 100); }

std::string figures_text(const Fit& fit) {
  TextTable table({{"figure", Align::kLeft}, {"before"}, {"fitted"}, {"change %"}, {"error %"}});
  const Machine before = machine_before(fit);
  for (const FittedParameter& each : fit.parameters) {
    table.add_row({std::string(each.parameter->key), each.parameter->text(before),
                   each.parameter->text(fit.machine), percent(each.value / each.before - 1),
                   fmt::format("{:.1f}", each.error * 100)});
    if (at_bound(*each.parameter, each.value)) table.add_detail("as far as it may go");
  }
  return table.render(kTerminalWidth);
}

std::string rows_text(std::span<const Residual> rows) {
  TextTable table({{"line"}, {"row", Align::kLeft}, {"measured"}, {"before %"}, {"fitted %"}});
  for (const Residual& row : rows) {
    table.add_row({fmt::format("{}", row.timing->line), row.timing->text,
                   format_time(row.timing->time), percent(row.before), percent(row.after)});
  }
  return table.render(kTerminalWidth);
}

std::string spread_text(std::span<const Residual> rows) {
  const Spread before = spread_before(rows), after = spread_after(rows);
  return fmt::format("median |error| {:.1f} % (before {:.1f} %), worst {:.1f} % (before {:.1f} %)",
                     after.median * 100, before.median * 100, after.worst * 100,
                     before.worst * 100);
}

}  // namespace

Machine machine_before(const Fit& fit) {
  Machine before = fit.machine;
  for (const FittedParameter& each : fit.parameters) each.parameter->set(before, each.before);
  return before;
}

Spread spread_before(std::span<const Residual> rows) {
  std::vector<double> errors;
  for (const Residual& row : rows) errors.push_back(row.before);
  return spread(std::move(errors));
}

Spread spread_after(std::span<const Residual> rows) {
  std::vector<double> errors;
  for (const Residual& row : rows) errors.push_back(row.after);
  return spread(std::move(errors));
}

std::string fit_text(const Fit& fit) {
  std::string out = figures_text(fit);
  for (const Parameter* parameter : fit.left) {
    out += fmt::format("{} stays as it was: the rows do not determine it; {}\n", parameter->key,
                       parameter->advice);
  }
  out += fmt::format("\n{} rows used: {}\n", fit.used.size(), spread_text(fit.used));
  std::vector<Residual> far_off;
  for (const Residual& row : fit.used) {
    if (std::abs(row.after) > kFarOff) far_off.push_back(row);
  }
  if (!far_off.empty()) {
    out += fmt::format("{} of them farther off than {:.0f} %, and hardly heard\n", far_off.size(),
                       kFarOff * 100);
    out += rows_text(far_off);
  }
  if (fit.held_out.empty()) return out + "\nno row was kept back\n";
  out += fmt::format("\n{} rows kept back: {}\n", fit.held_out.size(), spread_text(fit.held_out));
  return out + rows_text(fit.held_out);
}

std::string machine_file(const Fit& fit, const std::string& base, const std::string& source) {
  std::string out =
      "# Written by tidemark calibrate. Name this file as the `hardware:` of a "
      "scenario.\nkind: gpu\n";
  out += fmt::format("description: {}\nbase: {}\n",
                     in_double_quotes(fit.machine.gpu.description + ", calibrated"), base);
  std::map<std::string, std::string> sections;
  const auto add = [&](const std::string& key, const std::string& value) {
    const std::size_t dot = key.find('.');
    sections[key.substr(0, dot)] +=
        fmt::format("  {}:\n    value: {}\n    source: {}\n", key.substr(dot + 1), value,
                    in_double_quotes(source));
  };
  for (const FittedParameter& each : fit.parameters) {
    add(std::string(each.parameter->key), each.parameter->text(fit.machine));
    // A drive that sustains more than its base writes at all writes that much.
    const bool raised = fit.machine.ssd.write == fit.machine.ssd.sustained;
    if (each.parameter->key == "ssd.sustained" && raised) {
      add("ssd.write", exact_text(fit.machine.ssd.write));
    }
  }
  for (const auto& [section, figures] : sections) {
    out += section + ":\n";
    if (section == "pcie") out += fmt::format("  base: {}\n", fit.machine.pcie.name);
    if (section == "ssd") out += fmt::format("  base: {}\n", fit.machine.ssd.name);
    if (section == "host") out += fmt::format("  base: {}\n", fit.machine.host.name);
    out += figures;
  }
  return out;
}

}  // namespace tidemark::tools
