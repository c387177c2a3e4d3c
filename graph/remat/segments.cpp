#include "graph/remat/segments.hpp"

#include <algorithm>

namespace tidemark::remat {

std::vector<std::size_t> every(std::size_t stages, std::size_t size) {
  std::vector<std::size_t> segments;
  for (std::size_t first = 0; first < stages; first += size) {
    segments.push_back(std::min(size, stages - first));
  }
  return segments;
}

std::vector<std::size_t> sqrt_segments(std::size_t stages) {
  std::size_t root = 0;
  while ((root + 1) * (root + 1) <= stages) ++root;
  return every(stages, root);
}

std::vector<std::size_t> greedy_segments(std::span<const std::int64_t> stage_bytes,
                                         std::int64_t most) {
  std::vector<std::size_t> segments;
  std::size_t length = 0;
  std::int64_t bytes = 0;
  for (const std::int64_t stage : stage_bytes) {
    ++length;
    bytes += stage;
    if (bytes <= most) continue;
    segments.push_back(length);
    length = 0;
    bytes = 0;
  }
  if (length > 0) segments.push_back(length);
  return segments;
}

std::vector<std::int64_t> saved_bytes(const Problem& problem, const Chain& chain) {
  const Readers reads = readers(problem);
  std::vector<std::int64_t> bytes;
  for (const Stage& stage : chain) {
    std::int64_t sum = 0;
    for (OpIndex op = stage.forward_begin; op < stage.forward_end; ++op) {
      for (const TensorIndex tensor : problem.outputs(op)) {
        const auto all = reads.of(tensor);
        if (all.empty() || !problem.op(all.back()).backward) continue;
        sum += problem.tensor(tensor).bytes;
      }
    }
    bytes.push_back(sum);
  }
  return bytes;
}

std::vector<std::size_t> sequential_segments(std::size_t stages, std::size_t count) {
  std::vector<std::size_t> segments(count - 1, stages / count);
  segments.push_back(stages - (count - 1) * (stages / count));
  return segments;
}

Plan plan_of(const Problem& problem, const Chain& chain, const SegmentRule& rule) {
  Plan plan = plan_of_everything(problem);
  plan.when = rule.when;
  plan.how = rule.how;
  const Readers reads = readers(problem);
  std::size_t first = 0;
  for (std::size_t i = 0; i < rule.stages.size(); ++i) {
    const std::size_t last = first + rule.stages[i] - 1;
    const Stage segment = {.forward_begin = chain[first].forward_begin,
                           .forward_end = chain[last].forward_end,
                           .backward_begin = chain[last].backward_begin,
                           .backward_end = chain[first].backward_end};
    first = last + 1;
    if (rule.last_keeps && i + 1 == rule.stages.size()) break;
    for (OpIndex op = segment.forward_begin; op < segment.forward_end; ++op) {
      plan.segment[op] = static_cast<std::uint32_t>(i);
      for (const TensorIndex tensor : problem.outputs(op)) {
        plan.keep[tensor] = !inner(problem, reads, segment, tensor);
      }
    }
  }
  return plan;
}

}  // namespace tidemark::remat
