#include "graph/models/script.hpp"

#include "graph/checkpoint.hpp"
#include "graph/ops/ops.hpp"

namespace tidemark {

Value Script::parameter(const Shape& shape, std::string_view name) {
  const bool full = input.training.precision == Precision::kFp32 || autocast();
  const DType dtype = full ? DType::kF32 : DType::kBf16;
  TrainedTensor trained;
  trained.weight = tape.initial(shape, dtype, Category::kParameters, name);
  trained.leaf = tape.make_leaf(trained.weight);
  tape.leaves()[trained.leaf].parameter = true;
  parameters.push_back(trained);
  return trained.weight;
}

Value Script::weight(const Value& x) {
  if (!autocast() || !x) return x;
  const auto [known, made] = copy_of_.try_emplace(x->storage, weight_copies_.size());
  if (made) weight_copies_.push_back(to_copy(x, DType::kBf16));
  return weight_copies_[known->second];
}

void Script::forget_weight_copies() {
  weight_copies_.clear();
  copy_of_.clear();
}

Value Script::low(const Value& x) { return autocast() ? to_copy(x, DType::kBf16) : x; }

Value Script::high(const Value& x) { return autocast() ? to_copy(x, DType::kF32) : x; }

Value Script::fused_attention(const Value& q, const Value& k, const Value& v) {
  if (!autocast() || input.kernels.autocast_attention == Kernels::AutocastAttention::k113) {
    return flash_attention(q, k, v);
  }
  const Value low_v = low(v), low_k = low(k), low_q = low(q);
  return flash_attention(low_q, low_k, low_v);
}

Value Script::project(const Value& x, const Value& w, const Value& bias) {
  const Value cast_bias = weight(bias);
  const Value cast_weight = weight(w);
  const Value operand = low(x);
  return linear(operand, cast_weight, cast_bias);
}

Value Script::drop(const Value& x) { return model.dropout ? dropout(x) : x; }

Value Script::run_segment(Segment segment, const Value& x, const std::vector<Value>& constants) {
  const bool leaves_autocast = autocast() && tape.phase == Phase::kRecompute;
  Value y = x;
  try {
    for (std::int64_t i = segment.first; i < segment.last; ++i) {
      tape.layer = static_cast<std::int16_t>(i);
      y = block(i, y, constants);
    }
  } catch (const StopRecomputation&) {
    if (leaves_autocast) forget_weight_copies();
    throw;
  }
  if (leaves_autocast) forget_weight_copies();
  return y;
}

Value Script::run_blocks(Value x, const std::vector<Value>& constants) {
  std::size_t next = 0;
  const std::vector<Segment>& segments = input.checkpointing.segments;
  for (std::int64_t i = 0; i < model.layers;) {
    tape.layer = static_cast<std::int16_t>(i);
    if (next < segments.size() && segments[next].first == i) {
      const Segment segment = segments[next++];
      x = checkpoint(x, constants, input.checkpointing,
                     [this, segment](const Value& h, const std::vector<Value>& extra) {
                       return run_segment(segment, h, extra);
                     });
      i = segment.last;
    } else {
      x = block(i, x, constants);
      ++i;
    }
  }
  tape.layer = -1;
  return x;
}

// F.cross_entropy over all positions. Under autocast log_softmax keeps the type of 16-bit logits,
// for it is called with that type (aten/src/ATen/native/LossNLL.cpp, cross_entropy_loss), but
// nll_loss is on the list of functions that compute in fp32.
Value Script::loss_of(const Value& logits, const Value& labels) {
  const std::int64_t rows = logits.shape().elements() / logits.size(-1);
  const Value flat_logits = view(logits, Shape{rows, logits.size(-1)});
  const Value flat_labels = reshape(labels, Shape{rows});
  const Value log_probabilities = high(log_softmax(flat_logits));
  return nll_loss(log_probabilities, flat_labels);
}

Outcome Script::finish(Value logits, const Value& labels) {
  const Scope scope(tape, Module::kLoss);
  Outcome outcome;
  switch (input.kernels.loss) {
    case Kernels::Loss::kNative: {
      outcome.loss = loss_of(logits, labels);
      break;
    }
    case Kernels::Loss::kFp32: {
      const Value upcast = to_copy(logits, DType::kF32);
      outcome.loss = loss_of(upcast, labels);
      break;
    }
    case Kernels::Loss::kFp32Shift: {
      logits = to_copy(logits, DType::kF32);
      const std::int64_t shifted = logits.size(1) - 1;
      const Value all =
          slice(slice(slice(logits, 0, logits.size(0)), 1, shifted), 2, logits.size(2));
      const Value shifted_logits = contiguous(all);
      const Value shifted_labels = contiguous(slice(slice(labels, 0, labels.size(0)), 1, shifted));
      outcome.loss = loss_of(shifted_logits, shifted_labels);
      break;
    }
  }
  forget_weight_copies();
  if (input.kernels.keep_logits) outcome.logits = std::move(logits);
  return outcome;
}

}  // namespace tidemark
