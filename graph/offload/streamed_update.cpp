#include "graph/offload/streamed_update.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "graph/buckets.hpp"
#include "graph/offload/pool.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

std::array<TensorId, 3> states_of(const StepGraph& graph, std::uint32_t parameter) {
  const Parameter& found = graph.parameters[parameter];
  return {found.master == found.weight ? kNoTensor : found.master, found.states[0],
          found.states[1]};
}

struct States {
  std::vector<BufferId> buffers;  // in HBM
  Bytes bytes;
  OpId first = kNoOp;  // of the ops that use them
  OpId last{};
};

States states_of(const StepGraph& graph, const Departures& departures, const Stays& stays,
                 const Bucket& bucket) {
  States states;
  for (const std::uint32_t p : bucket.parameters) {
    for (const TensorId tensor : states_of(graph, p)) {
      if (tensor == kNoTensor) continue;
      const Stay uses = departures.uses(tensor, 0);
      states.buffers.push_back(stays.buffer_of_stay(tensor, 0));
      states.bytes += graph.tensor(tensor).bytes;
      states.first = std::min(states.first, uses.first);
      states.last = std::max(states.last, uses.last);
    }
  }
  return states;
}

OpId last_of_backward(const StepGraph& graph) {
  for (auto op = static_cast<std::uint32_t>(graph.op_count()); op-- > 0;) {
    if (graph.ops[op].phase == Phase::kBackward) return OpId{op};
  }
  return kNoOp;
}

}  // namespace

void leave_states(const StepGraph& graph, Departures& departures) {
  for (std::uint32_t p = 0; p < graph.parameters.size(); ++p) {
    if (graph.parameters[p].update != UpdateOn::kStreamed) continue;
    for (const TensorId tensor : states_of(graph, p)) {
      if (tensor == kNoTensor) continue;
      const Tensor& state = graph.tensor(tensor);
      ensure(state.initial() && !state.persistent(), "a state that comes is let go of in the step");
      departures.arrive(tensor);
      departures.leave(tensor, state.last_use);
    }
  }
}

void stream_states(Mover& mover, const Departures& departures, const Stays& stays,
                   const Offload& offload) {
  const StepGraph& graph = mover.graph();
  const std::vector<Bucket> buckets = gradient_buckets(graph, offload.bucket, UpdateOn::kStreamed);
  const bool on_ssd = offload.optimizer == Offload::States::kSsd;
  std::vector<States> states;
  Bytes largest, masters, moments;
  for (const Bucket& bucket : buckets) {
    states.push_back(states_of(graph, departures, stays, bucket));
    largest = std::max(largest, states.back().bytes);
    for (const std::uint32_t p : bucket.parameters) {
      const std::array<TensorId, 3> tensors = states_of(graph, p);
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i] != kNoTensor) (i == 0 ? masters : moments) += graph.tensor(tensors[i]).bytes;
      }
    }
  }
  const Tier tier = on_ssd ? Tier::kSsd : Tier::kHost;
  const std::string where = on_ssd ? " on the SSD" : " on the host";
  mover.keep(tier, Category::kMasterWeights, masters, "master weights" + where);
  mover.keep(tier, Category::kOptimizerState, moments, "optimizer states" + where);

  const std::int64_t most = offload.overlap ? offload.buffers : 1;
  const auto in_flight = static_cast<std::size_t>(most);
  std::optional<Pool> pool;
  if (on_ssd) pool.emplace(mover, most, buckets.size(), largest, "state buffer");
  const OpId backward_end = last_of_backward(graph);
  std::vector<InstanceId> left;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const std::string name = "states of bucket " + std::to_string(i);
    std::optional<InstanceId> read;
    if (on_ssd) {
      read = mover.read(states[i].bytes, name + " from the SSD");
      pool->begin(i, *read);
    }
    const InstanceId in = mover.copy_in(states[i].bytes, name + " to the GPU");
    mover.after(in, backward_end);
    if (i >= in_flight) mover.depend(in, left[i - in_flight]);
    mover.before(states[i].first, in);
    const InstanceId out = mover.copy_out(states[i].bytes, name + " to the host");
    mover.after(out, states[i].last);
    for (const BufferId buffer : states[i].buffers) {
      mover.use(in, buffer);
      mover.use(out, buffer);
    }
    left.push_back(out);
    if (!on_ssd) continue;
    mover.depend(in, *read);
    pool->use(i, in);
    pool->use(i, out);
    const InstanceId write = mover.write(states[i].bytes, name + " to the SSD");
    mover.depend(write, out);
    pool->end(i, write);
  }
}

}  // namespace tidemark
