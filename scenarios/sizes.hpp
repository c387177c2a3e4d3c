#pragma once
// How large a run would be, before anything of it is made: upper bounds, for refusing what would
// overflow or not fit into the memory of the machine that simulates.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hardware/units.hpp"
#include "scenarios/scenario.hpp"

namespace tidemark::scenarios {

struct SizeFault {
  std::string_view key;  // dotted, that is to blame
  std::string message;
};

// Parameters, bytes, FLOPs or seconds that the integers which carry them cannot hold (2^62).
std::optional<SizeFault> find_size_fault(const RunSpec& run);

inline constexpr std::int64_t kBytesARow = 1000;  // of memory, an operation with its records
inline constexpr std::int64_t kMostRows = 1'000'000'000;  // ids have 32 bits

// Operations and transfers of the step: what lowering a small part of it promises.
std::int64_t estimate_rows(const RunSpec& run);

// Never less than that, and at once.
std::int64_t most_rows(const RunSpec& run);

// "7.0e9" for large numbers, all digits for small ones.
std::string about(Int128 count);

}  // namespace tidemark::scenarios
