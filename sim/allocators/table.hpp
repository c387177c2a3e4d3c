#pragma once
// All allocators by name. A new one is a source file in this folder and a row in table.cpp.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hardware/units.hpp"
#include "sim/allocators/allocator.hpp"

namespace tidemark::sim {

// One key of an allocator's settings, for checking and for `tidemark list`.
struct AllocatorSetting {
  std::string_view name;
  std::string_view default_value;  // as a user would write it
  std::string_view text;           // what it does and what it may be
};

struct AllocatorKind {
  std::string_view name;
  std::string_view summary;
  std::span<const AllocatorSetting> settings;
  // What is wrong with `settings`, for the user; nullopt: nothing.
  std::optional<std::string> (*check)(std::string_view settings);
  // An empty tier of `capacity`; `settings` has passed check(). Null: made for one step at a time,
  // of which the ideal allocator has played the order of requests (planned.hpp).
  std::unique_ptr<Allocator> (*make)(Bytes capacity, std::string_view settings);
  bool keeps_cache = false;  // from one step to the next: steps are to follow on one allocator
};

std::span<const AllocatorKind> allocator_kinds();

// nullptr: there is none of that name.
const AllocatorKind* find_allocator(std::string_view name);

}  // namespace tidemark::sim
