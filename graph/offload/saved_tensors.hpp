#pragma once
// Which tensors forward saves for backward, when they may leave HBM, and when they must be back.

#include <vector>

#include "graph/offload.hpp"
#include "graph/offload/visits.hpp"
#include "graph/step_graph.hpp"

namespace tidemark {

// A storage that forward of some pass makes and saves, and backward of that pass reads. Views and
// repeated saves of it are one.
struct SavedTensor {
  TensorId tensor{};
  OpId saved{};             // it may leave after that op: saved, and written for the last time
  OpId last_forward{};      // the last op before backward that uses it; not before `saved`
  OpId first_backward{};    // the first op of backward that uses it
  OpId last_backward{};     // the last op for which a node keeps it
  std::uint32_t visit = 0;  // of first_backward
  OpId fetch_after{};       // it may come back once that op has finished
  ActivationOffload::To to = ActivationOffload::To::kHost;
};

// Those that `options` moves, in the order in which they are saved. Parameters, inputs, constants
// (masks, rotary tables) and what the script keeps after backward never move. Backward begins with
// visit s of the pass; a tensor first used in visit v
//   stays where v <= s + keep_last (and keep_last > 0): head and loss are visit s;
//   may come back when visit v - prefetch begins, and not before visit s.
std::vector<SavedTensor> saved_tensors(const StepGraph& graph, const ActivationOffload& options);

}  // namespace tidemark
