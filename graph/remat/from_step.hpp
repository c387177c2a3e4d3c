#pragma once
// Between a lowered step and the planners' problem.

#include <span>
#include <vector>

#include "graph/ids.hpp"
#include "graph/remat/problem.hpp"
#include "graph/step_graph.hpp"

namespace tidemark::remat {

// Forward and backward of the step's last pass as a problem. An op that writes into what another
// has just made is one op with it. What is there before the pass takes no memory; what outlives
// backward (gradients) stays. Variables of the training script that hold a tensor longer than its
// readers are not known to a problem: its peaks are a proxy of the step's.
struct StepProblem {
  Problem problem;
  std::vector<std::vector<OpId>> ops;  // of the step, ascending, by op of the problem
  std::vector<TensorId> tensors{};     // of the step, by tensor of the problem
};

// `times`: one entry an op of the step. The step was lowered without checkpoints.
StepProblem problem_of(const StepGraph& graph, std::span<const SimTime> times);

// The ops of `graph` in the order of a sequence of the problem, which is that of `planned`: the
// same step or another of the same run. Every pass does what the sequence does.
std::vector<OpId> sequence_of(const StepGraph& graph, const StepGraph& planned,
                              const StepProblem& problem, const Sequence& sequence);

// The tensors of `graph` that are `tensors` of the problem, in every pass that makes them.
std::vector<TensorId> tensors_of(const StepGraph& graph, const StepGraph& planned,
                                 const StepProblem& problem, std::span<const TensorIndex> tensors);

}  // namespace tidemark::remat
