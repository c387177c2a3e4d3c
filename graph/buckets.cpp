#include "graph/buckets.hpp"

#include <algorithm>
#include <utility>

#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

// kNoOp comes before every op.
std::uint32_t place(OpId op) { return index(op) + 1; }

OpId later(OpId a, OpId b) { return place(a) < place(b) ? b : a; }

std::vector<OpId> last_accesses(const StepGraph& graph) {
  std::vector<OpId> last(graph.tensors.size(), kNoOp);
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    for (const TensorId tensor : graph.inputs_of(OpId{op})) last[index(tensor)] = OpId{op};
    for (const TensorId tensor : graph.updated_by(OpId{op})) last[index(tensor)] = OpId{op};
  }
  return last;
}

}  // namespace

std::vector<OpId> first_overwrites(const StepGraph& graph) {
  std::vector<OpId> ready(graph.tensors.size(), kNoOp);
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.gradient != kNoTensor) {
      ready[index(parameter.gradient)] = parameter.gradient_ready;
    }
  }
  std::vector<OpId> first(graph.tensors.size(), kNoOp);
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    for (const TensorId tensor : graph.updated_by(OpId{op})) {
      const OpId complete = ready[index(tensor)];
      if (complete == kNoOp || op <= index(complete)) continue;
      if (first[index(tensor)] == kNoOp) first[index(tensor)] = OpId{op};
    }
  }
  return first;
}

std::vector<std::vector<std::uint32_t>> bucket_rows(const StepGraph& graph, Bytes most,
                                                    UpdateOn kind) {
  ensure(most.count > 0, "a bucket has room");
  std::vector<std::uint32_t> order;
  for (std::uint32_t p = 0; p < graph.parameters.size(); ++p) {
    const Parameter& parameter = graph.parameters[p];
    if (parameter.gradient != kNoTensor && parameter.update == kind) order.push_back(p);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return place(graph.parameters[a].gradient_ready) < place(graph.parameters[b].gradient_ready);
  });
  std::vector<std::vector<std::uint32_t>> rows;
  Bytes filled;
  for (const std::uint32_t p : order) {
    const Bytes gradient = graph.tensor(graph.parameters[p].gradient).bytes;
    if (rows.empty() || filled + gradient > most) {
      rows.emplace_back();
      filled = Bytes(0);
    }
    rows.back().push_back(p);
    filled += gradient;
  }
  return rows;
}

std::vector<Bucket> gradient_buckets(const StepGraph& graph, Bytes most, UpdateOn kind) {
  const std::vector<OpId> last_access = last_accesses(graph);
  const std::vector<OpId> overwrites = first_overwrites(graph);
  std::vector<Bucket> buckets;
  for (std::vector<std::uint32_t>& rows : bucket_rows(graph, most, kind)) {
    Bucket bucket;
    for (const std::uint32_t p : rows) {
      const Parameter& parameter = graph.parameters[p];
      bucket.elements += parameter.elements;
      bucket.gradients += graph.tensor(parameter.gradient).bytes;
      bucket.weights += graph.tensor(parameter.weight).bytes;
      bucket.ready = later(bucket.ready, parameter.gradient_ready);
      bucket.overwritten = std::min(bucket.overwritten, overwrites[index(parameter.gradient)]);
      bucket.last_read = later(bucket.last_read, last_access[index(parameter.weight)]);
    }
    bucket.parameters = std::move(rows);
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

}  // namespace tidemark
