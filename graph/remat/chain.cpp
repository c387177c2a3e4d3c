#include "graph/remat/chain.hpp"

#include <algorithm>

#include "graph/remat/referee.hpp"

namespace tidemark::remat {

std::optional<Chain> chain_of_blocks(const Problem& problem) {
  Chain chain;
  const OpIndex middle = problem.backward_begin();
  std::vector<std::uint32_t> block_of;  // of each stage
  for (OpIndex op = 0; op < middle; ++op) {
    const std::uint32_t block = problem.op(op).block;
    if (block == kNone) continue;
    if (block_of.empty() || block > block_of.back()) {
      if (!chain.empty()) chain.back().forward_end = op;
      chain.push_back({.forward_begin = op});
      block_of.push_back(block);
    }
    if (block != block_of.back()) return {};
    chain.back().forward_end = op + 1;
  }
  if (chain.empty()) return {};
  std::size_t stage = chain.size();  // whose backward is under way
  for (OpIndex op = middle; op < problem.op_count(); ++op) {
    const std::uint32_t block = problem.op(op).block;
    if (block == kNone) continue;
    if (stage == chain.size() || block < block_of[stage]) {
      if (stage == 0 || block_of[stage - 1] != block) return {};
      if (stage < chain.size()) chain[stage].backward_end = op;
      chain[--stage].backward_begin = op;
    }
    if (block != block_of[stage]) return {};
    chain[stage].backward_end = op + 1;
  }
  if (stage != 0) return {};
  return chain;
}

namespace {

// For each stage the ends of its parts: ops after which a single tensor that a stage made goes on.
std::vector<std::vector<OpIndex>> cuts(const Problem& problem, const Chain& chain) {
  const OpIndex middle = problem.backward_begin();
  std::vector<OpIndex> last(problem.tensor_count(), kNone);  // forward reader
  for (OpIndex op = 0; op < middle; ++op) {
    for (const TensorIndex tensor : problem.inputs(op)) last[tensor] = op;
  }
  std::vector<std::uint32_t> ending(std::size_t{middle} + 1, 0);
  std::vector<std::vector<OpIndex>> result(chain.size());
  std::size_t stage = 0;
  std::uint32_t alive = 0;
  // Of the prologue's, those that the first stage alone reads: tables that all read are no
  // obstacle.
  for (OpIndex op = 0; op < chain.front().forward_begin; ++op) {
    for (const TensorIndex tensor : problem.outputs(op)) {
      const OpIndex reader = last[tensor];
      if (reader == kNone || reader < chain[0].forward_begin || reader >= chain[0].forward_end) {
        continue;
      }
      ++alive;
      ++ending[reader];
    }
  }
  for (OpIndex op = chain.front().forward_begin; op < chain.back().forward_end; ++op) {
    for (const TensorIndex tensor : problem.outputs(op)) {
      if (last[tensor] == kNone) continue;
      ++alive;
      ++ending[last[tensor]];
    }
    alive -= ending[op];
    if (op + 1 == chain[stage].forward_end) {
      result[stage++].push_back(op + 1);
    } else if (alive == 1) {
      result[stage].push_back(op + 1);
    }
  }
  return result;
}

}  // namespace

std::optional<Chain> chain_of_cuts(const Problem& problem) {
  const std::optional<Chain> blocks = chain_of_blocks(problem);
  if (!blocks) return {};
  const auto ends = cuts(problem, *blocks);
  Chain chain;
  for (std::size_t s = 0; s < blocks->size(); ++s) {
    const Stage& block = (*blocks)[s];
    const auto part_of = [&](OpIndex op) {
      return static_cast<std::size_t>(std::upper_bound(ends[s].begin(), ends[s].end(), op) -
                                      ends[s].begin());
    };
    // A backward op belongs to the earliest part whose inner tensors it, or one before it, reads.
    // A tensor that crosses a cut is inner to none: the later part reads it as its input.
    std::vector<OpIndex> from(ends[s].size(), kNone);  // first backward op of each part
    std::size_t part = ends[s].size() - 1;
    from[part] = block.backward_begin;
    for (OpIndex op = block.backward_begin; op < block.backward_end; ++op) {
      for (const TensorIndex tensor : problem.inputs(op)) {
        const OpIndex producer = problem.tensor(tensor).producer;
        if (producer == kNone || producer < block.forward_begin || producer >= block.forward_end) {
          continue;
        }
        const std::size_t of = part_of(producer);
        if (of < part && producer + 1 != ends[s][of]) from[part = of] = op;
      }
    }
    // A part without backward ops of its own joins the one behind it.
    OpIndex begin = block.forward_begin;
    const std::size_t first_stage = chain.size();
    for (std::size_t p = 0; p < from.size(); ++p) {
      if (from[p] == kNone) continue;
      chain.push_back({.forward_begin = begin,
                       .forward_end = ends[s][p],
                       .backward_begin = from[p],
                       .backward_end = block.backward_end});
      if (chain.size() - 1 > first_stage) {
        chain[chain.size() - 1].backward_end = chain[chain.size() - 2].backward_begin;
      }
      begin = ends[s][p];
    }
  }
  return chain;
}

Chain merged(const Chain& chain, std::size_t count) {
  Chain result;
  for (std::size_t first = 0; first < chain.size(); first += count) {
    const std::size_t last = std::min(first + count, chain.size()) - 1;
    result.push_back({.forward_begin = chain[first].forward_begin,
                      .forward_end = chain[last].forward_end,
                      .backward_begin = chain[last].backward_begin,
                      .backward_end = chain[first].backward_end});
  }
  return result;
}

bool inner(const Problem& problem, const Readers& readers, const Stage& stage, TensorIndex tensor) {
  const auto all = readers.of(tensor);
  return !problem.tensor(tensor).keep && std::all_of(all.begin(), all.end(), [&](OpIndex reader) {
    return (reader >= stage.forward_begin && reader < stage.forward_end) ||
           (reader >= stage.backward_begin && reader < stage.backward_end);
  });
}

ChainWriter::ChainWriter(const Problem& problem, const Chain& chain)
    : problem_(problem),
      chain_(chain),
      readers_(readers(problem)),
      there_(problem.tensor_count(), 0) {}

void ChainWriter::first_run_up_to(OpIndex end) {
  while (next_ < end) sequence_.push_back(next_++);
}

void ChainWriter::forward(std::size_t stage) {
  const OpIndex begin = chain_[stage].forward_begin, end = chain_[stage].forward_end;
  for (OpIndex op = begin; op < std::min(end, next_); ++op) {
    if (problem_.op(op).recomputable) sequence_.push_back(op);
  }
  first_run_up_to(end);
}

void ChainWriter::backward(std::size_t stage) { first_run_up_to(chain_[stage].backward_end); }

void ChainWriter::epilogue() { first_run_up_to(chain_.back().backward_begin); }

void ChainWriter::make_again(const Stage& stage, TensorIndex tensor) {
  const OpIndex op = problem_.tensor(tensor).producer;
  if (op == kNone || op < stage.forward_begin || op >= stage.forward_end) return;
  if (there_[tensor] != 0) return;
  for (const TensorIndex input : problem_.inputs(op)) make_again(stage, input);
  sequence_.push_back(op);
  for (const TensorIndex made : problem_.outputs(op)) there_[made] = 1;
}

void ChainWriter::backward(const Stage& stage, std::span<const TensorIndex> kept) {
  for (OpIndex op = stage.forward_begin; op < stage.forward_end; ++op) {
    for (const TensorIndex tensor : problem_.outputs(op)) {
      there_[tensor] = !problem_.op(op).recomputable || problem_.tensor(tensor).bytes == 0 ||
                       !inner(problem_, readers_, stage, tensor);
    }
  }
  for (const TensorIndex tensor : kept) there_[tensor] = 1;
  first_run_up_to(stage.backward_begin);
  for (OpIndex op = stage.backward_begin; op < stage.backward_end; ++op) {
    for (const TensorIndex tensor : problem_.inputs(op)) make_again(stage, tensor);
    first_run_up_to(op + 1);
  }
}

Sequence ChainWriter::finish() && {
  first_run_up_to(problem_.op_count());
  return without_unread_repeats(problem_, sequence_);
}

}  // namespace tidemark::remat
