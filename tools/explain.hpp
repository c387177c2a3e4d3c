#pragma once
// Why a run is as it is: what each kind of block keeps, makes again and moves; and sentences on its
// peak, on what holds it up and on what helps most, each of them simulated.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op.hpp"
#include "graph/remat/drawing.hpp"
#include "hardware/units.hpp"
#include "scenarios/scenario.hpp"
#include "tools/analysis/sensitivity.hpp"
#include "tools/changes.hpp"
#include "tools/evaluate.hpp"
#include "tools/report.hpp"

namespace tidemark::tools {

// A tensor of a block's forward that backward needs.
struct ExplainedTensor {
  std::string name;
  Module module{};
  Bytes bytes;
  remat::Drawn fate{};
  SimTime recompute{};  // of the op that makes it again
  SimTime alive{};      // in HBM, all its instances together; the longest of the blocks

  bool same_kind(const ExplainedTensor& other) const {
    return name == other.name && module == other.module && bytes == other.bytes &&
           fate == other.fate;
  }
};

// Neighbouring blocks that treat their tensors alike.
struct ExplainedBlocks {
  int first = 0, last = 0;
  std::vector<ExplainedTensor> tensors;
  Bytes kept, recomputed, moved;  // of one block
  SimTime recompute{};            // of one block: every op that runs again
};

struct Explanation {
  ExplainedBlocks before;  // what blocks read of what is made ahead of them: the first one's input
  std::vector<ExplainedBlocks> blocks;  // of the steady step's first pass
  // By tensor of the steady step: what becomes of it, whichever instance of it backward reads.
  std::vector<remat::Drawn> drawn;
};

Explanation explain_blocks(const scenarios::RunSpec& run, const KeptSteps& steps);

// A change, and the run with it.
struct Helpful {
  Change change;
  Report report;
};

// Of single changes; each answer is better in its way than the run, and of several that are equally
// good it is the one that is better in the other way.
struct WhatHelps {
  std::size_t tried = 0;
  std::optional<Helpful> fastest;   // of those that fit; any, where the run itself does not
  std::optional<Helpful> smallest;  // needs least HBM
  bool one_for_both = false;
  std::vector<Effect> machine;  // each figure of the machine 10 % better, what saves most first
};

// Plays every change that leaves training as it is (tools/changes.hpp), of a run that fits those
// that take more memory as well; and the run on better machines.
WhatHelps what_helps(const scenarios::RunSpec& run, const Report& report);

// Sentences, each a line of text.
std::vector<std::string> sentences(const Report& report, const WhatHelps& help);

std::string blocks_text(const Explanation& explanation);

struct ExplainedRun {
  std::string label;  // strategy and point of the sweep
  Report report;
  WhatHelps help;
  std::optional<Explanation> explanation;
};

struct ExplainedScenario {
  std::string name;
  std::vector<ExplainedRun> runs;
};

// The same figures as the text; one scenario is one object, several are an array of them. Units
// stand in the names.
std::string explanation_json(std::span<const ExplainedScenario> scenarios);

// The tables of the blocks, a line a tensor.
std::string explanation_csv(std::span<const ExplainedScenario> scenarios);

// What became of a tensor, for programs: "kept", "made_again", "moved", "gone".
std::string_view name_of_fate(remat::Drawn fate);

}  // namespace tidemark::tools
