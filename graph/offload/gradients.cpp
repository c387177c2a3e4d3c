#include "graph/offload/gradients.hpp"

#include <algorithm>

#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

std::string of(std::size_t bucket) { return "gradients of bucket " + std::to_string(bucket); }

bool later(OpId a, OpId b) { return b == kNoOp || (a != kNoOp && index(a) > index(b)); }

}  // namespace

void leave_gradients(const StepGraph& graph, Departures& departures) {
  for (const PassGradient& gradient : graph.pass_gradients) {
    ensure(!graph.tensor(gradient.tensor).initial(), "gradients that leave are not kept");
    departures.leave(gradient.tensor, gradient.ready);
  }
  if (!graph.pass_gradients.empty()) return;
  const std::vector<OpId> overwrites = first_overwrites(graph);
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.gradient == kNoTensor) continue;
    // Gradients that are kept from step to step (accumulated into and zeroed, never set to none)
    // keep their place.
    const bool kept = graph.tensor(parameter.gradient).initial() ||
                      overwrites[index(parameter.gradient)] != kNoOp;
    if (kept) continue;
    if (parameter.update == UpdateOn::kElsewhere) {
      departures.leave(parameter.gradient, parameter.gradient_ready);
    }
  }
}

GradientMoves::GradientMoves(Mover& mover, const Departures& departures, const Stays& stays,
                             CpuUpdate& cpu, const Offload& offload,
                             const std::vector<Bucket>& buckets)
    : mover_(mover),
      departures_(departures),
      stays_(stays),
      cpu_(cpu),
      offload_(offload),
      buckets_(buckets) {
  const StepGraph& graph = mover.graph();
  if (!graph.pass_gradients.empty()) {
    passes_ = graph.pass_gradients.size() / graph.parameters.size();
  }
  OpId forward = kNoOp, backward = kNoOp;
  for (std::uint32_t op = 0; op < graph.op_count(); ++op) {
    const Phase phase = graph.ops[op].phase;
    if (phase == Phase::kBackward) {
      if (backward == kNoOp) backward_begins_after_.push_back(forward);
      backward = OpId{op};
    } else if (phase != Phase::kRecompute && backward != kNoOp) {
      backward_ends_.push_back(backward);
      backward = kNoOp;
    }
    if (phase == Phase::kForward) forward = OpId{op};
  }
  if (backward != kNoOp) backward_ends_.push_back(backward);
  complete_.assign(buckets_.size(), kNoInstance);
  away_.assign(buckets_.size(), kNoInstance);
  make_pools();
}

void GradientMoves::make_pools() {
  const std::size_t count = buckets_.size();
  if (count == 0) return;
  Bytes largest, all;
  for (const Bucket& bucket : buckets_) {
    largest = std::max(largest, bucket.gradients);
    all += bucket.gradients;
  }
  const bool adds = cpu_adds() && passes_ > 1;
  if (!on_ssd()) {
    for (std::size_t i = 0; i < count; ++i) {
      const Bytes bytes = buckets_[i].gradients;
      sums_.push_back(mover_.builder().add_buffer({.bytes = bytes,
                                                   .tier = Tier::kHost,
                                                   .category = Category::kGradients,
                                                   .persistent = offload_.delayed_update,
                                                   .name = mover_.name(of(i))}));
      if (!offload_.delayed_update) continue;
      previous_.push_back(
          mover_.builder().add_buffer({.bytes = bytes,
                                       .tier = Tier::kHost,
                                       .category = Category::kGradients,
                                       .initial = true,
                                       .name = mover_.name(of(i) + " of the step before")}));
    }
    if (adds) {
      arriving_.emplace(mover_, offload_.buffers, count * (passes_ - 1), largest,
                        "gradient buffer");
    }
    return;
  }
  mover_.keep(Tier::kSsd, Category::kGradients, all, "gradients on the SSD");
  if (offload_.delayed_update) {
    mover_.keep(Tier::kSsd, Category::kGradients, all, "gradients on the SSD of the step before");
  }
  arriving_.emplace(mover_, offload_.buffers, count * passes_, largest, "gradient buffer");
  // For each pass that adds to them, for their norm, and for the update.
  const std::size_t visits = passes_ + (offload_.clip ? 1 : 0);
  returning_.emplace(mover_, offload_.buffers, count * visits, largest,
                     "buffer for gradients from the SSD");
  if (adds) {
    reading_.emplace(mover_, offload_.buffers, count * (passes_ - 1), largest,
                     "buffer for sums of gradients");
  }
}

GradientMoves::Of GradientMoves::gradient(std::size_t pass, std::uint32_t parameter) const {
  const StepGraph& graph = mover_.graph();
  if (graph.pass_gradients.empty()) {
    const Parameter& only = graph.parameters[parameter];
    return {only.gradient, only.gradient_ready, 0};
  }
  const PassGradient& found = graph.pass_gradients[pass * graph.parameters.size() + parameter];
  return {found.tensor, found.ready, cpu_adds() ? 0 : pass};
}

void GradientMoves::add_early_passes() {
  for (std::size_t pass = 0; pass + 1 < passes_; ++pass) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) leave(pass, i, std::nullopt);
    if (cpu_adds()) continue;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      const auto ahead = static_cast<std::size_t>(offload_.buffers);
      OpId trigger = backward_begins_after_[pass + 1];
      if (i >= ahead) {
        for (const std::uint32_t p : buckets_[i - ahead].parameters) {
          const OpId ready = gradient(pass + 1, p).ready;
          if (later(ready, trigger)) trigger = ready;
        }
      }
      bring_back(i, pass + 1, trigger);
    }
  }
}

void GradientMoves::add_last_pass(std::size_t i, std::optional<InstanceId> wait) {
  leave(passes_ - 1, i, wait);
}

void GradientMoves::leave(std::size_t pass, std::size_t i, std::optional<InstanceId> wait) {
  const Bucket& bucket = buckets_[i];
  const InstanceId out = mover_.copy_out(bucket.gradients, of(i) + " to the host");
  for (const std::uint32_t p : bucket.parameters) {
    const Of left = gradient(pass, p);
    mover_.use(out, stays_.buffer_of_stay(left.tensor, left.stay));
  }
  OpId ready = kNoOp;
  for (const std::uint32_t p : bucket.parameters) {
    const Of left = gradient(pass, p);
    if (later(left.ready, ready)) ready = left.ready;
  }
  mover_.after(out, ready);
  if (offload_.gradients_leave == Offload::GradientsLeave::kAfterBackward &&
      pass < backward_ends_.size()) {
    mover_.after(out, backward_ends_[pass]);
  }
  if (wait) mover_.depend(out, *wait);
  if (bucket.overwritten != kNoOp) mover_.before(bucket.overwritten, out);
  away_[i] = out;
  if (on_ssd()) {
    add_to_ssd(pass, i, out);
  } else {
    add_to_host(pass, i, out);
  }
}

void GradientMoves::add_to_host(std::size_t pass, std::size_t i, InstanceId out) {
  if (pass == 0 || !cpu_adds()) {
    mover_.use(out, sums_[i]);
    complete_[i] = out;
    return;
  }
  arriving_->begin(arrived_, out);
  const InstanceId sum = cpu_.add(buckets_[i], "sum of " + of(i));
  mover_.depend(sum, out);
  mover_.depend(sum, complete_[i]);
  mover_.use(sum, sums_[i]);
  arriving_->end(arrived_++, sum);
  complete_[i] = sum;
}

void GradientMoves::add_to_ssd(std::size_t pass, std::size_t i, InstanceId out) {
  arriving_->begin(arrived_, out);
  InstanceId last = out;
  if (pass > 0 && cpu_adds()) {
    const InstanceId read = mover_.read(buckets_[i].gradients, of(i) + " from the SSD");
    reading_->begin(read_, read);
    mover_.depend(read, complete_[i]);
    last = cpu_.add(buckets_[i], "sum of " + of(i));
    mover_.depend(last, out);
    mover_.depend(last, read);
    arriving_->use(arrived_, last);
    reading_->end(read_++, last);
  }
  const InstanceId write = mover_.write(buckets_[i].gradients, of(i) + " to the SSD");
  mover_.depend(write, last);
  arriving_->end(arrived_++, write);
  complete_[i] = write;
}

InstanceId GradientMoves::read_back(std::size_t i, std::size_t& turn, bool previous) {
  const InstanceId read = mover_.read(buckets_[i].gradients, of(i) + " from the SSD");
  turn = returned_++;
  returning_->begin(turn, read);
  if (!previous) mover_.depend(read, complete_[i]);
  return read;
}

void GradientMoves::bring_to_cpu(std::size_t i) {
  if (on_ssd()) for_cpu_ = read_back(i, for_cpu_turn_, offload_.delayed_update);
}

void GradientMoves::give_to_cpu(std::size_t i, InstanceId update) {
  const bool previous = offload_.delayed_update;
  if (on_ssd()) {
    mover_.depend(update, for_cpu_);
    returning_->end(for_cpu_turn_, update);
    return;
  }
  mover_.use(update, previous ? previous_[i] : sums_[i]);
  if (!previous) mover_.depend(update, complete_[i]);
}

void GradientMoves::return_for_update(std::size_t i) {
  const auto ahead = static_cast<std::size_t>(offload_.buffers);
  OpId trigger = backward_ends_.back();
  if (i >= ahead) {
    for (const std::uint32_t p : buckets_[i - ahead].parameters) {
      const Of before = gradient(passes_ - 1, p);
      const OpId last = departures_.uses(before.tensor, before.stay + 1).last;
      if (later(last, trigger)) trigger = last;
    }
  }
  bring_back(i, passes_, trigger);
}

void GradientMoves::bring_back(std::size_t i, std::size_t pass, OpId trigger) {
  const Bucket& bucket = buckets_[i];
  std::size_t turn = 0;
  std::optional<InstanceId> read;
  if (on_ssd()) read = read_back(i, turn, false);
  // A backward waits for its gradients: they do not queue behind what the optimizer moves.
  const std::string name = of(i) + " back to the GPU";
  const InstanceId in = pass < passes_ ? mover_.fetch(bucket.gradients, name, -1)
                                       : mover_.copy_in(bucket.gradients, name);
  mover_.after(in, trigger);
  if (read) {
    mover_.depend(in, *read);
    returning_->end(turn, in);
  } else {
    mover_.depend(in, complete_[i]);
    mover_.use(in, sums_[i]);
  }
  OpId first = kNoOp;
  for (const std::uint32_t p : bucket.parameters) {
    const Of before = gradient(pass - 1, p);
    mover_.use(in, stays_.buffer_of_stay(before.tensor, before.stay + 1));
    first = std::min(first, departures_.uses(before.tensor, before.stay + 1).first);
  }
  mover_.before(first, in);
}

}  // namespace tidemark
