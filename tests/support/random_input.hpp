#pragma once
// Small steps to lower, of every architecture, precision and kind of attention.

#include <cstdint>
#include <initializer_list>
#include <random>

#include "graph/lower.hpp"
#include "tests/support/lowering.hpp"

namespace tidemark::support {

inline LoweringInput random_input(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<std::int64_t> of) {
    return of.begin()[random() % of.size()];
  };
  const std::int64_t heads = pick({1, 2, 4}), hidden = heads * pick({4, 6, 16});
  LoweringInput input = gpt(pick({1, 2, 3, 5}), hidden, heads, pick({2, 5, 16}), pick({1, 3}));
  input.model.architecture = static_cast<Architecture>(random() % 4);
  if (input.model.architecture == Architecture::kLlama) {
    input.model.kv_heads = pick({1, heads});
    input.model.ffn = pick({3, 40});
  }
  const bool gpt = input.model.architecture == Architecture::kGpt;
  if (!gpt && input.model.architecture != Architecture::kGpt2) input.model.dropout = false;
  if (gpt || input.model.architecture == Architecture::kLlama) {
    input.kernels.attention =
        random() % 2 == 0 ? Kernels::Attention::kFlash : Kernels::Attention::kEager;
  }
  input.training.micro_batches = pick({1, 1, 2});
  input.training.precision = static_cast<Precision>(random() % 4);
  return input;
}

}  // namespace tidemark::support
