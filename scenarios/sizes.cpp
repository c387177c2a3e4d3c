#include "scenarios/sizes.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "graph/dtype.hpp"
#include "graph/lower.hpp"
#include "graph/offload/strategy.hpp"
#include "scenarios/offload_checks.hpp"

namespace tidemark::scenarios {
namespace {

constexpr Int128 kMost = Int128{1} << 62;
constexpr double kMostSeconds = 1e6;  // 64-bit picoseconds hold 9.2e6 s

// Upper bounds; every factor is below 2^31 and layers below 2^15, so that four of them fit.
struct Bounds {
  Int128 parameters = 0;
  Int128 scores = 0;  // elements of the largest attention tensor
  Int128 widest = 0;  // elements of the largest other tensor
  Int128 logits = 0;  // elements
};

Bounds bounds_of(const RunSpec& run) {
  const ModelConfig& model = run.model;
  const Int128 hidden = model.hidden;
  const Int128 inner = static_cast<Int128>(model.heads) * model.head_dim;
  const Int128 tokens = static_cast<Int128>(run.training.micro_batch) * run.training.sequence;
  Bounds bounds;
  const Int128 block = 4 * hidden * inner + 3 * hidden * model.ffn + 16 * (hidden + model.ffn);
  bounds.parameters = model.layers * block + 2 * hidden * model.vocab +
                      hidden * model.max_positions + model.extra_parameters;
  bounds.scores = tokens * model.heads * std::max(run.training.sequence, model.max_positions);
  bounds.widest = tokens * std::max<Int128>(std::max<Int128>(3 * hidden, 3 * inner), model.ffn);
  bounds.logits = tokens * model.vocab;
  return bounds;
}

// Copies, reads, updates and writes of buckets. A bucket of gradients goes out, its states are
// read, copied in and out (or updated by the CPU) and written, its weights come in. Where gradients
// move, each pass takes them out, reads, adds and writes them, and brings them back.
Int128 transfers(const RunSpec& run) {
  const Int128 gradient_bytes = 4 * bounds_of(run).parameters;
  const Int128 buckets = gradient_bytes / run.offload.bucket.count + 3;
  Int128 transfers = 0;
  if (run.offload.moves_states()) transfers += 5 * buckets;
  if (run.offload.moves_gradients()) transfers += 6 * buckets * (run.training.micro_batches + 1);
  return transfers;
}

// Transfers of activations and parameters: a saved tensor out and in, by way of the SSD in two legs
// each; a block for forward, recompute and backward, in two legs.
Int128 moves(const RunSpec& run) {
  constexpr std::int64_t kMostSavedABlock = 64;  // larger than a size; no architecture has more
  const Int128 visits = (run.model.layers + 2) * run.training.micro_batches;
  Int128 moves = 0;
  if (run.offload.activations.to != ActivationOffload::To::kGpu || policy_moves_activations(run)) {
    moves += visits * kMostSavedABlock * 4;
  }
  if (run.offload.parameters.to != ParameterOffload::To::kGpu) moves += visits * 6;
  return moves;
}

// Seconds that they take at most: `alive` bytes of activations and 4 bytes a parameter, at the
// slowest link of their way.
double seconds_of_moves(const RunSpec& run, double alive, double parameters) {
  const Machine& machine = run.machine;
  const auto rate = [](Bandwidth bandwidth) { return static_cast<double>(bandwidth.count); };
  const double host =
      std::min({rate(machine.pcie.h2d), rate(machine.pcie.d2h), rate(machine.host.bandwidth) / 4});
  const double drive = std::min(rate(machine.ssd.read), rate(machine.ssd.write));
  const double passes = static_cast<double>(run.training.micro_batches);
  double time = 0;
  const auto add = [&](double bytes, bool ssd) {
    time += bytes / host + (ssd ? bytes / drive : 0);
  };
  if (policy_moves_activations(run)) {
    add(2 * alive * passes, true);
  } else if (run.offload.activations.to != ActivationOffload::To::kGpu) {
    add(2 * alive * passes, run.offload.activations.to == ActivationOffload::To::kSsd);
  }
  if (run.offload.parameters.to != ParameterOffload::To::kGpu) {
    add(3 * 4 * parameters * passes, run.offload.parameters.to == ParameterOffload::To::kSsd);
  }
  return time + static_cast<double>(moves(run)) *
                    (seconds(machine.pcie.latency) + seconds(machine.ssd.latency));
}

// More than any architecture has with its recompute and its share of the optimizer.
constexpr std::int64_t kMostOpsABlock = 1000;

std::int64_t capped(Int128 rows) {
  return static_cast<std::int64_t>(std::min<Int128>(rows, Int128{1} << 60));
}

// Seconds that a step takes at most, about: forward, backward and recompute on the slower matmul
// path, all bytes that kernels and transfers move.
double seconds_at_most(const RunSpec& run, double flops, double kernel_bytes, double states) {
  const Gpu& gpu = run.machine.gpu;
  const Machine& machine = run.machine;
  const auto rate = [](auto quantity) { return static_cast<double>(quantity.count); };
  const double matmul = std::min(rate(gpu.matmul_16bit), rate(gpu.matmul_32bit));
  const double efficiency = std::min(
      {gpu.matmul_efficiency, gpu.flash_forward_efficiency, gpu.flash_backward_efficiency});
  // Tiles of 64 x 64 at worst, one wave of them an op more than the FLOPs say.
  const ModelConfig& model = run.model;
  const auto [narrowest, widest] =
      std::minmax({model.hidden, model.head_dim, model.ffn, run.training.sequence});
  const auto ramp = static_cast<double>(gpu.matmul_ramp);
  const double loads = 1 + static_cast<double>(gpu.matmul_operand_cost) / 16;
  const double steps = static_cast<double>(run.training.micro_batch) *
                           static_cast<double>(std::max(widest, model.vocab)) +
                       ramp;
  const double wave = 2.0 * 64 * 64 * loads * steps * static_cast<double>(gpu.sms) / matmul;
  double time =
      flops * loads * (1 + ramp / static_cast<double>(narrowest)) / (matmul * efficiency) +
      wave * static_cast<double>(most_rows(run)) +
      kernel_bytes /
          (rate(gpu.bandwidth) * std::min(gpu.stream_efficiency, gpu.strided_efficiency));
  if (run.offload.moves_gradients()) {
    // Out, in, and two reads and a write of the sum, each 4 bytes at most; 4 of 64 bytes of states.
    states += states / 4 * static_cast<double>(run.training.micro_batches);
  }
  const bool moves = run.offload.moves_states() || run.offload.moves_gradients();
  const bool to_ssd = run.offload.optimizer == Offload::States::kSsd ||
                      run.offload.gradients == Offload::States::kSsd;
  if (moves) {
    time += states / rate(machine.host.bandwidth) +
            states / std::min(rate(machine.pcie.h2d), rate(machine.pcie.d2h));
    // Without a rate stated: a FLOP of a core a cycle, a tenth of what any of them does.
    const double cpu = machine.host.cpu_optimizer.count > 0
                           ? rate(machine.host.cpu_optimizer)
                           : static_cast<double>(machine.host.cores) * rate(machine.host.clock);
    if (cpu > 0) time += states / cpu;
  }
  if (to_ssd) {
    time += states / std::min(rate(machine.ssd.read), rate(machine.ssd.write));
  }
  // Latencies matter only where they are absurd; the bound on ops is enough.
  const double rows = static_cast<double>(most_rows(run));
  const auto latency = [&](SimTime each) { return seconds(each) * rows; };
  return time + latency(gpu.launch_latency) + latency(gpu.matmul_start + gpu.stream_ramp) +
         latency(machine.host.issue) + latency(machine.pcie.latency) +
         (to_ssd ? latency(machine.ssd.latency) : 0.0);
}

}  // namespace

std::string about(Int128 count) {
  if (count < 10'000'000) return std::to_string(static_cast<std::int64_t>(count));
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), static_cast<double>(count),
                                 std::chars_format::scientific, 1);
  std::string shown(text.data(), end.ptr);
  const std::size_t zero = shown.find("e+0");
  if (zero != std::string::npos) return shown.erase(zero + 1, 2);
  return shown.erase(shown.find('+'), 1);
}

std::optional<SizeFault> find_size_fault(const RunSpec& run) {
  const Bounds bounds = bounds_of(run);
  const TrainingConfig& training = run.training;
  if (bounds.parameters > kMost / 32) {  // 18 bytes a parameter and gradient copies
    return SizeFault{"model.hidden", "the model has about " + about(bounds.parameters) +
                                         " parameters, too many to count their bytes"};
  }
  const Int128 largest = std::max({bounds.scores, bounds.widest, bounds.logits});
  if (largest > kMost / 4) {
    const char* name = largest == bounds.scores   ? "the attention scores"
                       : largest == bounds.logits ? "the logits"
                                                  : "the activations of a layer";
    return SizeFault{"training.micro_batch", std::string(name) + " have about " + about(largest) +
                                                 " elements, too many to count their bytes"};
  }
  // No architecture keeps 16 score tensors, 64 others a block, or 16 logits, at 4 bytes each.
  const Int128 alive = 4 * (run.model.layers * (16 * bounds.scores + 64 * bounds.widest) +
                            16 * bounds.logits + 8 * bounds.parameters);
  if (alive > kMost) {
    return SizeFault{"training.micro_batch",
                     "a step of about " + about(alive) + " bytes, too many to count"};
  }
  // Forward, backward and recompute are four forwards; a forward is 2 FLOPs a weight and token and
  // 4 a score and element of a head.
  const Int128 tokens = static_cast<Int128>(training.micro_batch) * training.sequence;
  const double forward =
      2.0 * static_cast<double>(bounds.parameters) * static_cast<double>(tokens) +
      4.0 * static_cast<double>(run.model.layers) * static_cast<double>(bounds.scores) *
          static_cast<double>(run.model.head_dim);
  const double passes = static_cast<double>(training.micro_batches);
  const double flops = 4.0 * forward * passes;
  if (flops > static_cast<double>(kMost)) {
    return SizeFault{"training.micro_batches",
                     "a step of about " + about(static_cast<Int128>(std::min(flops, 1e30))) +
                         " FLOPs, too many to count"};
  }
  const double moved = 8.0 * static_cast<double>(alive) * passes;  // each byte a few times
  const double states = 64.0 * static_cast<double>(bounds.parameters);
  if (moved > static_cast<double>(kMost)) {
    return SizeFault{"training.micro_batches", "a step that moves too many bytes to count"};
  }
  const double time =
      seconds_at_most(run, flops, moved, states) +
      seconds_of_moves(run, static_cast<double>(alive), static_cast<double>(bounds.parameters));
  if (time > kMostSeconds) {
    return SizeFault{"hardware", "a step of up to " + about(static_cast<Int128>(time)) +
                                     " s on this hardware, more than the simulated clock holds"};
  }
  return std::nullopt;
}

std::int64_t estimate_rows(const RunSpec& run) {
  LoweringInput input;
  input.model = run.model;
  input.training = run.training;
  input.kernels = run.kernels;
  input.checkpointing = run.checkpointing;
  ask_for(run.offload, input);
  return capped(estimate_ops(input) + transfers(run) + moves(run));
}

std::int64_t most_rows(const RunSpec& run) {
  const Int128 blocks = run.model.layers + 2;  // embedding and head are less than a block each
  return capped(blocks * kMostOpsABlock * (run.training.micro_batches + 1) + transfers(run) +
                moves(run));
}

}  // namespace tidemark::scenarios
