#include "graph/offload/windows.hpp"

#include <vector>

#include "tests/support/block_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"

namespace tidemark {
namespace {

using test::BlockStep;

// Kernels of 1 us each: op i starts at i us.
Starts every_microsecond(const StepGraph& graph) {
  Starts starts;
  for (std::uint32_t i = 0; i <= graph.op_count(); ++i) starts.push_back(1_us * i);
  return starts;
}

CopyTimes constant(SimTime out, SimTime in) {
  return {[out](Bytes) { return out; }, [in](Bytes) { return in; }};
}

// Which of x0, x1, ... of the first pass fit.
std::vector<std::size_t> fitting(const BlockStep& step, std::int64_t prefetch, SimTime out,
                                 SimTime in) {
  ActivationOffload options;
  options.to = ActivationOffload::To::kHost;
  options.larger_than = 0_B;
  options.keep_last = 0;
  options.prefetch = prefetch;
  const std::vector<SavedTensor> all = saved_tensors(step.graph, options);
  const std::vector<SavedTensor> taken =
      fit_in_windows(all, step.graph, every_microsecond(step.graph), constant(out, in));
  std::vector<std::size_t> found;
  for (const SavedTensor& x : taken) {
    for (std::size_t i = 0; i < step.activations[0].size(); ++i) {
      if (x.tensor == step.activations[0][i]) found.push_back(i);
    }
  }
  return found;
}

TEST_CASE("a tensor fits if it can leave, and come back between its release and its reader") {
  // x0 is saved at 2 us and gone at 4; it may come back from 5 us on and is read at 6. While it
  // leaves, x1 and x2 wait: out at 6 us, after their readers have started.
  const BlockStep step = BlockStep{}.build();
  CHECK(fitting(step, 1, 2_us, 1_us) == std::vector<std::size_t>{0});
  CHECK(fitting(step, 1, 2_us, 1_us + 1_ps).empty());
  // Leaving takes until it may come back, or a little longer.
  CHECK(fitting(step, 1, 3_us, 1_us) == std::vector<std::size_t>{0});
  CHECK(fitting(step, 1, 3_us + 1_ps, 1_us).empty());
}

TEST_CASE("copies in go one at a time, and those taken first keep their time") {
  // x_i is read at 14 - i us; with 2 visits of prefetch it may come from 12 - i us on, not before
  // backward begins at 8. Copies in of 1.5 us, latest starts in turn:
  //   x0 12.5   x1 min(13, 12.5) - 1.5 = 11   x2 min(12, 11) - 1.5 = 9.5: before 10, stays
  //   x3 11 - 1.5 = 9.5   x4 min(10, 9.5) - 1.5 = 8   x5 min(9, 8) - 1.5: stays   x6: stays
  BlockStep step;
  step.blocks = 6;
  step.build();
  CHECK(fitting(step, 2, 0_us, 1'500_ns) == std::vector<std::size_t>{0, 1, 3, 4});
  // One visit ahead is one kernel: a copy of its length just fits, for all but head's own tensor.
  CHECK(fitting(step, 1, 0_us, 1_us) == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
  CHECK(fitting(step, 1, 0_us, 1_us + 1_ps).empty());
  CHECK(fitting(step, 0, 0_us, 1_ps).empty());
  CHECK(fitting(step, 0, 0_us, 0_us).size() == 7);
}

TEST_CASE("copies out go one at a time too") {
  // x_i is saved at i + 2 us. Copies out of 2 us end at 4, 6, 8, 10, 12: x3 may be back at 11, just
  // when it is read; x4 and later ones are still leaving when they are. All may come back from 8
  // us.
  BlockStep step;
  step.blocks = 6;
  step.build();
  CHECK(fitting(step, 99, 2_us, 1_us) == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(fitting(step, 99, 2_us + 1_ps, 1_us) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("a tensor that does not fit leaves no trace: others fit as if it had not been asked") {
  BlockStep step;
  step.blocks = 6;
  step.build();
  ActivationOffload options;
  options.to = ActivationOffload::To::kHost;
  options.larger_than = 0_B;
  options.keep_last = 0;
  options.prefetch = 2;
  std::vector<SavedTensor> all = saved_tensors(step.graph, options);
  const Starts starts = every_microsecond(step.graph);
  const CopyTimes times = constant(0_us, 1'500_ns);
  const auto taken = [&] {
    std::vector<TensorId> ids;
    for (const SavedTensor& x : fit_in_windows(all, step.graph, starts, times)) {
      ids.push_back(x.tensor);
    }
    return ids;
  };
  const std::vector<TensorId> with = taken();
  all.erase(all.begin() + 2);  // x2
  CHECK(taken() == with);
}

TEST_CASE("each pass has its own copies in, and one queue out") {
  BlockStep step;
  step.passes = 2;
  step.build();
  ActivationOffload options;
  options.to = ActivationOffload::To::kHost;
  options.larger_than = 0_B;
  options.keep_last = 0;
  const auto taken = [&](SimTime out) {
    std::vector<TensorId> ids;
    for (const SavedTensor& x :
         fit_in_windows(saved_tensors(step.graph, options), step.graph,
                        every_microsecond(step.graph), constant(out, 1_us))) {
      ids.push_back(x.tensor);
    }
    return ids;
  };
  CHECK(taken(2_us) == std::vector{step.activations[0][0], step.activations[1][0]});
}

TEST_CASE("a copy has its share of PCIe and of DRAM while the other direction copies too") {
  Machine machine = test::round_machine();
  machine.pcie.latency = 0_us;
  machine.ssd.latency = 0_us;
  using To = ActivationOffload::To;
  const auto time = [&](To to, bool out, Bytes bytes) {
    ProgramBuilder builder({});
    const MachinePaths paths = add_links(builder, machine);
    const CopyTimes times = copy_times(builder, paths, to);
    return (out ? times.out : times.in)(bytes);
  };
  const auto out = [&](To to) { return time(to, true, 10'000_B); };
  const auto in = [&](To to) { return time(to, false, 10'000_B); };
  CHECK(out(To::kHost) == 1_us);   // 10 GB/s
  CHECK(in(To::kHost) == 500_ns);  // 20 GB/s
  CHECK(out(To::kSsd) == 6_us);    // and 2 GB/s
  CHECK(in(To::kSsd) == 3_us);     // and 4 GB/s
  machine.pcie.both = 25_GBps;     // into the GPU: what 10 GB/s leave, 15
  CHECK(out(To::kHost) == 1_us);
  CHECK(in(To::kHost) == time_at_rate(10'000, 15'000'000'000));
  machine.pcie.both = 16_GBps;  // half each
  CHECK(out(To::kHost) == 1'250_ns);
  CHECK(in(To::kHost) == 1'250_ns);
  machine.host.bandwidth = 10_GBps;  // half of it, or a quarter: an SSD's legs copy too
  CHECK(in(To::kHost) == 2_us);
  CHECK(in(To::kSsd) == 8_us);
  machine.pcie.latency = 10_us;
  CHECK(in(To::kHost) == 12_us);
  machine.ssd.latency = 100_us;
  CHECK(in(To::kSsd) == 118_us);
}

TEST_CASE("a small copy takes the longer that the link's half size says") {
  Machine machine = test::round_machine();
  machine.pcie.latency = 0_us;
  machine.pcie.half_size =
      10'000_B;  // a copy of that size takes twice its bytes over the bandwidth
  ProgramBuilder builder({});
  const MachinePaths paths = add_links(builder, machine);
  const CopyTimes times = copy_times(builder, paths, ActivationOffload::To::kHost);
  CHECK(times.out(10'000_B) == 2_us);
  CHECK(times.in(10'000_B) == 1_us);
  CHECK(times.out(10'000'000_B) == 1'001_us);
}

}  // namespace
}  // namespace tidemark
