#include "scenarios/load.hpp"

#include <string>

#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

RunSpec only_run(const std::string& text, const std::vector<Override>& overrides = {}) {
  const Scenario scenario = load_text(text, overrides);
  REQUIRE(scenario.runs.size() == 1);
  return scenario.runs[0];
}

TEST_CASE("what is not written has its default") {
  const RunSpec run = only_run(kStart + kOneStrategy);
  CHECK(run.strategy == "one");
  CHECK(run.point.empty());
  CHECK(run.model.name == "gpt-7b");
  CHECK(run.training.micro_batch == 1);
  CHECK(run.training.sequence == 2048);
  CHECK(run.training.micro_batches == 1);
  CHECK(run.training.precision == Precision::kBf16Mixed);
  CHECK(run.training.optimizer == Optimizer::kAdamW);
  CHECK(run.kernels.attention == Kernels::Attention::kEager);
  CHECK(run.kernels.loss == Kernels::Loss::kFp32);
  CHECK(run.kernels.accumulate == Kernels::Accumulate::kInplace);
  CHECK(run.kernels.mean == Kernels::Mean::k2x);
  CHECK(run.checkpoint_policy == "none");
  CHECK(run.checkpointing.segments.empty());
  CHECK(run.offload.optimizer == Offload::States::kGpu);
  CHECK(run.offload.bucket == 512_MiB);
  CHECK(run.offload.buffers == 3);
  CHECK(run.machine.name == "a100-80gb-sxm");
  CHECK(run.machine.ssd.drives == 1);
  CHECK(run.allocator.kind == "ideal");
}

TEST_CASE("a scenario is called by its name, or by its file where it has none") {
  CHECK(load_text("name: mine\n" + kStart + kOneStrategy).name == "mine");
  CHECK(load_text(kStart + kOneStrategy).name == "test.yaml");
  CHECK(load_text(kStart + kOneStrategy).file == "test.yaml");
}

TEST_CASE("the default sequence is the model's positions, but at most 2048") {
  const auto sequence = [](const std::string& model) {
    return only_run("model: " + model + "\nhardware: h200\n" + kOneStrategy).training.sequence;
  };
  CHECK(sequence("gpt2-124m") == 1024);   // has 1024 positions
  CHECK(sequence("gpt-7b") == 2048);      // has 2048
  CHECK(sequence("llama-3-8b") == 2048);  // has 8192
}

TEST_CASE("every choice of a section reaches its enumerator") {
  const RunSpec run = only_run(
      kStart +
      "training: {precision: autocast, optimizer: sgd-momentum, micro_batches: 4}\n"
      "kernels: {attention: flash, causal: fused, loss: fp32_shift, keep_logits: true,\n"
      "          optimizer: foreach2x, dropout_mask: dtype, zero_grad: keep}\n"
      "offload: {optimizer: ssd, gradients_leave: after_backward, bucket: 64 MB, buffers: 8}\n" +
      kOneStrategy);
  CHECK(run.training.precision == Precision::kAutocast);
  CHECK(run.training.optimizer == Optimizer::kSgdMomentum);
  CHECK(run.training.micro_batches == 4);
  CHECK(run.kernels.attention == Kernels::Attention::kFlash);
  CHECK(run.kernels.causal == Kernels::Causal::kFused);
  CHECK(run.kernels.loss == Kernels::Loss::kFp32Shift);
  CHECK(run.kernels.keep_logits);
  CHECK(run.kernels.optimizer == Kernels::OptimizerKernel::kForeach2x);
  CHECK(run.kernels.dropout_mask == Kernels::DropoutMask::kDtype);
  CHECK(run.kernels.zero_grad == Kernels::ZeroGrad::kKeep);
  CHECK(run.offload.optimizer == Offload::States::kSsd);
  CHECK(run.offload.gradients_leave == Offload::GradientsLeave::kAfterBackward);
  CHECK(run.offload.bucket == Bytes(64'000'000));
  CHECK(run.offload.buffers == 8);
}

TEST_CASE("torch 1.13 sets how gradients are added and what a mean saves, each may be set alone") {
  const auto kernels = [](const std::string& text) {
    return only_run(kStart + "kernels: " + text + "\n" + kOneStrategy).kernels;
  };
  CHECK(kernels("{torch: 1.13}").accumulate == Kernels::Accumulate::kOutOfPlace);
  CHECK(kernels("{torch: 1.13}").mean == Kernels::Mean::k113);
  CHECK(kernels("{torch: \"1.13\", accumulate: inplace}").accumulate ==
        Kernels::Accumulate::kInplace);
  CHECK(kernels("{torch: 1.13, accumulate: inplace}").mean == Kernels::Mean::k113);
  CHECK(kernels("{mean: 1.13}").accumulate == Kernels::Accumulate::kInplace);
  CHECK(kernels("{torch: 2.x}").mean == Kernels::Mean::k2x);
}

TEST_CASE("a model is written out, or changes a catalogue model key by key") {
  const RunSpec own = only_run(
      "model: {architecture: llama, layers: 2, hidden: 64, heads: 4, kv_heads: 2, ffn: 160,\n"
      "        vocab: 512, max_positions: 128, tied_embeddings: true}\n"
      "hardware: h200\n" +
      kOneStrategy);
  CHECK(own.model.name == "custom");
  CHECK(own.model.architecture == Architecture::kLlama);
  CHECK(own.model.kv_heads == 2);
  CHECK(own.model.head_dim == 16);  // 64 / 4
  CHECK(own.model.ffn == 160);
  CHECK(own.model.tied_embeddings);
  CHECK(own.training.sequence == 128);
  const RunSpec half =
      only_run("model: {base: gpt-7b, layers: 16}\nhardware: h200\n" + kOneStrategy);
  CHECK(half.model.name == "custom");
  CHECK(half.model.layers == 16);
  CHECK(half.model.hidden == 4096);
  CHECK(half.model.dropout);
  const RunSpec same =
      only_run("model: {base: gpt-7b, layers: 32}\nhardware: h200\n" + kOneStrategy);
  CHECK(same.model.name == "gpt-7b");
}

TEST_CASE("gpt models have an MLP of four times the width where none is written") {
  const RunSpec run = only_run(
      "model: {architecture: gpt, layers: 2, hidden: 64, heads: 4, vocab: 512, max_positions: 32}\n"
      "hardware: h200\n" +
      kOneStrategy);
  CHECK(run.model.ffn == 256);
  CHECK(run.model.kv_heads == 4);
  CHECK_FALSE(run.model.dropout);
}

TEST_CASE("parts of the hardware change one by one") {
  const Machine machine = only_run(
                              "model: gpt-7b\n"
                              "hardware:\n"
                              "  base: a100-80gb-sxm\n"
                              "  hbm: {capacity: 1 TB}\n"
                              "  runtime: {context: 0 B, workspace: 0}\n"
                              "  host: {base: server-ddr5, capacity: 512 GiB}\n"
                              "  ssd: {base: nvme-pcie5, drives: 4}\n"
                              "  pcie: {h2d: 10 GB/s}\n" +
                              kOneStrategy)
                              .machine;
  CHECK(machine.gpu.capacity == Bytes(1'000'000'000'000));
  CHECK(machine.gpu.matmul_16bit == 312_TFLOPs);  // of the A100
  CHECK(machine.runtime.context == 0_B);
  CHECK(machine.runtime.workspace == 0_B);
  CHECK(machine.host.name == "server-ddr5");
  CHECK(machine.host.capacity == 512_GiB);
  CHECK(machine.ssd.name == "nvme-pcie5");
  CHECK(machine.ssd.drives == 4);
  CHECK(machine.pcie.name == "pcie4-x16");
  CHECK(machine.pcie.h2d == 10_GBps);
  CHECK(machine.pcie.both == machine.pcie.h2d + machine.pcie.d2h);  // as one was written
}

TEST_CASE("hardware can be written out without a catalogue entry, then every figure is needed") {
  const std::string figures =
      "  gpu: {matmul_16bit: 100 TFLOP/s, matmul_32bit: 10 TFLOP/s, vector_32bit: 10 TFLOP/s,\n"
      "        matmul_efficiency: 0.5, stream_efficiency: 1, launch_latency: 0}\n"
      "  hbm: {capacity: 1 GB, bandwidth: 1 TB/s}\n"
      "  runtime: {context: 0, workspace: 0}\n"
      "  host: server-ddr4\n"
      "  pcie: {h2d: 1 GB/s, d2h: 2 GB/s, latency: 1 us}\n";
  const Machine machine =
      only_run("model: gpt-7b\nhardware:\n" + figures + "  ssd: nvme-pcie3\n" + kOneStrategy)
          .machine;
  CHECK(machine.name == "custom");
  CHECK(machine.gpu.matmul_efficiency == 0.5);
  CHECK(machine.pcie.both == 3_GBps);
  const std::string missing =
      errors_of("model: gpt-7b\nhardware:\n" + figures +
                "  ssd: {read: 1 GB/s, write: 1 GB/s, latency: 1 us}\n" + kOneStrategy);
  CHECK(missing.find("missing key 'capacity' in hardware.ssd") != std::string::npos);
  CHECK(missing.find("error:") == missing.rfind("error:"));
}

TEST_CASE("checkpoint policies become segments") {
  const auto segments = [](const std::string& text) {
    return only_run(kStart + "checkpoint: " + text + "\n" + kOneStrategy).checkpointing;
  };
  CHECK(segments("full").segments.size() == 32);
  CHECK(segments("full").reentrant);
  CHECK(segments("every-n").segments.size() == 16);
  CHECK(segments("{policy: every-n, n: 5}").segments.size() == 7);  // 6 of 5, 1 of 2
  CHECK(segments("{policy: every-n, n: 5}").segments[6].first == 30);
  CHECK_FALSE(segments("{policy: full, reentrant: false}").reentrant);
  const Checkpointing eager = segments("{policy: ops, keep: batched_matmul, every_second: true}");
  CHECK(eager.segments.size() == 32);
  CHECK_FALSE(eager.reentrant);
  CHECK(eager.cached == CachedOps{{OpKind::kBaddbmm, OpKind::kBmm}, true});
  CHECK_FALSE(segments("{policy: ops, early_stop: false}").early_stop);
  CHECK(segments("{policy: ops, keep_last: true}").segments.size() == 31);
  const Checkpointing compiled = segments("{policy: ops, replay: needed}");
  CHECK(compiled.segments.empty());
  CHECK(compiled.cached == CachedOps{});
}

TEST_CASE("settings of the caching allocator are checked and kept as written") {
  const RunSpec run = only_run(
      kStart + "allocator: {kind: caching, settings: \"max_split_size_mb:128\"}\n" + kOneStrategy);
  CHECK(run.allocator.kind == "caching");
  CHECK(run.allocator.settings == "max_split_size_mb:128");
}

TEST_CASE("a step that would need more memory to simulate than there is, is refused") {
  // With the limit far above and far below what 32 layers can take.
  LoadLimits limits;
  limits.memory = 64_GiB;
  CHECK(errors_of(kStart + kOneStrategy, {}, limits) == "loaded");
  limits.memory = 100_KiB;
  const std::string refused = errors_of(kStart + kOneStrategy, {}, limits);
  CHECK(refused.find("test.yaml:1:8: error: a step of about ") == 0);
  CHECK(refused.find("of memory to simulate, and 102.4 KB are there") != std::string::npos);
  limits.memory = 64_GiB;
  const std::string many =
      errors_of(kStart + "training: {micro_batches: 100000}\n" + kOneStrategy, {}, limits);
  CHECK(many.find("test.yaml:3:27: error: a step of about ") == 0);
}

}  // namespace
}  // namespace tidemark::scenarios
