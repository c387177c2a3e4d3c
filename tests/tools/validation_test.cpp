#include "tools/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "scenarios/diagnostic.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

MeasuredSource read(const std::string& text) {
  return read_measured(
      "test", std::make_shared<const scenarios::Source>(scenarios::Source{"test.yaml", text, 0}));
}

std::string errors_of(const std::string& text) {
  try {
    read(text);
  } catch (const scenarios::ScenarioError& error) {
    return error.what();
  }
  return "read";
}

const std::string kAbout = "source: someone\nprovenance: read\nmapping: as it is\n";
const std::string kTiny =
    "model: {architecture: gpt, layers: 2, hidden: 64, heads: 2, vocab: 100, max_positions: 32}\n"
    "training: {sequence: 32, micro_batch: 4}\nhardware: a100-80gb-sxm\n";

const ComparedFigure& figure_of(const std::vector<ComparedFigure>& figures, std::string_view name,
                                std::string_view metric) {
  const auto found = std::ranges::find_if(figures, [&](const ComparedFigure& figure) {
    return figure.name == name && figure.metric->spec.name == metric;
  });
  REQUIRE(found != figures.end());
  return *found;
}

}  // namespace

TEST_CASE("a component takes its bytes or FLOPs over the device's rate") {
  const Machine machine = test::round_machine();
  // Whole tiles: 2 x 1024^2 x 1000 FLOPs at 100 TFLOP/s; 6 MB at 1 byte a picosecond would be 6 us.
  CHECK(component_time(machine, MatmulWork{1024, 1024, 1000, 1, Arithmetic::k16Bit}) ==
        20'971'520_ps);
  CHECK(component_flops(MatmulWork{1000, 1000, 1000, 3, Arithmetic::k16Bit}) ==
        Flops(6'000'000'000));
  CHECK(component_bytes(MatmulWork{2, 3, 5, 7, Arithmetic::k32Bit}) ==
        Bytes(4 * 7 * (10 + 15 + 6)));
  CHECK(component_time(machine, StreamWork{1'000'000_B}) == 1_us);
  // 10 us until the first byte, then 20 GB/s in, 10 GB/s out.
  CHECK(component_time(machine, CopyWork{CopyWork::Direction::kH2d, 2'000'000_B}) == 110_us);
  CHECK(component_time(machine, CopyWork{CopyWork::Direction::kD2h, 2'000'000_B}) == 210_us);
  // 100 us, then 4 GB/s.
  CHECK(component_time(machine, DriveWork{DriveWork::Direction::kRead, 4'000'000_B}) ==
        SimTime(1'100'000'000));
  // 28 bytes a parameter at 100 GB/s.
  CHECK(component_time(machine, UpdateWork{1'000'000}) == 280_us);
  CHECK(component_time(machine, KernelsWork{{MatmulWork{1024, 1024, 1000, 1, Arithmetic::k16Bit}},
                                            {StreamWork{1'000'000_B}, StreamWork{2'000'000_B}},
                                            4_us}) == 27'971'520_ps);
}

TEST_CASE("copies in both directions share what the link has in total") {
  Machine machine = test::round_machine();
  machine.pcie.both = 15_GBps;
  machine.pcie.latency = SimTime(0);
  // Fair shares of 15 GB/s are 7.5 each.
  CHECK(component_time(machine, CopyWork{CopyWork::Direction::kH2d, 7'500'000_B, true}) == 1000_us);
}

TEST_CASE("figures of a run belong together") {
  const std::vector<ComparedFigure> figures = compare(
      read(kAbout + kTiny +
           "strategies:\n"
           "  - name: one\n"
           "    measured: {step_time: 1 ms, samples_per_second: 4000, tokens_per_second: 128000,\n"
           "               iteration_time: 1 ms, optimizer_time: 1 ms, forward_time: 1 ms,\n"
           "               backward_time: 1 ms, peak_allocated: 1 MB, peak_reserved: 20 MiB,\n"
           "               driver_used: 1 GB, fits: true}\n"));
  const auto value = [&](std::string_view metric) {
    return figure_of(figures, "one", metric).simulated;
  };
  const double step = value("step_time");
  CHECK(value("samples_per_second") == Approx(4 / step));
  CHECK(value("tokens_per_second") == Approx(4 * 32 / step));
  CHECK(value("iteration_time") + value("optimizer_time") == Approx(step));
  CHECK(value("forward_time") + value("backward_time") == Approx(value("iteration_time")));
  CHECK(value("driver_used") - value("peak_reserved") == Approx(0.47 * 1073741824));
  CHECK(value("peak_reserved") >= value("peak_allocated"));
  CHECK(figure_of(figures, "one", "fits").error == 0);
}

TEST_CASE("a figure may be the difference of two strategies") {
  const std::vector<ComparedFigure> figures = compare(read(
      kAbout + kTiny +
      "strategies:\n"
      "  - {name: two, training: {micro_batches: 2}, measured: {step_time: 2 ms}}\n"
      "  - name: three\n"
      "    training: {micro_batches: 3}\n"
      "    measured: {iteration_time: {value: 1 ms, minus: two, cause: a reason}}\n"
      "  - {name: of two, training: {micro_batches: 2}, measured: {iteration_time: 1 ms}}\n"
      "  - {name: of three, training: {micro_batches: 3}, measured: {iteration_time: 1 ms}}\n"));
  const ComparedFigure& difference = figure_of(figures, "three", "iteration_time");
  CHECK(difference.simulated == Approx(figure_of(figures, "of three", "iteration_time").simulated -
                                       figure_of(figures, "of two", "iteration_time").simulated));
  CHECK(difference.error == Approx(difference.simulated / 1e-3 - 1));
  CHECK(difference.cause == "a reason");
}

TEST_CASE("what is wrong with a file of measurements is said with its place") {
  CHECK(errors_of(kAbout + kTiny + "strategies: [{name: one, measured: {step_tme: 1 ms}}]\n")
            .starts_with("test.yaml:7:37: error: unknown metric 'step_tme'"));
  CHECK(errors_of(kAbout + kTiny + "strategies: [{name: one, measured: {step_time: 1 GB}}]\n")
            .starts_with("test.yaml:7:48: error: step_time: "));
  CHECK(errors_of(kAbout + kTiny + "strategies: [{name: one}]\n")
            .starts_with("test.yaml:7:14: error: measured: expected a mapping"));
  CHECK(errors_of(kAbout + kTiny +
                  "strategies: [{name: one, measured: {step_time: {value: 1 ms, minus: two}}}]\n")
            .find("minus: no strategy is named 'two'") != std::string::npos);
  CHECK(errors_of("source: someone\nmapping: as it is\ncomponents: []\n")
            .find("missing key 'provenance'") != std::string::npos);
  CHECK(errors_of(kAbout + "components: [{name: one, hardware: a100-80gb-sxm, "
                           "matmul: {m: 2, n: 2}, measured: {flop_rate: 1 TFLOP/s}}]\n")
            .find("missing key 'k'") != std::string::npos);
  CHECK(errors_of(kAbout + "components: [{name: one, hardware: a100-80gb-sxm, "
                           "measured: {bandwidth: 1 GB/s}}]\n")
            .find("expected one of matmul, stream") != std::string::npos);
}

TEST_CASE("a summary has the middle error, the farthest one, and counts those without a cause") {
  const auto row = [](double error, std::string cause) {
    ComparedFigure figure;
    figure.source = "s";
    figure.name = "n" + std::to_string(error);
    const auto all = metrics();
    figure.metric = &*std::ranges::find_if(
        all, [](const Metric& metric) { return metric.spec.name == "step_time"; });
    figure.error = error;
    figure.cause = std::move(cause);
    return figure;
  };
  const auto any = [](const ComparedFigure&) { return true; };
  const ErrorSummary odd = summarize({row(0.1, ""), row(-0.5, "known"), row(0.4, "")}, any);
  CHECK(odd.rows == 3);
  CHECK(odd.median == 0.4);
  CHECK(odd.worst == -0.5);
  CHECK(odd.beyond == 2);
  CHECK(odd.unnamed == 1);
  CHECK(summarize({row(0.1, ""), row(-0.3, "")}, any).median == Approx(0.2));
  CHECK(summarize({}, any).rows == 0);
}
