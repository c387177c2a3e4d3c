#pragma once
// Options as data: the loader reads, checks and explains an option from its row, so that a new
// option of a section or of a plug-in touches no other code.

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace tidemark {

enum class OptionKind : std::uint8_t {
  kInteger,    // 8
  kNumber,     // 0.85
  kFlag,       // true | false
  kChoice,     // one of `choices`
  kNames,      // a list of `choices`, or one of them: [norm, rotary]
  kText,       // any text; a catalogue's name
  kBytes,      // 80 GiB
  kBandwidth,  // 26 GB/s
  kFlopRate,   // 312 TFLOP/s
  kTime,       // 5 us
  kFrequency,  // 2.45 GHz
  kSection,    // a mapping with a table of its own
};

struct OptionSpec {
  std::string_view name{};
  OptionKind kind = OptionKind::kText;
  std::string_view preset{};  // value when not stated, as written; empty: `text` says what holds
  std::span<const std::string_view> choices{};
  // Whole numbers and quantities, in bytes, bytes or FLOPs a second, picoseconds.
  std::int64_t least = 1;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  // kNumber
  double least_number = 0;
  double most_number = 1;
  std::string_view text{};  // one line that explains it
};

}  // namespace tidemark
