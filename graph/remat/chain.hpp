#pragma once
// A problem as a chain of stages, each a run of forward ops and the run of backward ops that undoes
// it:
//
//   prologue | stage 0 | stage 1 | ... | epilogue | ... | stage 1 | stage 0 | rest
//              forward   forward                         backward  backward
//
// The epilogue is what lies between the last stage's forward and backward: head and loss.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/remat/problem.hpp"

namespace tidemark::remat {

struct Stage {
  OpIndex forward_begin = 0, forward_end = 0;
  OpIndex backward_begin = 0, backward_end = 0;
};

using Chain = std::vector<Stage>;

// One stage a block. An op outside of blocks belongs to the block in front of it, but for what
// comes in front of the first block of forward (prologue) and behind the last (epilogue), and the
// same in backward. Nothing where the blocks do not come in ascending order in forward and in
// descending order in backward, or where there are none.
std::optional<Chain> chain_of_blocks(const Problem& problem);

// Finer: also cut inside a block wherever a single tensor goes on from what ran to what follows
// (the residual stream), and its backward ops can be told apart.
std::optional<Chain> chain_of_cuts(const Problem& problem);

// Neighbours first to first + count, first + 2 count and so on made one stage each; the last may
// have fewer.
Chain merged(const Chain& chain, std::size_t count);

// Whether a tensor is read by the forward and the backward ops of `stage` alone.
bool inner(const Problem& problem, const Readers& readers, const Stage& stage, TensorIndex tensor);

// Writes a schedule of whole stages down as a sequence. Ops that may not run again are left out
// when a stage runs forward once more. The first backward() is that of the last stage; before it,
// every stage must have run forward, in order.
class ChainWriter {
 public:
  ChainWriter(const Problem& problem, const Chain& chain);

  void forward(std::size_t stage);
  void epilogue();
  void backward(std::size_t stage);
  // The backward of `stage`, of any chain of this problem, where of what its forward made only
  // `kept`, and what others read, is there: each op runs again right before it is needed.
  void backward(const Stage& stage, std::span<const TensorIndex> kept);

  // The sequence without repeats that nobody reads: a segment that is run again stops early.
  Sequence finish() &&;

 private:
  void first_run_up_to(OpIndex end);
  void make_again(const Stage& stage, TensorIndex tensor);

  const Problem& problem_;
  const Chain& chain_;
  Readers readers_;
  OpIndex next_ = 0;         // the op whose first run comes next
  std::vector<char> there_;  // one entry a tensor, for the stage whose backward is under way
  Sequence sequence_;
};

}  // namespace tidemark::remat
