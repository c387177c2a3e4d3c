#pragma once

#include "graph/model.hpp"
#include "graph/offload.hpp"
#include "graph/program.hpp"
#include "graph/step_graph.hpp"
#include "hardware/machine.hpp"

namespace tidemark {

// Turns a lowered step into a program on `machine`: kernels with durations, the transfers and CPU
// work that `offload` asks for, and the bytes that stay in each tier. `training` says what the
// optimizer streams per parameter (precision, kind of optimizer). Instance i plays op i and buffer
// i holds tensor i in its first stay; what else there is comes after them. The graph's names grow
// by those of transfers and buffers; nothing else of it changes.
Program plan(StepGraph& graph, const TrainingConfig& training, const Offload& offload,
             const Machine& machine);

}  // namespace tidemark
