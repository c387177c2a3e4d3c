#pragma once
// The integer program of keep_ilp.hpp as plain arrays, for whatever solver.

#include <cstdint>
#include <vector>

#include "graph/remat/chain.hpp"
#include "graph/remat/ilp_model.hpp"
#include "graph/remat/keep_ilp.hpp"
#include "graph/remat/moves.hpp"

namespace tidemark::remat {

class KeepModel {
 public:
  KeepModel(const Problem& problem, const Chain& chain, std::int64_t room, const Moves* moves);

  const IlpModel& model() const { return model_; }                        // costs in microseconds
  double time_of_all() const { return time_of(0, problem_.op_count()); }  // likewise
  // `bound`: no values cost less.
  KeepChoice choice_of(const std::vector<double>& values, double bound) const;

 private:
  static constexpr std::uint32_t kNothing = IlpModel::kZero;

  std::uint32_t add_variable(double cost, bool integer, double high = 1);
  void add_variables(const Stage& stage);
  void add_rows(const Stage& stage);
  void require(TensorIndex tensor, const std::uint32_t* reader);
  void add_memory(std::int64_t room);
  void add_room_in_backward(std::int64_t room);
  void add_host_room();
  void add_copies_out();
  void add_copies_back();
  double time_of(OpIndex begin, OpIndex end) const;
  std::size_t stage_of(OpIndex op) const;
  std::size_t read_first_by(TensorIndex tensor) const;

  const Problem& problem_;
  const Chain& chain_;
  const Moves* moves_;
  Readers readers_;
  std::vector<std::uint32_t> keep_;   // by tensor; kOne: stays unless it moves
  std::vector<std::uint32_t> move_;   // by tensor; kZero: does not
  std::vector<std::uint32_t> again_;  // by op; kZero: does not run again
  IlpModel model_;
};

}  // namespace tidemark::remat
