#pragma once
// Activation checkpointing as torch.utils.checkpoint does it.

#include <functional>
#include <vector>

#include "graph/model.hpp"
#include "graph/tape.hpp"

namespace tidemark {

// Keeps x, runs `function` without keeping what it saves, replays it in backward. Of the ops that
// `how` caches it keeps all that they make; the replay takes that and does not run them.
// What else is in `how` but the segments counts. `constants` are other tensor arguments (masks,
// rotary tables): the checkpoint holds them.
Value checkpoint(const Value& x, std::vector<Value> constants, const Checkpointing& how,
                 PieceFunction function);

// Runs a non-reentrant checkpoint's function again and hands each waiting node what it saves.
void replay_checkpoint(Tape& tape, std::uint32_t checkpoint);

// A node that a checkpoint waits for has run: the last one lets go of the checkpoint's arguments.
void leave_checkpoint(Tape& tape, std::uint32_t checkpoint);

}  // namespace tidemark
