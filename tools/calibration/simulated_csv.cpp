#include "tools/calibration/simulated_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <string_view>
#include <vector>

#include "tools/calibration/csv.hpp"
#include "tools/calibration/timings.hpp"

namespace tidemark::tools {
namespace {

// Box and Muller's transform of the generator's own numbers: the standard's distributions are not
// the same with every library.
class NoiseFactors {
 public:
  explicit NoiseFactors(const SimulatedCsvOptions& options)
      : deviation_(options.noise), random_(options.seed) {}
  double next() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return std::exp(deviation_ * radius * std::cos(2 * std::numbers::pi * uniform()));
  }

 private:
  double uniform() { return (static_cast<double>(random_()) + 0.5) / 4294967296.0; }
  double deviation_;
  std::mt19937 random_;
};

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

}  // namespace

std::string simulated_csv(const std::shared_ptr<const scenarios::Source>& source,
                          const Machine& machine, const SimulatedCsvOptions& options) {
  const std::vector<Timing> timings = read_timings(source);  // one a row, or it throws
  scenarios::Diagnostics none;
  const std::vector<CsvRow> rows = parse_csv(source, none);
  std::size_t column = 0;
  while (rows[0].cells[column].text != "time") ++column;
  NoiseFactors noise(options);
  std::string out;
  std::string_view rest = source->text;
  std::size_t next = 0;  // of `rows`
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (next == 0 || next >= rows.size() || rows[next].mark.line != line) {
      if (next < rows.size() && rows[next].mark.line == line) ++next;  // the header
      out += fmt::format("{}\n", text);
      continue;
    }
    const double time = seconds(simulated_time(machine, timings[next - 1])) * noise.next();
    for (std::size_t c = 0; c < rows[next].cells.size(); ++c) {
      if (c > 0) out += ',';
      out += c == column ? fmt::format("{:.2f} us", time * 1e6) : quoted(rows[next].cells[c].text);
    }
    out += '\n';
    ++next;
  }
  return out;
}

}  // namespace tidemark::tools
