#pragma once
// The run of a scenario that a test writes down.

#include <memory>
#include <string>
#include <utility>

#include "scenarios/load.hpp"

namespace tidemark::support {

// The first strategy at the first point.
inline scenarios::RunSpec run_of(std::string text) {
  return scenarios::load(std::make_shared<const scenarios::Source>(
                             scenarios::Source{"test.yaml", std::move(text)}))
      .runs.front();
}

// A scenario whose blocks save from 1 to some 10 MB a tensor, on a GPU that sets nothing aside.
// `kernels` beside the fused optimizer, `hardware` beside that GPU, and sections of the run.
inline std::string small_step(int layers, const std::string& kernels, const std::string& hardware,
                              const std::string& sections) {
  return "model: {architecture: gpt, layers: " + std::to_string(layers) +
         ", hidden: 512, heads: 8, vocab: 500, max_positions: 512}\n"
         "training: {micro_batch: 4, sequence: 512, micro_batches: 2}\n"
         "kernels: {optimizer: fused" +
         kernels + "}\nhardware: {base: a100-80gb-sxm, runtime: {context: 0 B, workspace: 0 B}" +
         hardware + "}\n" + sections + "strategies: [{name: one}]\n";
}

// For `hardware` above: a link of that rate each way and in sum, a host of that size, and launches
// that cost the host nothing.
inline std::string link_of(const std::string& rate, const std::string& host = "64 GB") {
  return ", host: {issue: 0 s, capacity: " + host + "}, pcie: {h2d: " + rate + ", d2h: " + rate +
         ", both: " + rate + "}";
}

}  // namespace tidemark::support
