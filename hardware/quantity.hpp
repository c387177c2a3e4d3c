#pragma once
// Text to quantities and back. A number needs its unit ("80 GiB", "26 GB/s", "5 us"), save 0.
// KB, MB, ... are powers of 1000, KiB, MiB, ... powers of 1024; spelling and case are fixed,
// because Gb (bits) and GB (bytes) differ. Independent of the locale.
//
// Arithmetic is exact and decimal: "1.1 GB" is 1,100,000,000 bytes. Where a multiple of a unit is
// not whole ("79.15 GiB" is 84,986,665,369.6 bytes) it is rounded to the nearest whole byte, halves
// up; a fraction of the smallest unit itself ("1.5 B", "0.5 ps") is refused, and so is what would
// round to 0. Nothing above 2^60 is accepted, so that sums of a few quantities cannot overflow.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hardware/units.hpp"

namespace tidemark {

// Either a value, or the reason why there is none: a clause without capital and full stop, that
// names the fault and what to write instead ("unknown unit 'GIB': did you mean 'GiB'?").
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string reason;
};

inline constexpr std::int64_t kLargestQuantity = std::int64_t{1} << 60;

Parsed<Bytes> parse_bytes(std::string_view text);          // B, KB to PB, KiB to PiB
Parsed<Bandwidth> parse_bandwidth(std::string_view text);  // the same per second: "26 GB/s"
Parsed<SimTime> parse_time(std::string_view text);         // ps, ns, us, ms, s
Parsed<FlopRate> parse_flop_rate(std::string_view text);   // MFLOP/s to PFLOP/s
Parsed<Frequency> parse_frequency(std::string_view text);  // Hz to GHz
Parsed<std::int64_t> parse_count(std::string_view text);   // digits only: "4096"
Parsed<double> parse_fraction(std::string_view text);      // 0 to 1, both included: "0.87"

// For people: one decimal, halves away from zero, never "1000.0 MB". "0 B", "512 B", "79.3 GB".
enum class ByteUnits : std::uint8_t { kDecimal, kBinary };
std::string format_bytes(Bytes bytes, ByteUnits units = ByteUnits::kDecimal);
std::string format_bandwidth(Bandwidth bandwidth);  // "26.0 GB/s"
std::string format_flops(Flops flops);              // "1.5 TFLOP"
std::string format_flop_rate(FlopRate rate);        // "312 TFLOP/s"
std::string format_time(SimTime time);              // three digits: "1.20 ms", "35.0 us", "120 s"
std::string format_count(std::int64_t count);       // "956,301,312"
std::string format_percent(double share);           // of a fraction: "54.2 %"

// For files: read back as exactly the same value, if that is from 0 to 2^60. A whole number of the
// unit that makes it shortest: "80 GiB", "1500 MB", "26 GB/s".
std::string exact_text(Bytes bytes);
std::string exact_text(Bandwidth bandwidth);
std::string exact_text(SimTime time);
std::string exact_text(FlopRate rate);
std::string exact_text(Frequency frequency);

}  // namespace tidemark
