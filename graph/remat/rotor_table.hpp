#pragma once
// The table of rotor.hpp.

#include <cstdint>
#include <vector>

#include "graph/remat/rotor.hpp"

namespace tidemark::remat {

class RotorTable {
 public:
  // One way to go on in an interval.
  struct Move {
    enum class Kind : char {
      kKeep,      // run the branch's stages, keep what its option says, go on behind them
      kKeepLast,  // the same, and they are the interval's last
      kLazily,    // the interval's last: run nothing before its backward makes it again
      kSkip,      // run up to `next`, store its input
    };
    Kind kind = Kind::kKeep;
    std::size_t branch = 0;
    std::size_t next = 0;  // the stage behind
    float cost = 0;
    std::size_t from = 0;   // fewest units of memory
    std::size_t bytes = 0;  // units taken for what follows
  };

  // A move of that kind, with what it adds up, by level from `from` on.
  struct Skip {
    float cost = 0;
    std::size_t from = 0;
    const float* behind = nullptr;
    const float* front = nullptr;
  };

  // Bytes rounded up to units for a plan, down for a bound.
  RotorTable(const RotorInput& input, std::int64_t room, std::size_t levels, bool round_up);

  std::size_t units() const { return levels_ - 1; }
  // Nothing was rounded: a plan's table is a bound's as well.
  bool exact() const { return exact_; }
  // At the levels that an interval can be left with from the top.
  float value(std::size_t first, std::size_t last, std::size_t units) const {
    return row(first, last)[units];
  }
  // What value() is made of; it must not be infinite.
  Move best(std::size_t first, std::size_t last, std::size_t units) const;

 private:
  std::uint32_t& id_of(std::size_t first, std::size_t last) {
    return ids_[first * input_.places.size() + last];
  }
  std::size_t id(std::size_t first, std::size_t last) const {
    return ids_[first * input_.places.size() + last];
  }
  // One more in front of all, so that a row less the units taken is still in them.
  const float* row(std::size_t first, std::size_t last) const {
    return values_.data() + (id(first, last) + 1) * levels_;
  }
  float* row(std::size_t first, std::size_t last) {
    return values_.data() + (id(first, last) + 1) * levels_;
  }
  std::size_t units_of(std::int64_t bytes) const {
    return static_cast<std::size_t>((bytes + (round_up_ ? unit_ - 1 : 0)) / unit_);
  }

  // The fewest units left with which `need` bytes fit: u units left are `room` less what was taken.
  std::size_t units_for(std::int64_t need) const {
    if (need > room_) return levels_;
    return levels_ - 1 - static_cast<std::size_t>((room_ - need) / unit_);
  }

  void number_intervals();
  void find_lowest();
  void fill(std::size_t first, std::size_t last);
  template <class Visit>
  void for_each_move(std::size_t first, std::size_t last, const Visit& visit) const;
  Move keep(std::size_t first, std::size_t last, std::size_t branch) const;

  const RotorInput& input_;
  bool round_up_;
  std::int64_t room_;
  std::int64_t unit_ = 1;
  std::size_t levels_ = 1;
  bool exact_ = true;
  std::uint32_t id_count_ = 0;
  std::vector<std::uint32_t> ids_;         // of each interval: equal ones have the same
  std::vector<std::size_t> output_units_;  // of each place
  std::vector<std::size_t> lowest_;        // by id: levels below are never asked for
  std::vector<Skip> skips_;                // scratch
  std::vector<float> values_;
};

}  // namespace tidemark::remat
