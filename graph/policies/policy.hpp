#pragma once
// Which blocks a step recomputes instead of keeping what they save. One file and one row of
// table.cpp a policy.
//
//   layers 5, every-n with n = 2:  segments [0, 2) [2, 4) [4, 5)
//
// Contract: a policy is a pure function of its input. The segments that it returns are disjoint,
// ascending, not empty, and inside [0, layers).

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/model.hpp"
#include "graph/option.hpp"

namespace tidemark {

struct PolicyInput {
  std::int64_t layers = 0;                // at least 1
  std::span<const std::int64_t> options;  // one value for each row of Policy::options, in order
};

using PolicyFn = std::vector<Segment>(const PolicyInput&);

struct Policy {
  std::string_view name;
  std::string_view summary;             // one line
  std::span<const OptionSpec> options;  // whole numbers only
  PolicyFn* segments;
};

std::span<const Policy> policies();

// Null: there is none of that name.
const Policy* find_policy(std::string_view name);

}  // namespace tidemark
