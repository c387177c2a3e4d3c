#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "hardware/quantity.hpp"
#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST_CASE("bytes are shown with one decimal in the largest unit that holds 1 or more") {
  CHECK(format_bytes(Bytes(0)) == "0 B");
  CHECK(format_bytes(Bytes(1)) == "1 B");
  CHECK(format_bytes(Bytes(999)) == "999 B");
  CHECK(format_bytes(Bytes(1000)) == "1.0 KB");
  CHECK(format_bytes(Bytes(79'300'000'000)) == "79.3 GB");
  CHECK(format_bytes(Bytes(112'000'000'000)) == "112.0 GB");
  CHECK(format_bytes(Bytes(956'301'312)) == "956.3 MB");
  CHECK(format_bytes(Bytes(kMost)) == "9223.4 PB");  // 9.2234 x 10^18; nothing larger than PB
}

TEST_CASE("binary units are shown on request") {
  CHECK(format_bytes(Bytes(1023), ByteUnits::kBinary) == "1023 B");
  CHECK(format_bytes(Bytes(1024), ByteUnits::kBinary) == "1.0 KiB");
  CHECK(format_bytes(Bytes(84'986'665'370), ByteUnits::kBinary) == "79.2 GiB");  // 79.15: up
  CHECK(format_bytes(80_GiB, ByteUnits::kBinary) == "80.0 GiB");
  CHECK(format_bytes(Bytes(1'048'575), ByteUnits::kBinary) == "1.0 MiB");  // 1023.999 KiB
}

TEST_CASE("rounding goes to the nearest, halves away from zero, and carries into the next unit") {
  CHECK(format_bytes(Bytes(1'049)) == "1.0 KB");
  CHECK(format_bytes(Bytes(1'050)) == "1.1 KB");
  CHECK(format_bytes(Bytes(999'949)) == "999.9 KB");
  CHECK(format_bytes(Bytes(999'950)) == "1.0 MB");
  CHECK(format_bytes(Bytes(-1'049)) == "-1.0 KB");
  CHECK(format_bytes(Bytes(-1'050)) == "-1.1 KB");
  CHECK(format_bytes(Bytes(kLeast)) == "-9223.4 PB");
}

TEST_CASE("times are shown with three digits") {
  CHECK(format_time(SimTime(0)) == "0 s");
  CHECK(format_time(SimTime(7)) == "7 ps");
  CHECK(format_time(SimTime(999)) == "999 ps");
  CHECK(format_time(SimTime(1'000)) == "1.00 ns");
  CHECK(format_time(5_us) == "5.00 us");
  CHECK(format_time(35_us) == "35.0 us");
  CHECK(format_time(350_us) == "350 us");
  CHECK(format_time(SimTime(1'200'000'000)) == "1.20 ms");
  CHECK(format_time(SimTime(9'994'999'999)) == "9.99 ms");
  CHECK(format_time(SimTime(9'995'000'000)) == "10.0 ms");  // 9.995
  CHECK(format_time(SimTime(99'949'999'999)) == "99.9 ms");
  CHECK(format_time(SimTime(99'950'000'000)) == "100 ms");  // 99.95
  CHECK(format_time(SimTime(999'499'999'999)) == "999 ms");
  CHECK(format_time(SimTime(999'500'000'000)) == "1.00 s");  // 999.5 ms
  CHECK(format_time(SimTime(120'000'000'000'000)) == "120 s");
  CHECK(format_time(SimTime(7'200'000'000'000'000)) == "7200 s");
  CHECK(format_time(-SimTime(1'200'000'000)) == "-1.20 ms");
}

TEST_CASE("rates are shown with three digits, FLOPs with one decimal") {
  CHECK(format_bandwidth(Bandwidth(0)) == "0 B/s");
  CHECK(format_bandwidth(26_GBps) == "26.0 GB/s");
  CHECK(format_bandwidth(Bandwidth(2'039'000'000'000)) == "2.04 TB/s");
  CHECK(format_flop_rate(312_TFLOPs) == "312 TFLOP/s");
  CHECK(format_flop_rate(FlopRate(999'950'000'000'000)) == "1.00 PFLOP/s");
  CHECK(format_flops(Flops(1'500'000'000'000)) == "1.5 TFLOP");
  CHECK(format_flops(Flops(999'999)) == "999999 FLOP");
}

TEST_CASE("counts are grouped by thousands") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1'000) == "1,000");
  CHECK(format_count(956'301'312) == "956,301,312");
  CHECK(format_count(-999) == "-999");
  CHECK(format_count(-1'000) == "-1,000");
  CHECK(format_count(kLeast) == "-9,223,372,036,854,775,808");
}

TEST_CASE("shares are shown in percent") {
  CHECK(format_percent(0) == "0.0 %");
  CHECK(format_percent(0.542) == "54.2 %");
  CHECK(format_percent(1) == "100.0 %");
  CHECK(format_percent(0.0004) == "0.0 %");
}

TEST_CASE("exact text is a whole number of the unit that makes it shortest") {
  CHECK(exact_text(Bytes(0)) == "0 B");
  CHECK(exact_text(80_GiB) == "80 GiB");
  CHECK(exact_text(26_GB) == "26 GB");
  CHECK(exact_text(Bytes(1'500'000'000)) == "1500 MB");
  CHECK(exact_text(Bytes(84'986'665'370)) == "84986665370 B");
  CHECK(exact_text(Bytes(8'519'680)) == "8320 KiB");
  CHECK(exact_text(26_GBps) == "26 GB/s");
  CHECK(exact_text(5_us) == "5 us");
  CHECK(exact_text(312_TFLOPs) == "312 TFLOP/s");
}

TEST_CASE("exact text is read back as the same value") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2'000; ++i) {
    // All magnitudes, some of them round in binary, some in decimal.
    auto n = static_cast<std::int64_t>(random() >> (4 + random() % 60));
    if (i % 3 == 1) n &= ~std::int64_t{0xFFFFF};
    if (i % 3 == 2) n -= n % 1'000'000;
    INFO(n);
    CHECK(parse_bytes(exact_text(Bytes(n))).value == Bytes(n));
    CHECK(parse_bandwidth(exact_text(Bandwidth(n))).value == Bandwidth(n));
    CHECK(parse_time(exact_text(SimTime(n))).value == SimTime(n));
    CHECK(parse_flop_rate(exact_text(FlopRate(n))).value == FlopRate(n));
  }
  CHECK(parse_bytes(exact_text(Bytes(kLargestQuantity))).value == Bytes(kLargestQuantity));
}

}  // namespace
}  // namespace tidemark
