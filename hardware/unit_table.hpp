#pragma once
// Units by kind of quantity, and what to say about text that is none of them.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tidemark {

struct Unit {
  std::string_view name;    // "GiB"
  std::int64_t factor = 1;  // in smallest units of its kind
};

struct UnitKind {
  std::string_view noun;        // "a size in bytes"
  std::string_view example;     // "80 GiB"
  std::string_view most;        // 2^60 smallest units, in words
  std::span<const Unit> units;  // smallest first
};

const UnitKind& size_units();       // smallest: B
const UnitKind& bandwidth_units();  // smallest: B/s
const UnitKind& time_units();       // smallest: ps
const UnitKind& flop_rate_units();  // smallest: FLOP/s
const UnitKind& frequency_units();  // smallest: Hz

// The unit that is spelled exactly so, or null.
const Unit* find_unit(const UnitKind& kind, std::string_view name);

// Their names: "B, KB, KiB, ...".
std::string known_units(const UnitKind& kind);

// Why `name`, the end of `text`, is no unit of this kind, with a suggestion where there is one:
// another case ("gib"), another spelling ("GBps", "TFLOPS"), bits, a unit of another kind.
std::string fault_of_unit(const UnitKind& kind, std::string_view text, std::string_view name);

}  // namespace tidemark
