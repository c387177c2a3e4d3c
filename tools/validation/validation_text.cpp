// The comparison as text for a terminal, as Markdown, CSV and JSON.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/text_table.hpp"
#include "tools/validation/validation.hpp"

namespace tidemark::tools {
namespace {

constexpr std::size_t kWidth = 110;

std::string percent(double share) { return fmt::format("{:.1f}", share * 100); }

std::string error_text(const ComparedFigure& figure) {
  if (figure.metric->spec.kind == OptionKind::kFlag)
    return figure.error == 0 ? "agrees" : "differs";
  const std::string text = fmt::format("{:+.1f}", figure.error * 100);
  return text == "-0.0" ? "+0.0" : text;
}

std::string metric_text(const ComparedFigure& figure) {
  std::string text(figure.metric->spec.name);
  if (!figure.minus.empty()) text += " minus " + figure.minus;
  return text;
}

std::vector<ComparedFigure> of_source(const Comparison& comparison, const std::string& name) {
  std::vector<ComparedFigure> figures;
  for (const ComparedFigure& figure : comparison.figures) {
    if (figure.source == name) figures.push_back(figure);
  }
  return figures;
}

struct SummaryRow {
  std::string name;
  ErrorSummary summary;
};

std::vector<SummaryRow> by_kind(const Comparison& comparison) {
  std::vector<SummaryRow> rows;
  for (const Aim& aim : aims()) {
    rows.push_back({std::string(name_of(aim.kind)),
                    summarize(comparison.figures, [&](const ComparedFigure& figure) {
                      return figure.metric->kind == aim.kind;
                    })});
  }
  std::erase_if(rows, [](const SummaryRow& row) { return row.summary.rows == 0; });
  return rows;
}

std::vector<SummaryRow> by_source(const Comparison& comparison) {
  std::vector<SummaryRow> rows;
  for (const MeasuredSource& source : comparison.sources) {
    for (const Aim& aim : aims()) {
      const ErrorSummary summary = summarize(comparison.figures, [&](const ComparedFigure& figure) {
        return figure.source == source.name && figure.metric->kind == aim.kind;
      });
      if (summary.rows == 0) continue;
      rows.push_back({source.name + ": " + std::string(name_of(aim.kind)), summary});
    }
  }
  return rows;
}

std::string summary_table(const std::vector<SummaryRow>& rows, const char* title) {
  TextTable table({{title, Align::kLeft},
                   {"rows"},
                   {"median\n|error| %"},
                   {"worst\n%"},
                   {"worst of", Align::kLeft, 48},
                   {"far off,\nno cause"}});
  for (const auto& [name, summary] : rows) {
    table.add_row({name, fmt::format("{}", summary.rows), percent(summary.median),
                   fmt::format("{:+.1f}", summary.worst * 100), summary.worst_of,
                   fmt::format("{}", summary.unnamed)});
  }
  return table.render(kWidth);
}

std::string paragraph(const std::string& text) {
  std::string out;
  for (const std::string& line : wrap(text, kWidth)) out += line + '\n';
  return out;
}

std::string source_text(const MeasuredSource& source, const std::vector<ComparedFigure>& figures) {
  std::string out =
      paragraph(fmt::format("{}: {} ({})", source.name, source.title, source.provenance));
  out += paragraph(source.mapping) + '\n';
  TextTable table({{"configuration", Align::kLeft, 44},
                   {"figure", Align::kLeft, 30},
                   {"reference"},
                   {"simulated"},
                   {"error %"}});
  for (const ComparedFigure& figure : figures) {
    table.add_row({figure.name, metric_text(figure), value_text(*figure.metric, figure.reference),
                   value_text(*figure.metric, figure.simulated), error_text(figure)});
    if (!figure.cause.empty()) table.add_detail(figure.cause);
  }
  out += table.render(kWidth);
  for (const auto& [what, why] : source.not_covered) {
    out += paragraph("not covered: " + what + ": " + why);
  }
  return out;
}

// Text inside a cell of a Markdown table.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  return text;
}

std::string markdown_summary(const std::vector<SummaryRow>& rows, const char* title) {
  std::string out = fmt::format(
      "| {} | rows | median \\|error\\| % | worst % | worst of |\n|---|--:|--:|--:|---|\n", title);
  for (const auto& [name, summary] : rows) {
    out += fmt::format("| {} | {} | {} | {:+.1f} | {} |\n", name, summary.rows,
                       percent(summary.median), summary.worst * 100, cell(summary.worst_of));
  }
  return out + '\n';
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

nlohmann::ordered_json json_of(const std::vector<SummaryRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [name, summary] : rows) {
    list.push_back({{"of", name},
                    {"rows", summary.rows},
                    {"median_abs_error", summary.median},
                    {"worst_error", summary.worst},
                    {"worst_of", summary.worst_of},
                    {"far_off", summary.beyond},
                    {"far_off_without_cause", summary.unnamed}});
  }
  return list;
}

}  // namespace

std::string validation_text(const Comparison& comparison) {
  std::string out;
  for (const MeasuredSource& source : comparison.sources) {
    out += source_text(source, of_source(comparison, source.name)) + '\n';
  }
  out += summary_table(by_source(comparison), "source and kind") + '\n';
  out += summary_table(by_kind(comparison), "kind");
  return out;
}

std::string validation_markdown(const Comparison& comparison) {
  std::string out =
      "# Published measurements, and what Tidemark says\n\n"
      "Written by `tidemark validate-model --markdown`. Only components (kernels, copies, drives) "
      "set constants\nof the devices; blocks, steps and memory are tests. An error is simulated / "
      "reference - 1.\n\n";
  out += markdown_summary(by_kind(comparison), "kind");
  out += markdown_summary(by_source(comparison), "source and kind");
  for (const MeasuredSource& source : comparison.sources) {
    out += fmt::format("## {}\n\n{} ({}).\n{}\n\n", source.name, source.title, source.provenance,
                       source.mapping);
    out +=
        "| configuration | figure | reference | simulated | error % | cause |\n"
        "|---|---|--:|--:|--:|---|\n";
    for (const ComparedFigure& figure : of_source(comparison, source.name)) {
      out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell(figure.name),
                         cell(metric_text(figure)), value_text(*figure.metric, figure.reference),
                         value_text(*figure.metric, figure.simulated), error_text(figure),
                         cell(figure.cause));
    }
    out += '\n';
    for (const auto& [what, why] : source.not_covered) {
      out += fmt::format("Not covered: {}: {}.\n\n", what, why);
    }
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string validation_csv(const Comparison& comparison) {
  std::string out =
      "source,provenance,configuration,kind,metric,minus,written,reference,simulated,"
      "error,cause\n";
  for (const ComparedFigure& figure : comparison.figures) {
    out += fmt::format("{},{},{},{},{},{},{},{:.6g},{:.6g},{:.4f},{}\n", figure.source,
                       figure.provenance, quoted(figure.name), name_of(figure.metric->kind),
                       figure.metric->spec.name, quoted(figure.minus), quoted(figure.written),
                       figure.reference, figure.simulated, figure.error, quoted(figure.cause));
  }
  return out;
}

std::string validation_json(const Comparison& comparison) {
  nlohmann::ordered_json json;
  json["by_kind"] = json_of(by_kind(comparison));
  json["by_source"] = json_of(by_source(comparison));
  nlohmann::ordered_json& figures = json["figures"] = nlohmann::ordered_json::array();
  for (const ComparedFigure& figure : comparison.figures) {
    figures.push_back({{"source", figure.source},
                       {"provenance", figure.provenance},
                       {"configuration", figure.name},
                       {"kind", name_of(figure.metric->kind)},
                       {"metric", figure.metric->spec.name},
                       {"minus", figure.minus},
                       {"written", figure.written},
                       {"reference", figure.reference},
                       {"simulated", figure.simulated},
                       {"error", figure.error},
                       {"cause", figure.cause}});
  }
  nlohmann::ordered_json& not_covered = json["not_covered"] = nlohmann::ordered_json::array();
  for (const MeasuredSource& source : comparison.sources) {
    for (const auto& [what, why] : source.not_covered) {
      not_covered.push_back({{"source", source.name}, {"what", what}, {"why", why}});
    }
  }
  return json.dump(2) + '\n';
}

}  // namespace tidemark::tools
