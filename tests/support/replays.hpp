#pragma once
// Steps to drop tensors from, and a check of steps that make them again.

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "graph/lower.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"

namespace tidemark::support {

// One step an architecture, and some of the options that change what is saved.
inline std::vector<StepGraph> small_steps() {
  std::vector<StepGraph> steps;
  LoweringInput a = gpt(3, 64, 4, 32, 2);
  steps.push_back(lower(a));
  a.training.micro_batches = 2;
  a.kernels.causal = Kernels::Causal::kFillInplace;
  steps.push_back(lower(a));
  LoweringInput b = llama(3, 64, 4, 2, 96, 32, 2);
  steps.push_back(lower(b));
  b.kernels.attention = Kernels::Attention::kFlash;
  b.training.precision = Precision::kAutocast;
  steps.push_back(lower(b));
  a.model.architecture = Architecture::kGpt2;
  a.kernels = {};
  steps.push_back(lower(a));
  b.model.architecture = Architecture::kCs336;
  b.model.kv_heads = b.model.heads;
  b.kernels = {};
  b.training.precision = Precision::kFp32;
  steps.push_back(lower(b));
  return steps;
}

enum class Operands { kInOrder, kAnyOrder };

// How each op's results came about, told as one number: its kind and size, and what its operands
// hold at that moment. Ops that tell the same number compute the same bytes. Fails where an operand
// is not alive. With kAnyOrder operands count as a set: a sum in place, or the other way round, is
// the same sum.
inline std::vector<std::uint64_t> stories(const StepGraph& graph,
                                          Operands operands = Operands::kInOrder) {
  const auto mix = [](std::uint64_t& story, std::uint64_t x) {
    story = (story ^ x) * 0x9e3779b97f4a7c15u;
    story ^= story >> 29;
  };
  std::vector<std::uint64_t> holds(graph.tensors.size(), 0);  // 0: not alive
  for (std::uint32_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].initial()) holds[i] = i + 1;
  }
  std::vector<std::vector<std::uint32_t>> ends(graph.op_count());
  for (std::uint32_t i = 0; i < graph.tensors.size(); ++i) {
    if (!graph.tensors[i].persistent()) ends[index(graph.tensors[i].last_use)].push_back(i);
  }
  std::vector<std::uint64_t> told;
  for (std::uint32_t i = 0; i < graph.op_count(); ++i) {
    const OpId op{i};
    const Op& o = graph.op(op);
    std::uint64_t story = 1;
    const bool sum = operands == Operands::kAnyOrder && o.kind == OpKind::kAddInplace;
    const OpKind kind = sum ? OpKind::kAdd : o.kind;
    for (const std::int64_t x : {static_cast<std::int64_t>(kind), o.m, o.n, o.k, o.batch,
                                 o.flops.count, o.bytes_read.count, o.bytes_written.count}) {
      mix(story, static_cast<std::uint64_t>(x));
    }
    std::vector<std::uint64_t> read;
    for (const auto& row : {graph.inputs_of(op), graph.updated_by(op)}) {
      for (const TensorId t : row) {
        if (holds[index(t)] == 0) FAIL("op " << i << " reads tensor " << index(t) << ", not alive");
        read.push_back(holds[index(t)]);
      }
    }
    if (operands == Operands::kAnyOrder) std::ranges::sort(read);
    for (const std::uint64_t what : read) mix(story, what);
    std::uint64_t part = story;
    for (const auto& row : {graph.updated_by(op), graph.outputs_of(op)}) {
      for (const TensorId t : row) {
        mix(part, 3);
        holds[index(t)] = part | 1;
      }
    }
    told.push_back(story);
    for (const std::uint32_t t : ends[i]) holds[t] = 0;
  }
  return told;
}

// Knows nothing of how the step was made: its own ops read what they read in `base`, in the same
// order, and every op that runs again computes what some op of forward computed.
inline void check_replay(const StepGraph& base, const StepGraph& step,
                         Operands operands = Operands::kInOrder) {
  const std::vector<std::uint64_t> once = stories(base, operands);
  const std::vector<std::uint64_t> now = stories(step, operands);
  std::unordered_set<std::uint64_t> of_forward;
  for (std::size_t i = 0; i < once.size(); ++i) {
    if (base.ops[i].phase == Phase::kForward) of_forward.insert(once[i]);
  }
  std::vector<std::uint64_t> own;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (step.ops[i].phase == Phase::kRecompute) {
      if (of_forward.count(now[i]) == 0) FAIL("op " << i << " runs again what did not run");
    } else {
      own.push_back(now[i]);
    }
  }
  const bool same = own == once;  // not as a check: it would print them all
  CHECK(same);
}

}  // namespace tidemark::support
