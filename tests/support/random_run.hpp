#pragma once
// A lowered model with random settings, on a random machine.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>

#include "graph/lower.hpp"
#include "graph/offload.hpp"
#include "graph/remat/rematerialise.hpp"
#include "tests/support/lowering.hpp"
#include "tests/support/machines.hpp"

namespace tidemark::test {

struct RandomRun {
  LoweringInput input;
  Offload offload;
  Machine machine = round_machine();
  std::optional<remat::Timing> drops;
  std::mt19937& random;

  std::int64_t below(std::int64_t n) {
    return std::int64_t(random() % static_cast<std::uint64_t>(n));
  }
  bool flip() { return below(2) == 0; }

  explicit RandomRun(std::mt19937& generator) : random(generator) {
    const std::int64_t layers = 1 + below(4);
    input =
        flip() ? support::gpt(layers, 32, 4, 16, 2) : support::llama(layers, 32, 4, 2, 48, 16, 2);
    input.model.tied_embeddings = flip();
    input.model.extra_parameters = below(2) * 1000;
    input.training.micro_batches = 1 + below(3);
    input.training.precision = static_cast<Precision>(below(4));
    input.kernels.zero_grad = static_cast<Kernels::ZeroGrad>(below(2));
    input.kernels.keep_logits = flip();
    input.checkpointing.reentrant = flip();
    const std::int64_t every = below(4);
    for (std::int64_t i = 0; every > 0 && i < layers; i += every) {
      input.checkpointing.segments.push_back({i, std::min(i + every, layers)});
    }
    if (flip()) drops = static_cast<remat::Timing>(below(2));
    machine.gpu.launch_latency = 50_ns * (1 + below(60));
    machine.pcie.latency = 1_us * below(3);
    machine.pcie.both = Bandwidth(1'000'000'000 * (15 + below(20)));
    machine.pcie.half_size = Bytes(below(3) * 5'000);
    machine.host.bandwidth = Bandwidth(1'000'000'000 * (20 + below(80)));
    machine.ssd.latency = 1_us * below(3);
    choose_activations();
    if (flip()) offload.optimizer = static_cast<Offload::States>(below(3));
    if (offload.optimizer != Offload::States::kGpu) {
      input.update = UpdateOn::kElsewhere;
      offload.bucket = Bytes(1 + below(20'000));
      offload.parameters.to = static_cast<ParameterOffload::To>(below(3));
      offload.parameters.prefetch = below(4);
      offload.parameters.buffers = 1 + below(3);
      if (offload.updates_on_cpu() && offload.fraction == 1 && !offload.moves_gradients()) {
        offload.clip = flip();
        offload.upcast = flip();
      }
    }
  }

  // Every third tensor, or so, is made again where single tensors are dropped.
  StepGraph graph() const {
    StepGraph whole = lower(input);
    if (!drops || !input.checkpointing.segments.empty()) return whole;
    remat::Drops dropped;
    for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
      dropped.fate.push_back(i % 3 == 0 ? remat::Fate::kDropped : remat::Fate::kAsSaved);
    }
    dropped.timing = *drops;
    return remat::replay(whole, remat::sequence_of(whole, dropped));
  }

  void choose_activations() {
    if (flip()) offload.transport.ssd_path = Transport::SsdPath::kDirect;
    ActivationOffload& options = offload.activations;
    options.to = static_cast<ActivationOffload::To>(below(3));
    options.which = static_cast<ActivationOffload::Which>(below(3));
    options.modules = static_cast<std::uint32_t>(random());
    options.larger_than = Bytes(below(4'000));
    options.keep_last = below(3);
    options.prefetch = below(4);
    options.when = static_cast<ActivationOffload::When>(below(2));
    options.pool = Bytes(below(3) * 20'000);
    options.synchronous = below(4) == 0;
  }
};

}  // namespace tidemark::test
