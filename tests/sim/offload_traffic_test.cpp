// What each strategy must move, to the byte, whatever its buckets and buffers.

#include <vector>

#include "sim/executor.hpp"
#include "sim/verify.hpp"
#include "tests/support/offloaded_step.hpp"

namespace tidemark::sim {
namespace {

Bytes moved(const Result& result, LinkKind link) {
  return result.moved[static_cast<std::size_t>(link)];
}

struct Traffic {
  std::int64_t out = 0, in = 0, read = 0, write = 0, cpu = 0;
};

// Bytes an element, by hand:          gradient, weight | the CPU keeps | streams to the GPU
//   bf16-mixed adamw                        2, 2       |  4 + 8        |  4 + 8
//   fp32, autocast adamw                    4, 4       |  4 + 8        |  8: the weight is there
//   bf16 adamw                              2, 2       |  2 + 4        |  4
//   bf16-mixed sgd-momentum                 2, 2       |  4 + 4        |  4 + 4
struct Widths {
  std::int64_t gradient, weight, kept, streamed;
  bool rounds;  // the CPU writes rounded parameters beside the master weights
};

Widths widths(const TrainingConfig& training) {
  const bool mixed = training.precision == Precision::kBf16Mixed;
  const std::int64_t moments = training.optimizer == Optimizer::kAdamW         ? 2
                               : training.optimizer == Optimizer::kSgdMomentum ? 1
                                                                               : 0;
  if (mixed) return {2, 2, 4 + 4 * moments, 4 + 4 * moments, true};
  if (training.precision == Precision::kBf16) return {2, 2, 2 + 2 * moments, 2 * moments, false};
  return {4, 4, 4 + 4 * moments, 4 * moments, false};
}

// `away`: elements whose states are off the GPU, of `all`.
Traffic expected(const Offload& offload, const TrainingConfig& training, std::int64_t all,
                 std::int64_t away) {
  const Widths w = widths(training);
  const std::int64_t passes = training.micro_batches;
  const bool on_cpu = offload.updates_on_cpu(), streamed = offload.streams_states();
  const bool states_on_ssd = offload.optimizer == Offload::States::kSsd;
  Traffic t;
  if (on_cpu) {
    t.in += w.weight * away;
    t.cpu += (w.gradient + 2 * w.kept + (w.rounds ? w.weight : 0)) * away;
    if (states_on_ssd) t.read += w.kept * away, t.write += w.kept * away;
    if (offload.clip) {  // all gradients are read once more, for their norm
      t.cpu += w.gradient * away;
      if (offload.gradients == Offload::States::kSsd) t.read += w.gradient * away;
    }
    if (!offload.moves_gradients()) t.out += w.gradient * away;  // once, when they are complete
  }
  if (streamed) {
    t.in += w.streamed * away, t.out += w.streamed * away;
    if (states_on_ssd) t.read += w.streamed * away, t.write += w.streamed * away;
  }
  if (!offload.moves_gradients()) return t;
  const std::int64_t later_passes = w.gradient * all * (passes - 1);
  const std::int64_t back = w.gradient * (on_cpu ? all - away : all);  // for updates on the GPU
  const bool cpu_adds = offload.accumulate_on == Offload::Processor::kCpu;
  t.out += w.gradient * all * passes;
  t.in += back + (cpu_adds ? 0 : later_passes);
  if (cpu_adds) t.cpu += 3 * later_passes;
  if (offload.gradients == Offload::States::kSsd) {
    t.write += w.gradient * all * passes;
    t.read += later_passes + w.gradient * all;
  }
  return t;
}

void check_traffic(const LoweringInput& input, const Offload& offload,
                   test::Drops drops = test::Drops::kNone) {
  INFO(test::words(offload));
  INFO("precision " << static_cast<int>(input.training.precision) << " passes "
                    << input.training.micro_batches);
  const test::OffloadedStep step =
      test::offloaded_step(input, offload, test::round_machine(), drops);
  std::int64_t all = 0, away = 0;
  for (const Parameter& parameter : step.graph.parameters) {
    all += parameter.elements;
    if (parameter.update != UpdateOn::kGpu) away += parameter.elements;
  }
  // The first parameters, no more than the share: the next one would be too much.
  const double share = offload.moves_states() ? offload.fraction : 0;
  REQUIRE(static_cast<double>(away) <= share * static_cast<double>(all));
  for (const Parameter& parameter : step.graph.parameters) {
    if (parameter.update != UpdateOn::kGpu || !offload.moves_states()) continue;
    REQUIRE(static_cast<double>(away + parameter.elements) > share * static_cast<double>(all));
    break;
  }

  const Result result = simulate(step.program);
  REQUIRE_FALSE(result.out_of_memory);
  REQUIRE(result.end >= step_lower_bound(step.program));
  const Traffic t = expected(offload, input.training, all, away);
  CHECK(moved(result, LinkKind::kPcieD2h) == Bytes(t.out));
  CHECK(moved(result, LinkKind::kPcieH2d) == Bytes(t.in));
  CHECK(moved(result, LinkKind::kNvmeRead) == Bytes(t.read));
  CHECK(moved(result, LinkKind::kNvmeWrite) == Bytes(t.write));
  CHECK(moved(result, LinkKind::kDram) == Bytes(t.out + t.in + t.read + t.write + t.cpu));
}

std::vector<Offload> combinations() {
  std::vector<Offload> all;
  for (int bits = 0; bits < 3 * 2 * 2 * 2 * 2 * 3 * 2 * 2; ++bits) {
    int rest = bits;
    const auto digit = [&](int base) {
      const int value = rest % base;
      rest /= base;
      return value;
    };
    Offload offload;
    offload.optimizer = static_cast<Offload::States>(digit(3));
    offload.update_on = static_cast<Offload::Processor>(digit(2));
    offload.fraction = digit(2) == 0 ? 1 : 0.4;
    offload.delayed_update = digit(2) == 1;
    offload.overlap = digit(2) == 0;
    offload.gradients = static_cast<Offload::States>(digit(3));
    offload.accumulate_on = static_cast<Offload::Processor>(digit(2));
    offload.clip = digit(2) == 1;
    offload.bucket = 20'000_B;  // a few buckets
    offload.buffers = 2;
    all.push_back(offload);
  }
  return all;
}

TEST_CASE("every combination of strategies moves exactly what it must") {
  LoweringInput input = support::gpt(1, 32, 2, 8, 1);
  input.kernels.optimizer = Kernels::OptimizerKernel::kFused;
  input.training.precision =
      GENERATE(Precision::kBf16Mixed, Precision::kFp32, Precision::kBf16, Precision::kAutocast);
  input.training.micro_batches = GENERATE(1, 3);
  // All of them where the most moves, every seventh elsewhere.
  const bool all =
      input.training.precision == Precision::kBf16Mixed && input.training.micro_batches == 3;
  const std::vector<Offload> offloads = combinations();
  for (std::size_t i = input.training.micro_batches == 1 ? 0 : 3; i < offloads.size();
       i += all ? 1 : 7) {
    if (test::makes_sense(offloads[i], input.training)) check_traffic(input, offloads[i]);
  }
}

TEST_CASE("so does it with other optimizers, tied weights, checkpoints and parameters beside") {
  LoweringInput input = support::gpt(2, 32, 2, 8, 1);
  input.model.tied_embeddings = true;
  input.model.extra_parameters = 5000;
  input.training.precision = Precision::kBf16Mixed;
  input.training.optimizer = GENERATE(Optimizer::kSgd, Optimizer::kSgdMomentum);
  input.training.micro_batches = 2;
  support::checkpoint_every_block(input);
  const std::vector<Offload> offloads = combinations();
  for (std::size_t i = 1; i < offloads.size(); i += 5) {
    if (test::makes_sense(offloads[i], input.training)) check_traffic(input, offloads[i]);
  }
}

TEST_CASE("so does it where tensors are dropped and made again") {
  LoweringInput input = support::gpt(2, 32, 2, 8, 1);
  input.training.precision = Precision::kBf16Mixed;
  input.training.micro_batches = 2;
  const std::vector<Offload> offloads = combinations();
  for (std::size_t i = 4; i < offloads.size(); i += 9) {
    if (!test::makes_sense(offloads[i], input.training)) continue;
    check_traffic(input, offloads[i], test::Drops::kSelective);
  }
}

TEST_CASE("the optimizer on the host moves what ZeRO-Offload says: 2 bytes out, 2 bytes in") {
  LoweringInput input = support::gpt(2, 32, 2, 8, 1);
  input.training.precision = Precision::kBf16Mixed;
  Offload offload;
  offload.optimizer = Offload::States::kHost;
  offload.gradients = Offload::States::kHost;
  const test::OffloadedStep step = test::offloaded_step(input, offload, test::round_machine());
  const Result result = simulate(step.program);
  CHECK(moved(result, LinkKind::kPcieD2h) == Bytes(2 * step.graph.parameter_count));
  CHECK(moved(result, LinkKind::kPcieH2d) == Bytes(2 * step.graph.parameter_count));
}

TEST_CASE("every strategy is played by the rules") {
  LoweringInput input = support::gpt(1, 16, 2, 4, 1);
  input.model.vocab = 50;
  input.training.precision = Precision::kBf16Mixed;
  input.training.micro_batches = 2;
  const std::vector<Offload> offloads = combinations();
  for (std::size_t i = 2; i < offloads.size(); i += 3) {
    Offload offload = offloads[i];
    if (!test::makes_sense(offload, input.training)) continue;
    INFO(test::words(offload));
    offload.bucket = 3'000_B;
    const test::OffloadedStep step = test::offloaded_step(input, offload, test::round_machine());
    const Result result = simulate(step.program);
    const std::vector<Violation> violations = verify(step.program, result);
    CHECK(violations.empty());
  }
}

}  // namespace
}  // namespace tidemark::sim
