#include "scenarios/resolved.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/load.hpp"
#include "tests/scenarios/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"

namespace tidemark::scenarios {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> example_files() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(test::source_file("scenarios"))) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// What a second writing would not show: that loading filled in the same values.
void check_same(const RunSpec& a, const RunSpec& b) {
  CHECK(a.strategy == b.strategy);
  CHECK(a.model.name == b.model.name);
  CHECK(a.model.kv_heads == b.model.kv_heads);
  CHECK(a.model.dropout == b.model.dropout);
  CHECK(a.model.qkv_bias == b.model.qkv_bias);
  CHECK(a.kernels.causal == b.kernels.causal);
  CHECK(a.kernels.norm == b.kernels.norm);
  CHECK(a.kernels.accumulate == b.kernels.accumulate);
  CHECK(a.checkpoint_options == b.checkpoint_options);
  CHECK(a.checkpointing.segments.size() == b.checkpointing.segments.size());
  CHECK(a.checkpointing.cached == b.checkpointing.cached);
  CHECK(a.machine.gpu.description == b.machine.gpu.description);
  CHECK(a.machine.gpu.capacity == b.machine.gpu.capacity);
  CHECK(a.machine.gpu.matmul_efficiency == b.machine.gpu.matmul_efficiency);
  CHECK(a.machine.runtime.context == b.machine.runtime.context);
  CHECK(a.machine.ssd.latency == b.machine.ssd.latency);
  CHECK(a.machine.pcie.both == b.machine.pcie.both);
  CHECK(a.allocator.settings == b.allocator.settings);
}

void check_round_trip(const RunSpec& run) {
  const std::string text = resolved_yaml(run);
  INFO(text);
  const Scenario again = load_text(text);
  REQUIRE(again.runs.size() == 1);
  CHECK(resolved_yaml(again.runs[0]) == text);
  check_same(run, again.runs[0]);
}

TEST_CASE("every example scenario loads, and each run of it can be printed and read back") {
  const std::vector<std::string> files = example_files();
  CHECK(files.size() >= 5);
  for (const std::string& file : files) {
    INFO(file);
    for (const RunSpec& run : load(file).runs) check_round_trip(run);
  }
}

TEST_CASE("a run with everything changed can be printed and read back") {
  const Scenario scenario = load_text(
      "model: {architecture: llama, layers: 3, hidden: 60, heads: 5, kv_heads: 5, head_dim: 16,\n"
      "        ffn: 100, vocab: 99, max_positions: 77, qkv_bias: true, extra_parameters: 7}\n"
      "training: {micro_batch: 3, sequence: 50, micro_batches: 2, precision: fp32, optimizer: "
      "sgd}\n"
      "kernels: {attention: flash, norm: fused, loss: native, torch: 1.13, zero_grad: keep}\n"
      "hardware:\n"
      "  gpu: {matmul_16bit: 100.5 TFLOP/s, matmul_32bit: 10 TFLOP/s, vector_32bit: 10 TFLOP/s,\n"
      "        matmul_efficiency: 0.123, stream_efficiency: 1, launch_latency: 1234 ps}\n"
      "  hbm: {capacity: 79.15 GiB, bandwidth: 1 TB/s}\n"
      "  runtime: {context: 0, workspace: 1 B}\n"
      "  host: {base: server-ddr4, capacity: 0}\n"
      "  ssd: {base: nvme-pcie3, drives: 5, latency: 0}\n"
      "  pcie: {h2d: 1 GB/s, d2h: 2 GB/s, both: 2.5 GB/s, latency: 1 us}\n"
      "allocator: {kind: caching, settings: \"max_split_size_mb:128\"}\n"
      "checkpoint: {policy: every-n, n: 2, reentrant: false}\n"
      "offload: {optimizer: ssd, gradients_leave: after_backward, bucket: 5 MB, buffers: 9}\n"
      "strategies: [{name: 'it''s \"one\" \\ of'}]\n");
  CHECK(scenario.runs[0].strategy == "it's \"one\" \\ of");
  check_round_trip(scenario.runs[0]);
}

TEST_CASE("keys that say nothing for the architecture are not printed") {
  const std::string gpt = resolved_yaml(load_text(kStart + kOneStrategy).runs[0]);
  CHECK(gpt.find("norm:") == std::string::npos);
  CHECK(gpt.find("causal: \"fill\"") != std::string::npos);
}

}  // namespace
}  // namespace tidemark::scenarios
