#include "graph/checkpoint.hpp"

#include <utility>

#include "graph/autograd.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {

namespace {

// Reentrant: one node for the whole piece; its backward builds the piece's own graph on a detached
// copy of the input and runs a backward inside (torch/utils/checkpoint.py, CheckpointFunction).
Gradients replay_and_go_back(Tape& tape, Node& node, const Gradients& outputs) {
  const Checkpoint& piece = tape.checkpoints()[static_cast<std::size_t>(node.numbers[0])];
  const std::size_t nodes_before = tape.nodes().size();
  const Value detached = tape.alias_of(node.saved[0], node.saved[0].layout());
  const std::uint32_t leaf = tape.make_leaf(detached);
  Value result;
  {
    const GradientMode on(tape, true);
    const Phase before = std::exchange(tape.phase, Phase::kRecompute);
    const std::int16_t layer = tape.layer;
    const Module module = tape.module;
    result = piece.function(detached, piece.constants);
    tape.layer = layer;
    tape.module = module;
    tape.phase = before;
  }
  backward(tape, result, outputs[0]);
  Value gradient = std::move(tape.leaves()[leaf].gradient);
  tape.leaves().pop_back();
  tape.nodes().resize(nodes_before);
  return {std::move(gradient)};
}

constexpr DerivativeRule kCheckpointRule = {"checkpoint", replay_and_go_back};

}  // namespace

Value checkpoint(const Value& x, std::vector<Value> constants, const Checkpointing& how,
                 PieceFunction function) {
  Tape& tape = x.tape();
  const std::uint32_t id = static_cast<std::uint32_t>(tape.checkpoints().size());
  tape.checkpoints().emplace_back();
  Checkpoint& piece = tape.checkpoints().back();
  piece.function = std::move(function);
  piece.constants = std::move(constants);
  piece.early_stop = how.early_stop;
  if (!how.reentrant) {
    piece.input = x;  // held by the closure until the piece's last saved tensor is gone
    tape.graph().tensors[x->storage].saved = true;
    tape.graph().saves.push_back(
        {TensorId{x->storage}, tape.intern(kCheckpointRule.name), tape.last_op()});
    piece.cache = OpCache(how.cached);
    SavedTensorHooks hooks;
    hooks.checkpoint = id;
    hooks.cache = &piece.cache;
    SavedTensorHooks* const before = std::exchange(tape.hooks, &hooks);
    Value y = piece.function(x, piece.constants);
    tape.hooks = before;
    tape.end_of_cached_ops();
    piece.cache.count_anew();
    piece.places = std::move(hooks.places);
    return y;
  }
  ensure(how.cached.kinds.empty(), "a reentrant checkpoint caches no ops");
  Value y;
  {
    const GradientMode off(tape, false);
    y = piece.function(x, piece.constants);
  }
  if (Node* node = tape.differentiate(kCheckpointRule, {&x}, {&y})) {
    node->numbers[0] = id;
    node->checkpoint = id;
    piece.nodes_waiting = 1;
    tape.save(*node, x);
  }
  return y;
}

void replay_checkpoint(Tape& tape, std::uint32_t id) {
  Checkpoint& piece = tape.checkpoints()[id];
  if (piece.replayed) return;
  piece.replayed = true;
  SavedTensorHooks hooks;
  hooks.replay = true;
  hooks.cache = &piece.cache;
  if (piece.early_stop) hooks.stop_after = piece.places.size();
  bool last_op_runs = true;
  {
    const GradientMode on(tape, true);
    SavedTensorHooks* const hooks_before = std::exchange(tape.hooks, &hooks);
    const Phase before = std::exchange(tape.phase, Phase::kRecompute);
    const std::int16_t layer = tape.layer;
    const Module module = tape.module;
    const std::size_t nodes_before = tape.nodes().size();
    try {
      piece.function(piece.input, piece.constants);
    } catch (const StopRecomputation& stop) {
      last_op_runs = stop.last_op_runs;
    }
    if (!last_op_runs) tape.take_back_last_op();
    tape.nodes().resize(nodes_before);
    tape.layer = layer;
    tape.module = module;
    tape.phase = before;
    tape.hooks = hooks_before;
    tape.end_of_cached_ops();
  }
  ensure(hooks.caught.size() == piece.places.size(), "a replay saves what the first run saved");
  for (std::size_t i = 0; i < piece.places.size(); ++i) {
    const SavedTensorHooks::Place place = piece.places[i];
    Node& node = tape.nodes()[place.node];
    if (node.recompute == id) node.saved[place.slot] = std::move(hooks.caught[i]);
  }
  for (const SavedTensorHooks::Place place : piece.places) {
    Node& node = tape.nodes()[place.node];
    if (node.recompute == id) node.recompute = kNoNode;
  }
}

void leave_checkpoint(Tape& tape, std::uint32_t id) {
  Checkpoint& piece = tape.checkpoints()[id];
  if (--piece.nodes_waiting > 0) return;
  piece.input.reset();
  piece.constants.clear();
  piece.cache.clear();
}

}  // namespace tidemark
