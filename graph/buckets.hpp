#pragma once

#include <cstdint>
#include <vector>

#include "graph/step_graph.hpp"

namespace tidemark {

// Parameters whose gradients leave the GPU in one transfer.
struct Bucket {
  std::vector<std::uint32_t> parameters;  // rows of StepGraph::parameters
  std::int64_t elements = 0;
  Bytes gradients;
  Bytes weights;
  OpId ready = kNoOp;  // the op that completes its last gradient; kNoOp: all are there at the start
  // The first op that writes one of its gradients again once that is complete; kNoOp: none does.
  OpId overwritten = kNoOp;
  OpId last_read = kNoOp;  // the last op that reads or writes one of its weights; kNoOp: none does
};

// By tensor: the first op that writes a parameter's gradient after the op that completes it; kNoOp:
// none does, or it is no such gradient.
std::vector<OpId> first_overwrites(const StepGraph& graph);

// Rows of StepGraph::parameters whose update is on `kind`, in the order in which their gradients
// become complete, up to `most` bytes of gradients together. most > 0.
std::vector<std::vector<std::uint32_t>> bucket_rows(const StepGraph& graph, Bytes most,
                                                    UpdateOn kind);

// Parameters in the order in which their gradients become complete, up to `most` bytes of gradients
// in a bucket. A parameter that is larger has a bucket of its own. Parameters without a gradient
// are not updated, so they are in none. most > 0.
std::vector<Bucket> gradient_buckets(const StepGraph& graph, Bytes most,
                                     UpdateOn kind = UpdateOn::kElsewhere);

}  // namespace tidemark
