#pragma once
// Parameters that are on the GPU only while they are needed. They are kept on the host or an SSD
// and fetched in units: a block, or a single parameter outside the blocks (embedding, final norm,
// head).
//
//   visits (visits.hpp)  embed  f0   f1   norm, head   head, norm   b1    b0     embed
//   prefetch 1: unit     E      0    1    N, H          .           1     0
//   comes in when        start  start embed  f0 begins   is there    f1.. is there still (one visit
//   on)
//                                                                  b1 begins
//
// A unit is dropped after its visit, unless it is needed again within `prefetch` visits: then it
// would be on its way back at once. Nothing is written back: the GPU only reads parameters.

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/offload.hpp"
#include "graph/offload/mover.hpp"
#include "graph/offload/stays.hpp"

namespace tidemark {

// Parameters that move together.
struct ParameterUnit {
  std::int16_t layer = -1;
  std::vector<TensorId> weights;
  Bytes bytes;
};

// One time on the GPU.
struct ParameterFetch {
  std::uint32_t unit = 0;
  std::uint32_t stay = 0;  // of the unit's weights
  OpId after{};            // it may come in once that op has finished; kNoOp: with the step
  OpId first_use{};
  OpId last_use{};
};

struct ParameterPlan {
  std::vector<ParameterUnit> units;
  std::vector<ParameterFetch> fetches;  // in the order in which they come in
};

// Divides the stays of all weights. Weights that no op reads are never on the GPU.
ParameterPlan plan_parameters(const StepGraph& graph, const ParameterOffload& options,
                              Stays& stays);

// Adds the transfers, once the kernels and the buffers of `stays` are there. `kept`: whether the
// parameters need a buffer of their own; false where they are the optimizer's master weights.
// Returns the last transfer that reads each row of StepGraph::parameters where it is kept;
// kNoInstance: none does.
std::vector<InstanceId> fetch_parameters(Mover& mover, const ParameterOffload& options,
                                         const ParameterPlan& plan, const Stays& stays, bool kept);

}  // namespace tidemark
