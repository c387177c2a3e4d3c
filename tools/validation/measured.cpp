#include "tools/validation/measured.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "hardware/decimal.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/load.hpp"
#include "scenarios/option_values.hpp"
#include "scenarios/parse.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/sections.hpp"
#include "scenarios/suggest.hpp"

namespace tidemark::tools {
namespace {

using scenarios::Diagnostics;
using scenarios::OptionValues;
using scenarios::Reader;
using scenarios::Value;

constexpr auto kProvenances = std::to_array<std::string_view>({"read", "recalled"});
constexpr auto kSourceOptions = std::to_array<OptionSpec>({
    {.name = "source"},
    {.name = "provenance", .kind = OptionKind::kChoice, .choices = kProvenances},
    {.name = "mapping"},
});
constexpr auto kNotCoveredOptions = std::to_array<OptionSpec>({{.name = "what"}, {.name = "why"}});
constexpr auto kDtypes = std::to_array<std::string_view>({"16bit", "32bit", "tf32"});
constexpr auto kMatmulOptions = std::to_array<OptionSpec>({
    {.name = "m", .kind = OptionKind::kInteger},
    {.name = "n", .kind = OptionKind::kInteger},
    {.name = "k", .kind = OptionKind::kInteger},
    {.name = "batch", .kind = OptionKind::kInteger, .preset = "1"},
    {.name = "dtype", .kind = OptionKind::kChoice, .preset = "16bit", .choices = kDtypes},
});
constexpr auto kStreamOptions =
    std::to_array<OptionSpec>({{.name = "bytes", .kind = OptionKind::kBytes}});
constexpr auto kDirections = std::to_array<std::string_view>({"h2d", "d2h"});
constexpr auto kCopyOptions = std::to_array<OptionSpec>({
    {.name = "direction", .kind = OptionKind::kChoice, .choices = kDirections},
    {.name = "bytes", .kind = OptionKind::kBytes},
    {.name = "both", .kind = OptionKind::kFlag, .preset = "false"},
});
constexpr auto kAccesses = std::to_array<std::string_view>({"read", "write"});
constexpr auto kDriveOptions = std::to_array<OptionSpec>({
    {.name = "direction", .kind = OptionKind::kChoice, .choices = kAccesses},
    {.name = "bytes", .kind = OptionKind::kBytes},
});
constexpr auto kCpuKernels = std::to_array<std::string_view>({"fused", "naive"});
constexpr auto kUpdateOptions = std::to_array<OptionSpec>({
    {.name = "parameters", .kind = OptionKind::kInteger},
    {.name = "kernel", .kind = OptionKind::kChoice, .preset = "fused", .choices = kCpuKernels},
});
constexpr auto kKernelOptions = std::to_array<OptionSpec>({
    {.name = "times", .kind = OptionKind::kInteger, .preset = "1", .most = 1000},
    {.name = "wait", .kind = OptionKind::kTime, .preset = "0", .least = 0},
    {.name = "what", .preset = "-"},
});

OptionValues read_table(const Value& mapping, const std::string& where,
                        std::span<const OptionSpec> table, Diagnostics& diagnostics) {
  Reader reader(mapping, where, diagnostics);
  const OptionValues values(reader, table);
  for (const OptionSpec& spec : table) {
    if (spec.preset.empty()) reader.require(spec.name);
  }
  reader.finish();
  return values;
}

ComponentWork read_matmul(const Value& mapping, Diagnostics& diagnostics) {
  const OptionValues values = read_table(mapping, "matmul", kMatmulOptions, diagnostics);
  return MatmulWork{values.integer("m"), values.integer("n"), values.integer("k"),
                    values.integer("batch"), values.choice<Arithmetic>("dtype")};
}

ComponentWork read_stream(const Value& mapping, Diagnostics& diagnostics) {
  const OptionValues values = read_table(mapping, "stream", kStreamOptions, diagnostics);
  return StreamWork{Bytes(values.integer("bytes"))};
}

ComponentWork read_copy(const Value& mapping, Diagnostics& diagnostics) {
  const OptionValues values = read_table(mapping, "copy", kCopyOptions, diagnostics);
  return CopyWork{values.choice<CopyWork::Direction>("direction"), Bytes(values.integer("bytes")),
                  values.flag("both")};
}

ComponentWork read_drive(const Value& mapping, Diagnostics& diagnostics) {
  const OptionValues values = read_table(mapping, "drive", kDriveOptions, diagnostics);
  return DriveWork{values.choice<DriveWork::Direction>("direction"),
                   Bytes(values.integer("bytes"))};
}

ComponentWork read_update(const Value& mapping, Diagnostics& diagnostics) {
  const OptionValues values = read_table(mapping, "update", kUpdateOptions, diagnostics);
  return UpdateWork{values.integer("parameters"), values.choice<CpuKernel>("kernel")};
}

ComponentWork read_kernels(const Value& list, Diagnostics& diagnostics) {
  KernelsWork work;
  for (const Value& item : list.items) {
    Reader reader(item, "a kernel", diagnostics);
    const OptionValues values(reader, kKernelOptions);
    for (std::int64_t n = values.integer("times"); n > 0; --n) {
      if (const Value* matmul = reader.find("matmul")) {
        work.matmuls.push_back(std::get<MatmulWork>(read_matmul(*matmul, diagnostics)));
      }
      if (const Value* stream = reader.find("stream")) {
        work.streams.push_back(std::get<StreamWork>(read_stream(*stream, diagnostics)));
      }
      work.wait += SimTime(values.integer("wait"));
    }
    reader.finish();
  }
  return work;
}

struct ComponentReader {
  std::string_view key;
  ComponentWork (*read)(const Value& mapping, Diagnostics& diagnostics);
};
constexpr auto kComponents = std::to_array<ComponentReader>({{"matmul", read_matmul},
                                                             {"stream", read_stream},
                                                             {"copy", read_copy},
                                                             {"drive", read_drive},
                                                             {"update", read_update},
                                                             {"kernels", read_kernels}});

// What a value of this option is in seconds, bytes and units a second.
double in_base_units(const OptionSpec& spec, const scenarios::OptionValue& value) {
  return static_cast<double>(value.integer) * (spec.kind == OptionKind::kTime ? 1e-12 : 1.0);
}

class MeasuredReader {
 public:
  MeasuredReader(const std::shared_ptr<const scenarios::Source>& text)
      : root_(scenarios::parse(text, diagnostics_)), catalogue_(diagnostics_) {}

  MeasuredSource read(const std::string& name) {
    if (!root_.is_mapping()) diagnostics_.error(root_.mark, "expected a mapping");
    diagnostics_.throw_if_any();
    MeasuredSource source;
    source.name = name;
    Value about = take({"source", "provenance", "mapping"});
    const OptionValues values = read_table(about, "", kSourceOptions, diagnostics_);
    source.title = values.text("source");
    source.provenance = values.text("provenance");
    source.mapping = values.text("mapping");
    const Value apart = take({"not_covered", "components"});
    if (const Value* list = apart.find("not_covered")) read_not_covered(*list, source);
    if (const Value* list = apart.find("components")) read_components(*list, source);
    if (root_.find("strategies") != nullptr) read_runs(source);
    check_subtractions(source);
    diagnostics_.throw_if_any();
    return source;
  }

 private:
  Value empty_mapping() const {
    Value mapping;
    mapping.kind = Value::Kind::kMapping;
    mapping.mark = root_.mark;
    return mapping;
  }

  // Moves entries of the document to a mapping of their own.
  Value take(std::initializer_list<std::string_view> keys) {
    Value taken = empty_mapping();
    std::erase_if(root_.entries, [&](scenarios::Entry& entry) {
      if (std::ranges::find(keys, entry.key) == keys.end()) return false;
      taken.entries.push_back(std::move(entry));
      return true;
    });
    return taken;
  }

  void read_not_covered(const Value& list, MeasuredSource& source) {
    for (const Value& item : list.items) {
      const OptionValues values = read_table(item, "not_covered", kNotCoveredOptions, diagnostics_);
      source.not_covered.push_back({values.text("what"), values.text("why")});
    }
  }

  std::optional<double> read_reference(const Value& value, const OptionSpec& spec) {
    if (spec.kind != OptionKind::kNumber) {
      const auto read = scenarios::read_value(value, spec, diagnostics_);
      return read ? std::optional(in_base_units(spec, *read)) : std::nullopt;
    }
    double number = 0;
    const char* end = value.text.data() + value.text.size();
    const auto [stop, fault] = std::from_chars(value.text.data(), end, number);
    if (fault == std::errc() && stop == end && number > 0) return number;
    diagnostics_.error(value.mark, std::string(spec.name) + ": expected a number above 0");
    return std::nullopt;
  }

  std::optional<PublishedFigure> read_figure(const scenarios::Entry& entry, bool of_run) {
    const auto known = metrics();
    const auto metric = std::ranges::find_if(known, [&](const Metric& each) {
      return each.spec.name == entry.key &&
             (of_run ? each.of_run != nullptr : each.of_component != nullptr);
    });
    if (metric == known.end()) {
      std::vector<std::string_view> names;
      for (const Metric& each : known) names.push_back(each.spec.name);
      diagnostics_.error(entry.mark, "unknown metric " + in_quotes(entry.key),
                         scenarios::suggestion(entry.key, names));
      return std::nullopt;
    }
    PublishedFigure figure;
    figure.metric = &*metric;
    const Value* value = &entry.value;
    if (entry.value.is_mapping()) {
      Reader reader(entry.value, entry.key, diagnostics_);
      value = reader.require("value");
      if (const Value* cause = reader.find("cause")) figure.cause = cause->text;
      if (const Value* minus = reader.find("minus")) figure.minus = minus->text;
      reader.finish();
    }
    if (value == nullptr) return std::nullopt;
    const std::optional<double> reference = read_reference(*value, metric->spec);
    if (!reference) return std::nullopt;
    figure.reference = *reference;
    figure.written = value->text;
    return figure;
  }

  std::vector<PublishedFigure> read_figures(const Value* mapping, const scenarios::Mark& mark,
                                            bool of_run) {
    std::vector<PublishedFigure> figures;
    if (mapping == nullptr || !mapping->is_mapping()) {
      diagnostics_.error(mark, "measured: expected a mapping of metrics to values");
      return figures;
    }
    for (const scenarios::Entry& entry : mapping->entries) {
      if (std::optional<PublishedFigure> figure = read_figure(entry, of_run)) {
        figures.push_back(std::move(*figure));
      }
    }
    return figures;
  }

  void read_components(const Value& list, MeasuredSource& source) {
    for (const Value& item : list.items) {
      Reader reader(item, "a component", diagnostics_);
      MeasuredCase row;
      if (const Value* name = reader.require("name")) row.name = name->text;
      const Value* hardware = reader.find("hardware");
      if (hardware == nullptr) hardware = root_.find("hardware");
      if (hardware == nullptr) {
        diagnostics_.error(item.mark, "missing key 'hardware'");
        continue;
      }
      MeasuredComponent component;
      component.machine = scenarios::read_hardware(*hardware, catalogue_, diagnostics_);
      int works = 0;
      for (const auto& [key, read] : kComponents) {
        const Value* mapping = reader.find(key);
        if (mapping == nullptr) continue;
        component.work = read(*mapping, diagnostics_);
        ++works;
      }
      if (works != 1)
        diagnostics_.error(item.mark,
                           "expected one of matmul, stream, copy, drive, update, kernels");
      row.component = std::move(component);
      row.figures = read_figures(reader.require("measured"), item.mark, false);
      reader.finish();
      source.cases.push_back(std::move(row));
    }
  }

  void read_runs(MeasuredSource& source) {
    std::vector<std::vector<PublishedFigure>> figures;
    for (scenarios::Entry& entry : root_.entries) {
      if (entry.key != "strategies") continue;
      for (Value& strategy : entry.value.items) {
        figures.push_back(read_figures(strategy.find("measured"), strategy.mark, true));
        std::erase_if(strategy.entries, [](const auto& each) { return each.key == "measured"; });
      }
    }
    scenarios::Scenario scenario = scenarios::load(root_, diagnostics_);
    for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
      MeasuredCase row;
      row.name = scenario.runs[i].strategy;
      row.run = std::move(scenario.runs[i]);
      row.figures = std::move(figures[i]);
      source.cases.push_back(std::move(row));
    }
  }

  void check_subtractions(const MeasuredSource& source) {
    for (const MeasuredCase& row : source.cases) {
      for (const PublishedFigure& figure : row.figures) {
        if (figure.minus.empty()) continue;
        const auto other = std::ranges::find(source.cases, figure.minus, &MeasuredCase::name);
        if (other != source.cases.end() && other->run.has_value()) continue;
        diagnostics_.error(root_.mark, "minus: no strategy is named " + in_quotes(figure.minus));
      }
    }
  }

  Diagnostics diagnostics_;
  Value root_;
  scenarios::Catalogue catalogue_;
};

}  // namespace

MeasuredSource read_measured(const std::string& name,
                             const std::shared_ptr<const scenarios::Source>& text) {
  return MeasuredReader(text).read(name);
}

std::vector<MeasuredSource> measured_sources(const std::vector<std::string>& names) {
  std::vector<MeasuredSource> sources;
  for (const EmbeddedFile& file : measured_files()) {
    const std::string name(file.name);
    if (!names.empty() && std::ranges::find(names, name) == names.end()) continue;
    sources.push_back(
        read_measured(name, std::make_shared<const scenarios::Source>(scenarios::Source{
                                "tools/measured/" + name + ".yaml", std::string(file.text), 0})));
  }
  return sources;
}

}  // namespace tidemark::tools
