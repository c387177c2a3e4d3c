// Parameters that stream from the host block by block without prefetch, against the efficiency of
// ZeRO-Infinity (Rajbhandari et al., SC 2021, section 4):
//
//   efficiency = ait x bandwidth / (ait x bandwidth + peak)
//   ait        = FLOPs for each byte moved
//
// There a step of parameters is loaded three times and its gradients are stored once, 2 bytes each,
// for 8 x batch x sequence FLOPs a parameter: ait = batch x sequence. Here replay and backward of a
// block share one load, and gradients stay: ait = 2 x batch x sequence.

#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/runs.hpp"
#include "tools/evaluate.hpp"

using namespace tidemark;
using namespace tidemark::tools;

TEST_CASE("streamed parameters that nothing hides have the efficiency of ZeRO-Infinity") {
  for (const int batch : {1, 4}) {
    for (const int gigabytes : {4, 20}) {
      CAPTURE(batch, gigabytes);
      const std::string rate = std::to_string(gigabytes) + " GB/s";
      const Report report = evaluate(support::run_of(
          "model: {architecture: gpt, layers: 8, hidden: 2048, heads: 16, vocab: 128,\n"
          "        max_positions: 512}\n"
          "training: {sequence: 512, precision: bf16, micro_batch: " +
          std::to_string(batch) +
          "}\nhardware: {base: a100-80gb-sxm, host: {issue: 0 s}, pcie: {latency: 0 s, h2d: " +
          rate +
          "}}\ncheckpoint: full\n"
          "offload: {optimizer: host, parameters: {to: host, prefetch: 0}}\n"
          "strategies: [{name: one}]\n"));
      const auto moved =
          static_cast<double>(report.traffic[static_cast<std::size_t>(LinkKind::kPcieH2d)].count);
      const double waits =
          seconds(report.stalls[static_cast<std::size_t>(sim::StallCause::kPcieH2d)]);
      const double busy = seconds(report.compute_busy);
      const auto flops = static_cast<double>(report.hardware_flops.count);
      // Every byte is waited for.
      CHECK(waits == Approx(moved / (gigabytes * 1e9)).epsilon(1e-3));
      // Attention adds sequence / (6 x hidden), 4 %; what is outside the blocks is little.
      const double ait = flops / moved;
      CHECK(ait == Approx(2.0 * batch * 512).epsilon(0.06));
      const double peak = flops / busy;  // that the step reaches while it computes
      CHECK(busy / (busy + waits) ==
            Approx(ait * gigabytes * 1e9 / (ait * gigabytes * 1e9 + peak)).epsilon(1e-3));
    }
  }
}
