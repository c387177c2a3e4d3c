#pragma once
// What the training scripts of all architectures share: parameters, precision rules, blocks under
// checkpoints, and the loss. An architecture derives its forward from this; nothing else is needed.
//
// Variables in these scripts live as long as their Python namesakes do, because that decides what
// is alive at once. A temporary that Python drops in the middle of an expression is dropped by
// hand.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/model.hpp"
#include "graph/optimizers/optimizer.hpp"
#include "graph/tape.hpp"

namespace tidemark {

// A parameter as the optimizer knows it, in the order of the module's parameters().
struct TrainedTensor {
  Value weight;
  std::uint32_t leaf = kNoNode;
};

struct Batch {
  Value tokens;     // [b, s]
  Value positions;  // [b, s]
  Value labels;     // [b, s]
};

struct Outcome {
  Value loss;
  Value logits;  // empty unless the script keeps the model's output
};

class Script {
 public:
  Script(Tape& on, const LoweringInput& from) : tape(on), input(from), model(from.model) {}
  virtual ~Script() = default;
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  virtual Outcome forward(const Batch& batch) = 0;
  virtual const OptimizerRow& optimizer() const { return row_of(input.training.optimizer); }

  std::vector<TrainedTensor> parameters;

 protected:
  // One block. `constants` are what forward() handed to run_blocks.
  virtual Value block(std::int64_t index, const Value& x, const std::vector<Value>& constants) = 0;
  // The loss over all positions of logits [b, s, vocab] and labels [b, s]: F.cross_entropy.
  virtual Value loss_of(const Value& logits, const Value& labels);

  Value parameter(const Shape& shape, std::string_view name);
  bool autocast() const { return input.training.precision == Precision::kAutocast; }
  // Autocast casts the operands of a function from the last to the first, as g++ evaluates
  // arguments (aten/src/ATen/autocast_mode.h, WrapFunction_); scripts cast in that order.
  // Under autocast: the 16-bit copy of a parameter, made once and kept until the pass ends; else
  // itself.
  Value weight(const Value& parameter);
  Value low(const Value& x);   // under autocast: a 16-bit copy of an activation
  Value high(const Value& x);  // under autocast: an fp32 copy
  // Fused attention over [b, s, heads, head_dim], with autocast's casts of its operands.
  Value fused_attention(const Value& q, const Value& k, const Value& v);
  Value project(const Value& x, const Value& weight, const Value& bias);  // F.linear
  Value drop(const Value& x);  // dropout, if the model has any

  // The caller's own variable keeps the first input until this returns.
  Value run_blocks(Value x, const std::vector<Value>& constants);
  // Takes the logits out of the caller's hands, as the interpreter's call does.
  Outcome finish(Value logits, const Value& labels);

  Tape& tape;
  const LoweringInput& input;
  const ModelConfig& model;

 private:
  Value run_segment(Segment segment, const Value& x, const std::vector<Value>& constants);

  void forget_weight_copies();

  std::vector<Value> weight_copies_;  // in the order in which they were made, and go again
  std::unordered_map<std::uint32_t, std::size_t> copy_of_;  // by storage of the parameter
};

}  // namespace tidemark
