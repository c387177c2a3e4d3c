#include "tools/calibration/timings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "graph/lower.hpp"
#include "graph/option.hpp"
#include "hardware/decimal.hpp"
#include "hardware/quantity.hpp"
#include "scenarios/load.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/suggest.hpp"
#include "sim/executor.hpp"
#include "tools/calibration/csv.hpp"
#include "tools/hidden_moves.hpp"
#include "tools/steps.hpp"

namespace tidemark::tools {
namespace {

using scenarios::Diagnostics;

constexpr auto kDtypes = std::to_array<std::string_view>({"bf16", "fp16", "fp32", "tf32"});
constexpr auto kArithmetics = std::to_array<Arithmetic>(
    {Arithmetic::k16Bit, Arithmetic::k16Bit, Arithmetic::k32Bit, Arithmetic::kTf32});
constexpr auto kDirections = std::to_array<std::string_view>({"h2d", "d2h", "read", "write"});
constexpr std::int64_t kMostSize = 0x7fff'ffff;

// Every column but `kind`.
constexpr auto kColumns = std::to_array<OptionSpec>({
    {.name = "m", .kind = OptionKind::kInteger, .most = kMostSize},
    {.name = "n", .kind = OptionKind::kInteger, .most = kMostSize},
    {.name = "k", .kind = OptionKind::kInteger, .most = kMostSize},
    {.name = "batch", .kind = OptionKind::kInteger, .most = kMostSize},
    {.name = "dtype", .kind = OptionKind::kChoice, .choices = kDtypes},
    {.name = "bytes", .kind = OptionKind::kBytes},
    {.name = "direction", .kind = OptionKind::kChoice, .choices = kDirections},
    {.name = "parameters", .kind = OptionKind::kInteger, .most = std::int64_t{1} << 50},
    {.name = "scenario", .kind = OptionKind::kText},
    {.name = "time", .kind = OptionKind::kTime},
});

struct KindColumns {
  TimingKind kind;
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional = {};
};

const std::vector<KindColumns>& kinds() {
  static const std::vector<KindColumns> all = {
      {TimingKind::kMatmul, {"m", "n", "k", "dtype", "time"}, {"batch"}},
      {TimingKind::kStream, {"bytes", "time"}},
      {TimingKind::kCopy, {"direction", "bytes", "time"}},
      {TimingKind::kDrive, {"direction", "bytes", "time"}},
      {TimingKind::kUpdate, {"parameters", "time"}},
      {TimingKind::kStep, {"scenario", "time"}},
  };
  return all;
}

class TimingReader {
 public:
  explicit TimingReader(const std::shared_ptr<const scenarios::Source>& source) : source_(source) {}

  const std::vector<std::string>& inputs() const { return inputs_; }

  std::vector<Timing> read() {
    const std::vector<CsvRow> rows = parse_csv(source_, diagnostics_);
    if (rows.empty()) {
      scenarios::Mark mark;
      mark.source = source_;
      diagnostics_.error(mark, "no line that names the columns",
                         "the first begins with kind, and has a column time");
    }
    diagnostics_.throw_if_any();
    read_header(rows.front());
    diagnostics_.throw_if_any();
    std::vector<Timing> timings;
    for (std::size_t i = 1; i < rows.size() && !diagnostics_.full(); ++i) {
      if (std::optional<Timing> timing = read_row(rows[i])) timings.push_back(std::move(*timing));
    }
    diagnostics_.throw_if_any();
    return timings;
  }

 private:
  void read_header(const CsvRow& row) {
    std::vector<std::string_view> known = {"kind"};
    for (const OptionSpec& column : kColumns) known.push_back(column.name);
    for (const CsvCell& cell : row.cells) {
      if (std::ranges::find(known, cell.text) == known.end()) {
        diagnostics_.error(cell.mark, "unknown column " + in_quotes(cell.text),
                           scenarios::suggestion(cell.text, known));
      } else if (std::ranges::find(columns_, cell.text) != columns_.end()) {
        diagnostics_.error(cell.mark, "two columns are named " + in_quotes(cell.text));
      }
      columns_.push_back(cell.text);
    }
    for (const std::string_view required : {"kind", "time"}) {
      if (std::ranges::find(columns_, required) == columns_.end()) {
        diagnostics_.error(row.mark, "missing column " + in_quotes(std::string(required)));
      }
    }
  }

  const CsvCell* cell(const CsvRow& row, std::string_view column) const {
    for (std::size_t i = 0; i < row.cells.size() && i < columns_.size(); ++i) {
      if (columns_[i] == column) return row.cells[i].text.empty() ? nullptr : &row.cells[i];
    }
    return nullptr;
  }

  const KindColumns* read_kind(const CsvRow& row) {
    const CsvCell* written = cell(row, "kind");
    if (written == nullptr) {
      diagnostics_.error(row.mark, "no kind");
      return nullptr;
    }
    const auto found = std::ranges::find(kTimingKindNames, written->text);
    if (found == kTimingKindNames.end()) {
      diagnostics_.error(written->mark, "unknown kind " + in_quotes(written->text),
                         scenarios::suggestion(written->text, kTimingKindNames));
      return nullptr;
    }
    return &kinds()[static_cast<std::size_t>(found - kTimingKindNames.begin())];
  }

  // The value of a column, or nothing where it is empty or wrong; the latter is reported.
  std::optional<scenarios::OptionValue> value(const CsvRow& row, std::string_view column) {
    const CsvCell* written = cell(row, column);
    if (written == nullptr) return std::nullopt;
    scenarios::Value text;
    text.kind = scenarios::Value::Kind::kScalar;
    text.mark = written->mark;
    text.text = written->text;
    const auto spec = std::ranges::find(kColumns, column, &OptionSpec::name);
    // The column's name says the unit.
    const bool digits = text.text.find_first_not_of("0123456789") == std::string::npos;
    if (spec->name == "bytes" && digits) text.text += " B";
    return scenarios::read_value(text, *spec, diagnostics_);
  }

  std::optional<Timing> read_row(const CsvRow& row) {
    const std::size_t before = diagnostics_.reported();
    if (row.cells.size() > columns_.size()) {
      diagnostics_.error(row.cells[columns_.size()].mark, "more cells than there are columns");
    }
    const KindColumns* kind = read_kind(row);
    if (kind == nullptr) return std::nullopt;
    const std::string name(kTimingKindNames[static_cast<std::size_t>(kind->kind)]);
    for (const OptionSpec& column : kColumns) {
      const bool required = std::ranges::find(kind->required, column.name) != kind->required.end();
      const bool optional = std::ranges::find(kind->optional, column.name) != kind->optional.end();
      const CsvCell* written = cell(row, column.name);
      if (required && written == nullptr) {
        diagnostics_.error(row.mark, "a " + name + " needs " + std::string(column.name));
      }
      if (!required && !optional && written != nullptr) {
        diagnostics_.error(written->mark, std::string(column.name) + " says nothing of a " + name);
      }
    }
    if (diagnostics_.reported() != before) return std::nullopt;
    Timing timing = read_timing(row, kind->kind);
    if (diagnostics_.reported() != before) return std::nullopt;
    return timing;
  }

  std::int64_t integer(const CsvRow& row, std::string_view column, std::int64_t otherwise = 0) {
    const auto found = value(row, column);
    return found ? found->integer : otherwise;
  }

  Timing read_timing(const CsvRow& row, TimingKind kind) {
    Timing timing;
    timing.kind = kind;
    timing.line = row.mark.line;
    timing.time = SimTime(integer(row, "time"));
    const Bytes bytes(integer(row, "bytes"));
    switch (kind) {
      case TimingKind::kMatmul: {
        const std::int64_t dtype = integer(row, "dtype");
        const MatmulWork work{integer(row, "m"), integer(row, "n"), integer(row, "k"),
                              integer(row, "batch", 1),
                              kArithmetics[static_cast<std::size_t>(dtype)]};
        timing.work = work;
        timing.text = fmt::format("matmul {}{} x {} x {} {}",
                                  work.batch > 1 ? fmt::format("{} of ", work.batch) : "", work.m,
                                  work.n, work.k, kDtypes[static_cast<std::size_t>(dtype)]);
        break;
      }
      case TimingKind::kStream:
        timing.work = StreamWork{bytes};
        timing.text = "stream " + format_bytes(bytes);
        break;
      case TimingKind::kCopy:
      case TimingKind::kDrive:
        read_transfer(row, kind, bytes, timing);
        break;
      case TimingKind::kUpdate:
        timing.work = UpdateWork{integer(row, "parameters"), CpuKernel::kFused};
        timing.text = fmt::format("update of {}", format_count(integer(row, "parameters")));
        break;
      case TimingKind::kStep:
        read_step(row, timing);
        break;
    }
    return timing;
  }

  void read_transfer(const CsvRow& row, TimingKind kind, Bytes bytes, Timing& timing) {
    const std::int64_t direction = integer(row, "direction");  // a row of kDirections
    const bool of_copy = direction < 2;
    const CsvCell* written = cell(row, "direction");
    if (of_copy != (kind == TimingKind::kCopy)) {
      diagnostics_.error(written->mark, kind == TimingKind::kCopy
                                            ? "a copy goes h2d or d2h"
                                            : "a drive is asked to read or to write");
    }
    if (of_copy) {
      timing.work = CopyWork{static_cast<CopyWork::Direction>(direction), bytes};
    } else {
      timing.work = DriveWork{static_cast<DriveWork::Direction>(direction - 2), bytes};
    }
    timing.text = fmt::format("{} {} {}", kTimingKindNames[static_cast<std::size_t>(kind)],
                              written->text, format_bytes(bytes));
  }

  void read_step(const CsvRow& row, Timing& timing) {
    const CsvCell* written = cell(row, "scenario");
    const std::filesystem::path path =
        std::filesystem::path(source_->name).parent_path() / written->text;
    timing.text = "step " + written->text;
    try {
      scenarios::Scenario scenario = scenarios::load(path.string());
      timing.run = std::move(scenario.runs.front());
      inputs_.insert(inputs_.end(), scenario.inputs.begin(), scenario.inputs.end());
    } catch (const scenarios::ScenarioError& error) {
      diagnostics_.error(written->mark, "the scenario cannot be used", error.what());
    }
  }

  const std::shared_ptr<const scenarios::Source>& source_;
  Diagnostics diagnostics_;
  std::vector<std::string> columns_;
  std::vector<std::string> inputs_;  // of the scenarios
};

}  // namespace

std::vector<Timing> read_timings(const std::shared_ptr<const scenarios::Source>& source,
                                 std::vector<std::string>* inputs) {
  TimingReader reader(source);
  std::vector<Timing> timings = reader.read();
  if (inputs != nullptr) {
    inputs->insert(inputs->end(), reader.inputs().begin(), reader.inputs().end());
  }
  return timings;
}

SimTime simulated_time(const Machine& machine, const Timing& timing) {
  if (!timing.run) return component_time(machine, timing.work);
  scenarios::RunSpec run = *timing.run;
  run.machine = machine;
  StepGraph graph = lower_run(run, StepKind::kSteady);
  const Offload offload = with_hidden_moves(run, graph);
  const PlannedStep step = plan_step(run, std::move(graph), offload);
  return sim::simulate(step.program, {.capacity = sim::Capacity::kIgnored}).end;
}

}  // namespace tidemark::tools
