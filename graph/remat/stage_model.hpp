#pragma once
// What planners of chains know of a stage: what it can keep at which cost, and the memory that its
// ops need beside what the stages in front of it keep.

#include <cstdint>
#include <vector>

#include "graph/remat/chain.hpp"
#include "graph/remat/problem.hpp"

namespace tidemark::remat {

struct StageOption {
  std::int64_t bytes = 0;  // that stay from the stage's forward to its backward, output included
  std::int64_t cost = 0;   // picoseconds of what its backward runs again
  // Most bytes alive in its forward, and in its backward, which makes things again lazily; without
  // what stages in front of it keep.
  std::int64_t forward_need = 0, backward_need = 0;
  std::vector<TensorIndex> kept;  // of the first stage of that shape
};

struct StageModel {
  std::vector<StageOption> options;  // from most bytes and no cost to fewest: none beats another
  std::int64_t output_bytes = 0;     // that stay for the stages behind it
  std::int64_t gradient_bytes = 0;   // that its backward starts from
  std::int64_t forward_cost = 0;     // of running it forward once more
  std::int64_t tail_cost = 0;        // the part of it that makes the output alone
  // Most bytes alive in forward when only the output stays; and when its input, which counts here,
  // goes as well once it was read.
  std::int64_t forward_need = 0, passing_need = 0;
  std::size_t first_stage = 0;  // of that shape
};

struct ChainModel {
  std::vector<StageModel> shapes;
  std::vector<std::uint32_t> shape;  // of each stage
  // Bytes of gradients that stay alive over the whole backward of a stage; one entry a stage.
  std::vector<std::int64_t> held;
  std::int64_t prologue_bytes = 0;  // that stay
  std::int64_t epilogue_need = 0;   // without what stages keep
  std::int64_t rest_need = 0;       // of the ops behind the last stage's backward

  const StageModel& of(std::size_t stage) const { return shapes[shape[stage]]; }
  std::size_t stage_count() const { return shape.size(); }
};

// Stages with equal ops, sizes and costs share one model.
ChainModel model_of(const Problem& problem, const Chain& chain);

// StageOption::kept of option `option`, as tensors of stage `stage`.
std::vector<TensorIndex> kept_by(const Problem& problem, const Chain& chain,
                                 const ChainModel& model, std::size_t stage, std::uint32_t option);

}  // namespace tidemark::remat
