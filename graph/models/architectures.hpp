#pragma once
// One function an architecture: makes its parameters on the tape and returns its script.
// To add one: a file like gpt.cpp, a row in architectures.cpp, a value of Architecture.

#include <memory>
#include <span>
#include <string_view>

#include "graph/models/script.hpp"

namespace tidemark {

using MakeScript = std::unique_ptr<Script>(Tape& tape, const LoweringInput& input);

MakeScript make_gpt, make_gpt2, make_llama, make_cs336;

struct ArchitectureRow {
  Architecture architecture;
  std::string_view name;
  std::string_view summary;
  MakeScript* make;
};

std::span<const ArchitectureRow> architectures();
const ArchitectureRow& row_of(Architecture architecture);

}  // namespace tidemark
