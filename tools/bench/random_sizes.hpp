#pragma once
// The same exponential draws for every engine under test, on every machine: -mean x ln(u) with u
// from a 64-bit linear congruential generator (Knuth's MMIX constants). The rivals repeat it.

#include <cmath>
#include <cstdint>
#include <vector>

namespace tidemark::bench {

inline std::uint64_t next_random(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

inline std::vector<std::int64_t> exponential(std::size_t count, double mean) {
  std::vector<std::int64_t> drawn;
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const double u = (static_cast<double>(next_random(state)) + 1) / 2147483649.0;
    drawn.push_back(1 + static_cast<std::int64_t>(-mean * std::log(u)));
  }
  return drawn;
}

}  // namespace tidemark::bench
