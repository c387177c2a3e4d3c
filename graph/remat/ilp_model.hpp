#pragma once
// The integer program of ilp.hpp as plain arrays, for whatever solver.

#include <cstdint>
#include <limits>
#include <vector>

#include "graph/remat/problem.hpp"

namespace tidemark::remat {

struct IlpModel {
  static constexpr std::uint32_t kZero = 0xffffffffu;  // a variable that is always 0
  static constexpr std::uint32_t kOne = 0xfffffffeu;   // or 1

  struct Term {
    std::uint32_t variable = 0;
    double factor = 0;
  };
  struct Row {
    std::vector<Term> terms;
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
  };

  std::uint32_t op_count = 0, tensor_count = 0;
  std::vector<std::uint32_t> run;   // R, by stage * op_count + op
  std::vector<std::uint32_t> stay;  // S, by stage * tensor_count + tensor; one stage more than ops
  std::vector<double> cost, low, high;  // one entry a variable
  std::vector<char> integer;
  std::vector<Row> rows;
  double time_unit = 1;  // picoseconds
};

// Bytes in units in which sums stay exact in a double, rounded up where that has to be.
IlpModel ilp_model(const Problem& problem, std::int64_t budget);

// The sequence of a solution, one value a variable.
Sequence sequence_of(const IlpModel& model, const std::vector<double>& solution);

// R and S of a sequence, one value a variable; others 0.
std::vector<double> solution_of(const IlpModel& model, const Problem& problem,
                                const Sequence& sequence);

}  // namespace tidemark::remat
