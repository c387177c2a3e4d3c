#pragma once
// Of several runs of one workload those that no other beats in memory and in time.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hardware/units.hpp"

namespace tidemark::tools {

struct FrontPoint {
  Bytes peak;
  SimTime time{};
  bool fits = true;
  bool met = true;  // false: planned for a budget that its peak exceeds
};

// Of those that met what they planned for and fit; where none fits, of all that met it. No other
// one of these needs as little memory and time, and less of one of them. Equal ones do not beat
// each other.
std::vector<bool> front_of(std::span<const FrontPoint> points);

// The part of a sweep's point that says what is trained and on what machine, "micro_batch 4": runs
// that differ in it do not compete, those that differ in the rest do. Empty: nothing of that is
// swept.
std::string work_of(std::span<const std::pair<std::string, std::string>> point);

}  // namespace tidemark::tools
