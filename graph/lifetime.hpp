#pragma once

#include <vector>

#include "graph/step_graph.hpp"

namespace tidemark {

// Bytes of tensors alive during each op when the ops run one after the other: what is alive when
// the op starts and what it makes. One entry an op.
std::vector<Bytes> live_bytes(const StepGraph& graph);

struct LivePeak {
  OpId op = kNoOp;  // the first op at which the peak is reached; kNoOp when there are no ops
  Bytes bytes;
};

LivePeak live_peak(const StepGraph& graph);

}  // namespace tidemark
