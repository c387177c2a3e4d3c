#pragma once
// Memory and time of a sequence, whoever planned it. This file knows nothing of planners.
//
// The rule: the outputs of an op appear when it starts. A run of an op makes new instances of its
// outputs; a reader reads the newest. An instance goes after its last reader; one that nobody reads
// goes when its op ends. The last instance of a tensor with `keep` stays. Tensors without a
// producer take no memory. An op's workspace is alive while it runs.

#include <cstdint>
#include <string>
#include <vector>

#include "graph/remat/problem.hpp"

namespace tidemark::remat {

enum class Fault {
  kValid,
  kNoSuchOp,
  kOutOfOrder,       // an op's first run before the first run of the op in front of it
  kNotMade,          // an input that no earlier run made
  kNotRecomputable,  // a second run of an op that may run once
  kMissing,          // an op never runs
};

struct Verdict {
  std::int64_t peak = 0;            // bytes
  std::size_t at = 0;               // the first position of the sequence with that many
  std::int64_t time = 0;            // picoseconds, repeats included
  std::int64_t recompute_time = 0;  // of the repeats alone
  // The first fault; then the figures above are 0.
  Fault fault = Fault::kValid;
  std::size_t fault_at = 0;          // position in the sequence; its size for kMissing
  OpIndex fault_op = kNone;          // what runs there, or what is missing
  TensorIndex fault_tensor = kNone;  // for kNotMade

  bool valid() const { return fault == Fault::kValid; }
};

Verdict referee(const Problem& problem, const Sequence& sequence);

// Bytes alive at each position of a valid sequence.
std::vector<std::int64_t> live_bytes(const Problem& problem, const Sequence& sequence);

// "valid", or one line that says what is wrong, where.
std::string describe(const Verdict& verdict);

// The same sequence without repeats whose outputs nobody reads: never slower, never a higher peak.
Sequence without_unread_repeats(const Problem& problem, const Sequence& sequence);

// No valid sequence has a peak below: for some op its inputs, outputs, workspace and, of what ran
// before it and may not run again, whatever is read later or kept.
struct Need {
  std::int64_t bytes = 0;
  OpIndex op = kNone;  // the first with that need; kNone without ops
};

Need needs_at_least(const Problem& problem);

}  // namespace tidemark::remat
