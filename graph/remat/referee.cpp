#include "graph/remat/referee.hpp"

#include <algorithm>

namespace tidemark::remat {

namespace {

// Last reader of each instance. An instance is known by the position of the run that made it and
// the tensor; this sweeps from the end, so `last_use[t]` is the last reader of the instance of t
// that is newest at the position of the sweep; kUnread where there is none.
constexpr std::size_t kUnread = static_cast<std::size_t>(-1);

void find_fault(const Problem& problem, const Sequence& sequence, Verdict& verdict) {
  OpIndex next = 0;  // the op whose first run comes next
  const auto fault = [&](Fault what, std::size_t at, OpIndex op, TensorIndex tensor = kNone) {
    verdict.fault = what;
    verdict.fault_at = at;
    verdict.fault_op = op;
    verdict.fault_tensor = tensor;
  };
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    const OpIndex op = sequence[at];
    if (op >= problem.op_count()) return fault(Fault::kNoSuchOp, at, op);
    for (const TensorIndex tensor : problem.inputs(op)) {
      const OpIndex producer = problem.tensor(tensor).producer;
      if (producer != kNone && producer >= next) return fault(Fault::kNotMade, at, op, tensor);
    }
    if (op > next) return fault(Fault::kOutOfOrder, at, op);
    if (op < next && !problem.op(op).recomputable) return fault(Fault::kNotRecomputable, at, op);
    if (op == next) ++next;
  }
  if (next < problem.op_count()) fault(Fault::kMissing, sequence.size(), next);
}

}  // namespace

std::vector<std::int64_t> live_bytes(const Problem& problem, const Sequence& sequence) {
  // First what comes and goes at each position, then sums.
  std::vector<std::int64_t> live(sequence.size() + 1, 0);
  std::vector<std::size_t> last_use(problem.tensor_count(), kUnread);
  for (TensorIndex t = 0; t < problem.tensor_count(); ++t) {
    if (problem.tensor(t).keep) last_use[t] = sequence.size() - 1;
  }
  for (std::size_t at = sequence.size(); at-- > 0;) {
    const OpIndex op = sequence[at];
    for (const TensorIndex tensor : problem.outputs(op)) {
      const std::int64_t bytes = problem.tensor(tensor).bytes;
      const std::size_t last = last_use[tensor] == kUnread ? at : last_use[tensor];
      live[at] += bytes;
      live[last + 1] -= bytes;
      last_use[tensor] = kUnread;
    }
    for (const TensorIndex tensor : problem.inputs(op)) {
      if (last_use[tensor] == kUnread) last_use[tensor] = at;
    }
  }
  std::int64_t sum = 0;
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    sum += live[at];
    live[at] = sum + problem.op(sequence[at]).workspace;
  }
  live.pop_back();
  return live;
}

Verdict referee(const Problem& problem, const Sequence& sequence) {
  Verdict verdict;
  find_fault(problem, sequence, verdict);
  if (!verdict.valid() || sequence.empty()) return verdict;
  const std::vector<std::int64_t> live = live_bytes(problem, sequence);
  const auto peak = std::max_element(live.begin(), live.end());
  verdict.peak = *peak;
  verdict.at = static_cast<std::size_t>(peak - live.begin());
  for (const OpIndex op : sequence) verdict.time += problem.op(op).cost;
  verdict.recompute_time = verdict.time - problem.base_time();
  return verdict;
}

std::string describe(const Verdict& verdict) {
  const std::string op = "op " + std::to_string(verdict.fault_op);
  const std::string where = "position " + std::to_string(verdict.fault_at) + ": ";
  switch (verdict.fault) {
    case Fault::kValid:
      return "valid";
    case Fault::kNoSuchOp:
      return where + "there is no " + op;
    case Fault::kOutOfOrder:
      return where + op + " runs before the op in front of it";
    case Fault::kNotMade:
      return where + op + " reads tensor " + std::to_string(verdict.fault_tensor) +
             ", which was not made before";
    case Fault::kNotRecomputable:
      return where + op + " may not run again";
    case Fault::kMissing:
      return op + " never runs";
  }
  return {};
}

Sequence without_unread_repeats(const Problem& problem, const Sequence& sequence) {
  std::vector<char> ran(problem.op_count(), 0);
  std::vector<char> first(sequence.size(), 0);
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    first[at] = ran[sequence[at]] == 0;
    ran[sequence[at]] = 1;
  }
  std::vector<char> wanted(problem.tensor_count(), 0);
  for (TensorIndex t = 0; t < problem.tensor_count(); ++t) wanted[t] = problem.tensor(t).keep;
  Sequence result;
  for (std::size_t at = sequence.size(); at-- > 0;) {
    const OpIndex op = sequence[at];
    bool read = false;
    for (const TensorIndex tensor : problem.outputs(op)) read = read || wanted[tensor] != 0;
    if (first[at] == 0 && !read) continue;
    for (const TensorIndex tensor : problem.outputs(op)) wanted[tensor] = 0;
    for (const TensorIndex tensor : problem.inputs(op)) wanted[tensor] = 1;
    result.push_back(op);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

Need needs_at_least(const Problem& problem) {
  // Last reader, in the order of first runs, of each tensor that cannot come again.
  std::vector<std::int64_t> held(std::size_t{problem.op_count()} + 1, 0);
  std::vector<OpIndex> last(problem.tensor_count(), kNone);
  for (OpIndex op = 0; op < problem.op_count(); ++op) {
    for (const TensorIndex tensor : problem.inputs(op)) last[tensor] = op;
  }
  for (TensorIndex t = 0; t < problem.tensor_count(); ++t) {
    const Tensor& tensor = problem.tensor(t);
    if (tensor.producer == kNone || problem.op(tensor.producer).recomputable) continue;
    if (tensor.keep) last[t] = problem.op_count() - 1;
    // The maker and the readers count it as input or output; here it is held between them.
    held[tensor.producer] += tensor.bytes;
    held[(last[t] == kNone ? tensor.producer : last[t]) + 1] -= tensor.bytes;
  }
  Need need;
  std::int64_t sum = 0;
  for (OpIndex op = 0; op < problem.op_count(); ++op) {
    sum += held[op];
    std::int64_t bytes = sum + problem.op(op).workspace;
    const auto add_recomputable = [&](TensorIndex t) {
      const OpIndex producer = problem.tensor(t).producer;
      if (producer != kNone && problem.op(producer).recomputable) bytes += problem.tensor(t).bytes;
    };
    for (const TensorIndex tensor : problem.inputs(op)) add_recomputable(tensor);
    for (const TensorIndex tensor : problem.outputs(op)) add_recomputable(tensor);
    if (need.op == kNone || bytes > need.bytes) need = {bytes, op};
  }
  return need;
}

}  // namespace tidemark::remat
