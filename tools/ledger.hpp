#pragma once
// The account that people do on paper, before any simulation: what each parameter costs in bytes,
// and what one block keeps from forward to backward. Read off the lowered graph, so it is what the
// simulation will hold.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/dtype.hpp"
#include "graph/op.hpp"
#include "graph/shape.hpp"
#include "hardware/units.hpp"
#include "scenarios/scenario.hpp"

namespace tidemark::tools {

// Parameters, gradients, master weights, and each optimizer state by its name.
struct LedgerComponent {
  std::string name;
  Bytes bytes;
};

struct SavedTensor {
  std::string name;
  Shape shape;
  DType dtype{};
  Bytes bytes;
  Module module{};                    // part of the block that makes it
  std::vector<std::string> saved_by;  // autograd nodes that keep it, one may stand for several
};

// What one option's other value would change, each lowered anew.
struct OptionEffect {
  std::string yaml;  // "kernels: {attention: flash}"
  Bytes saved_of_layer;
  Bytes saved;  // of the whole model, outside the blocks included
};

struct Ledger {
  std::int64_t parameters = 0;  // trainable elements
  std::vector<LedgerComponent> components;
  Bytes states;           // sum of the components
  Bytes gradient_copies;  // fp32, that the update makes of 16-bit gradients before its first kernel
  std::int64_t layers = 0;
  std::int64_t layer = 0;          // whose tensors are listed: the middle one
  std::vector<SavedTensor> saved;  // in the order in which forward makes them
  Bytes saved_of_layer;            // sum of `saved`
  Bytes saved_of_all_layers;
  Bytes saved_in_all;  // with what is saved outside the blocks, such as for the loss
};

// Of one micro-batch, with nothing recomputed and everything on the GPU: what strategies start
// from.
Ledger make_ledger(const scenarios::RunSpec& run);

// Every other value of every `kernels` option that the run can take, recomputing each block, and
// dropout switched off: what a block and the model would save then.
std::vector<OptionEffect> option_effects(const scenarios::RunSpec& run);

// What the run saves with its own checkpoint policy, of one micro-batch; nothing where the policy
// plans for a budget of HBM, which takes simulations.
std::optional<OptionEffect> saved_as_it_is(const scenarios::RunSpec& run);

// The ledger of one run of a scenario.
struct RunLedger {
  const scenarios::RunSpec* run = nullptr;
  Ledger ledger;
  std::vector<OptionEffect> effects;
  std::optional<OptionEffect> as_it_is;  // saved_as_it_is()
};

struct ScenarioLedgers {
  std::string name;
  std::vector<RunLedger> runs;
};

std::string ledger_json(std::span<const ScenarioLedgers> scenarios);
// A row a component ("state"), a tensor ("saved") and an option ("option") of each run, and one of
// what the run saves as it is ("policy").
std::string ledger_csv(std::span<const ScenarioLedgers> scenarios);

}  // namespace tidemark::tools
