#include <clocale>
#include <cstdint>
#include <limits>
#include <locale>
#include <random>
#include <string>
#include <vector>

#include "hardware/quantity.hpp"
#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

std::int64_t bytes(const std::string& text) {
  const Parsed<Bytes> parsed = parse_bytes(text);
  INFO(text << ": " << parsed.reason);
  REQUIRE(parsed.value);
  REQUIRE(parsed.reason.empty());
  return parsed.value->count;
}

template <class T>
std::string refusal(const Parsed<T>& parsed) {
  REQUIRE_FALSE(parsed.value);
  REQUIRE_FALSE(parsed.reason.empty());
  return parsed.reason;
}

std::string refused_bytes(const std::string& text) {
  INFO(text);
  return refusal(parse_bytes(text));
}

bool has(const std::string& text, const std::string& part) {
  INFO("in: " << text);
  INFO("no: " << part);
  CHECK(text.find(part) != std::string::npos);
  return true;
}

std::string repeated(const std::string& part, int times, const std::string& end) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text.append(end);
}

TEST_CASE("each unit of bytes stands for its power of 1000 or 1024") {
  CHECK(bytes("7 B") == 7);
  CHECK(bytes("7 KB") == 7'000);
  CHECK(bytes("7 KiB") == 7'168);
  CHECK(bytes("7 MB") == 7'000'000);
  CHECK(bytes("7 MiB") == 7'340'032);  // 7 x 1,048,576
  CHECK(bytes("7 GB") == 7'000'000'000);
  CHECK(bytes("7 GiB") == 7'516'192'768);  // 7 x 1,073,741,824
  CHECK(bytes("7 TB") == 7'000'000'000'000);
  CHECK(bytes("7 TiB") == 7'696'581'394'432);  // 7 x 1,099,511,627,776
  CHECK(bytes("7 PB") == 7'000'000'000'000'000);
  CHECK(bytes("7 PiB") == 7'881'299'347'898'368);  // 7 x 1,125,899,906,842,624
}

TEST_CASE("a space between number and unit is free, and blanks around them are dropped") {
  CHECK(bytes("80GiB") == 85'899'345'920);
  CHECK(bytes("80 GiB") == 85'899'345'920);
  CHECK(bytes("  80   GiB\t") == 85'899'345'920);
  CHECK(bytes("1e3GB") == 1'000'000'000'000);
}

TEST_CASE("decimal fractions of a unit are exact") {
  CHECK(bytes("1.1 GB") == 1'100'000'000);
  CHECK(bytes("0.1 GB") == 100'000'000);
  CHECK(bytes("0.3 TB") == 300'000'000'000);
  CHECK(bytes("1.000000001 GB") == 1'000'000'001);
  CHECK(bytes("1152921.504606846975 TB") == 1'152'921'504'606'846'975);  // a double has 53 bits
  CHECK(bytes("0.5 GiB") == 536'870'912);
  CHECK(bytes("1.10 GB") == 1'100'000'000);
  CHECK(bytes("2.5e-3 GB") == 2'500'000);
  CHECK(bytes("25E+2 KB") == 2'500'000);
}

TEST_CASE("what is not whole in a multiple of bytes is rounded to the nearest byte, halves up") {
  CHECK(bytes("79.15 GiB") == 84'986'665'370);  // 84,986,665,369.6
  CHECK(bytes("0.1 GiB") == 107'374'182);       // 107,374,182.4
  CHECK(bytes("0.0015 KB") == 2);               // 1.5
  CHECK(bytes("0.0025 KB") == 3);               // 2.5
  CHECK(bytes("0.00249 KB") == 2);
  CHECK(bytes("0.0005 KB") == 1);  // 0.5: the smallest that is not refused
}

TEST_CASE("a fraction of one byte is refused") {
  has(refused_bytes("1.5 B"), "'1.5 B' has a fraction of 1 B, the smallest unit");
  has(refused_bytes("0.000499 KB"), "has a fraction of 1 B");
  has(refused_bytes("1e-400 PB"), "has a fraction of 1 B");
  CHECK(bytes("1.0 B") == 1);
  CHECK(bytes("1e1 B") == 10);
  CHECK(bytes("15e-1 KB") == 1'500);
}

TEST_CASE("zero needs no unit, anything else does") {
  CHECK(bytes("0") == 0);
  CHECK(bytes("0.0") == 0);
  CHECK(bytes("0 B") == 0);
  CHECK(bytes("0e9 TiB") == 0);
  CHECK(parse_time("0").value == SimTime(0));
  CHECK(parse_bandwidth("0").value == Bandwidth(0));
  CHECK(parse_flop_rate("0").value == FlopRate(0));
  CHECK(refused_bytes("1") ==
        "'1' has no unit: a size in bytes is meant, for example '80 GiB' (units: B, KB, KiB, MB, "
        "MiB, "
        "GB, GiB, TB, TiB, PB, PiB)");
  CHECK(refusal(parse_time("5")) ==
        "'5' has no unit: a time is meant, for example '5 us' (units: ps, ns, us, ms, s)");
  has(refusal(parse_bandwidth("26")), "a bandwidth is meant, for example '26 GB/s'");
  has(refusal(parse_flop_rate("312")), "a FLOP rate is meant, for example '312 TFLOP/s'");
}

TEST_CASE("2^60 is the largest quantity") {
  CHECK(bytes("1024 PiB") == 1'152'921'504'606'846'976);
  CHECK(bytes("1152921504606846976 B") == kLargestQuantity);
  CHECK(refused_bytes("1152921504606846977 B") ==
        "'1152921504606846977 B' is too large: the most is 1024 PiB");
  has(refused_bytes("1024.0000000000001 PiB"), "too large");  // 112.6 bytes more
  has(refused_bytes("9223372036854775808 B"), "too large");   // 2^63
  has(refused_bytes("18446744073709551616 B"), "too large");  // 2^64
  has(refused_bytes("100000000000000000000 PiB"), "too large");
  has(refused_bytes("1e400 B"), "too large");
  has(refused_bytes("1e99999999999999999999 B"), "too large");
  has(refused_bytes("1234567890123456789012345 B"), "too large");  // said before "too many digits"
  has(refused_bytes(repeated("9", 400, " B")), "too large");
  has(refusal(parse_time("1152922 s")), "the most is 1152921 s");
  CHECK(parse_time("1152921 s").value == SimTime(1'152'921'000'000'000'000));
  has(refusal(parse_bandwidth("1025 PiB/s")), "the most is 1024 PiB/s");
  has(refusal(parse_flop_rate("1153 PFLOP/s")), "the most is 1152 PFLOP/s");
}

TEST_CASE("more than 20 significant digits are refused, zeros at the ends do not count") {
  CHECK(bytes("12345678901.234567891 MB") == 12'345'678'901'234'568);  // 20 digits
  has(refused_bytes("12345678901.2345678912 MB"), "has more than 20 significant digits");
  CHECK(bytes("1.0000000000000000000000000000 GB") == 1'000'000'000);
  has(refused_bytes("0.0000000000000000000000000001 GB"), "has a fraction of 1 B");
}

TEST_CASE("a value that is no plain decimal number is refused with its own reason") {
  CHECK(refused_bytes("") == "no value is given; a size in bytes is meant, for example '80 GiB'");
  has(refused_bytes("   "), "no value is given");
  has(refused_bytes("-5 GB"), "'-5 GB' is negative");
  has(refused_bytes("-0"), "'-0' is negative");
  has(refused_bytes("+5 GB"), "'+5 GB' starts with '+': write it without the sign");
  for (const char* text :
       {"nan", "NaN", ".nan", "inf", "Inf GB", "infinity", ".inf", "-.inf", "-inf"}) {
    has(refused_bytes(text), "is not a finite number");
  }
  has(refused_bytes("0x10"), "'0x10' is hexadecimal: write a decimal number");
  has(refused_bytes("0X1F GB"), "is hexadecimal");
  has(refused_bytes("010 GB"), "'010 GB' has leading zeros: write '10 GB'");
  has(refused_bytes("00.5 GB"), "write '0.5 GB'");
  has(refused_bytes("00"), "write '0'");
  has(refused_bytes("000 GB"), "write '0 GB'");
  has(refused_bytes(".5 GB"), "'.5 GB' starts with a point: write '0.5 GB'");
  has(refused_bytes("5. GB"), "'5. GB' has no digit after the point");
  has(refused_bytes("1.2.3 GB"), "'1.2.3 GB' has two decimal points");
  has(refused_bytes("1,5 GB"), "'1,5 GB' has a separator");
  has(refused_bytes("1_000 GB"), "has a separator");
  has(refused_bytes("1'000 GB"), "has a separator");
  has(refused_bytes("GiB"), "'GiB' does not start with a number");
  has(refused_bytes("eighty GiB"), "does not start with a number");
  has(refused_bytes("."), "does not start with a number");
}

TEST_CASE("a misspelled unit is refused with the right one") {
  CHECK(refused_bytes("80 GIB") == "unknown unit 'GIB': did you mean 'GiB'?");
  has(refused_bytes("80 gib"), "did you mean 'GiB'?");
  has(refused_bytes("80 gb"), "did you mean 'GB'?");
  has(refused_bytes("80 kB"), "did you mean 'KB'?");
  has(refused_bytes("80 G"), "did you mean 'GB'?");
  has(refused_bytes("80 Gi"), "did you mean 'GiB'?");
  has(refused_bytes("80 bytes"), "did you mean 'B'?");
  has(refused_bytes("80 b"), "did you mean 'B'?");
  has(refusal(parse_bandwidth("26 GBps")), "did you mean 'GB/s'?");
  has(refusal(parse_bandwidth("26 GB/sec")), "did you mean 'GB/s'?");
  has(refusal(parse_bandwidth("26 GB / s")), "did you mean 'GB/s'?");
  has(refusal(parse_flop_rate("312 TFLOPS")), "did you mean 'TFLOP/s'?");
  has(refusal(parse_flop_rate("312 TFLOPs")), "did you mean 'TFLOP/s'?");
  has(refusal(parse_flop_rate("312 TFLOP")), "did you mean 'TFLOP/s'?");
  has(refusal(parse_flop_rate("312 TFLOPS/s")), "did you mean 'TFLOP/s'?");
  has(refusal(parse_time("5 \xC2\xB5s")), "did you mean 'us'?");  // micro sign
  has(refusal(parse_time("5 \xCE\xBCs")), "did you mean 'us'?");  // Greek mu
  has(refusal(parse_time("5 usec")), "did you mean 'us'?");
  has(refusal(parse_time("5 sec")), "did you mean 's'?");
  has(refusal(parse_time("5 MS")), "did you mean 'ms'?");
}

TEST_CASE("bits are told apart from bytes") {
  for (const char* text : {"8 Gb", "8 Mbit", "8 Kb"})
    has(refused_bytes(text), "counts bits, 8 to a byte");
  has(refusal(parse_bandwidth("100 Gb/s")), "'Gb/s' counts bits, 8 to a byte");
  has(refusal(parse_bandwidth("100 Gbit/s")), "counts bits");
  has(refusal(parse_bandwidth("100 Gbps")), "counts bits");
}

TEST_CASE("a unit of another kind is named as such") {
  CHECK(refused_bytes("5 GB/s") ==
        "'5 GB/s' is a bandwidth: a size in bytes is meant, for example '80 GiB'");
  has(refused_bytes("5 ms"), "'5 ms' is a time");
  has(refused_bytes("5 TFLOP/s"), "'5 TFLOP/s' is a FLOP rate");
  has(refused_bytes("5 gb/s"), "'5 gb/s' is a bandwidth");
  has(refusal(parse_bandwidth("26 GB")), "'26 GB' is a size in bytes: a bandwidth is meant");
  has(refusal(parse_time("26 GB")), "'26 GB' is a size in bytes: a time is meant");
  has(refusal(parse_flop_rate("1 s")), "'1 s' is a time: a FLOP rate is meant");
}

TEST_CASE("text after the unit and unknown units are refused") {
  has(refused_bytes("80 GiB 5"), "'5' follows '80 GiB'");
  has(refused_bytes("80 GiB of HBM"), "'of HBM' follows '80 GiB'");
  has(refused_bytes("80 80 GiB"), "unknown unit '80 GiB'");
  CHECK(refused_bytes("5 parsecs") ==
        "unknown unit 'parsecs': known are B, KB, KiB, MB, MiB, GB, GiB, TB, TiB, PB, PiB");
  has(refused_bytes("5 EB"), "unknown unit 'EB'");
  has(refused_bytes("5EB"), "unknown unit 'EB'");  // E without digits is no exponent
  has(refused_bytes("5 %"), "unknown unit '%'");
}

TEST_CASE("hostile text is quoted short and without control characters") {
  const std::string reason = refused_bytes(repeated("5 x", 1, repeated("x", 100'000, "")));
  CHECK(reason.size() < 300);
  has(reason, "xxx...'");
  has(refused_bytes(std::string("5 \x1b[2J\n\0x", 9)), "'?[2J??x'");
  // 39 letters and a two-byte letter: not cut in its middle.
  has(refused_bytes(repeated("x", 39, "\xC3\xA9y")), "xxx...'");
}

TEST_CASE("bandwidths, times and rates have their units") {
  CHECK(parse_bandwidth("26 GB/s").value == Bandwidth(26'000'000'000));
  CHECK(parse_bandwidth("1.5 TB/s").value == Bandwidth(1'500'000'000'000));
  CHECK(parse_bandwidth("1 KiB/s").value == Bandwidth(1024));
  CHECK(parse_bandwidth("3 B/s").value == Bandwidth(3));
  CHECK(parse_time("1 ps").value == SimTime(1));
  CHECK(parse_time("2 ns").value == SimTime(2'000));
  CHECK(parse_time("5 us").value == SimTime(5'000'000));
  CHECK(parse_time("1.2 ms").value == SimTime(1'200'000'000));
  CHECK(parse_time("3 s").value == SimTime(3'000'000'000'000));
  has(refusal(parse_time("0.5 ps")), "has a fraction of 1 ps");
  CHECK(parse_time("0.0005 ns").value == SimTime(1));  // half a picosecond, up
  CHECK(parse_flop_rate("312 TFLOP/s").value == FlopRate(312'000'000'000'000));
  CHECK(parse_flop_rate("19.5 TFLOP/s").value == FlopRate(19'500'000'000'000));
  CHECK(parse_flop_rate("1 PFLOP/s").value == FlopRate(1'000'000'000'000'000));
  CHECK(parse_flop_rate("2 GFLOP/s").value == FlopRate(2'000'000'000));
}

TEST_CASE("a count is digits only") {
  CHECK(parse_count("0").value == 0);
  CHECK(parse_count("4096").value == 4096);
  CHECK(parse_count("1152921504606846976").value == kLargestQuantity);
  has(refusal(parse_count("1152921504606846977")), "is too large");
  CHECK(refusal(parse_count("1e3")) == "'1e3' is not written as a whole number: write '1000'");
  has(refusal(parse_count("7.0e9")), "write '7000000000'");
  has(refusal(parse_count("4.0")), "write '4'");
  has(refusal(parse_count("1.5")), "'1.5' is not a whole number");
  has(refusal(parse_count("7B")), "'B' follows it");
  has(refusal(parse_count("32 GiB")), "'GiB' follows it; a whole number without a unit is meant");
  has(refusal(parse_count("010")), "write '10'");
  has(refusal(parse_count("-1")), "is negative");
  has(refusal(parse_count("")), "no value is given; a whole number is meant");
}

TEST_CASE("a fraction lies from 0 to 1") {
  CHECK(parse_fraction("0").value == 0.0);
  CHECK(parse_fraction("0.1").value == 0.1);
  CHECK(parse_fraction("0.87").value == 0.87);
  CHECK(parse_fraction("1").value == 1.0);
  CHECK(parse_fraction("1.0").value == 1.0);
  CHECK(parse_fraction("5e-2").value == 0.05);
  has(refusal(parse_fraction("1.0000001")), "is above 1");
  has(refusal(parse_fraction("87")), "is above 1");
  has(refusal(parse_fraction("1e400")), "is above 1");
  has(refusal(parse_fraction("1e-400")), "too small");
  has(refusal(parse_fraction("87%")),
      "'%' follows it; a fraction from 0 to 1 is meant, for example '0.87'");
  has(refusal(parse_fraction("-0.1")), "is negative");
  has(refusal(parse_fraction("nan")), "is not a finite number");
}

// Digits moved by hand: "d.ddd" x 10^9 is the digits without the point, filled up with zeros.
TEST_CASE("parsing agrees with moving the decimal point by hand") {
  std::mt19937_64 random(20240501);
  for (int i = 0; i < 2'000; ++i) {
    const std::string before = std::to_string(random() % 100'000'000);
    std::string after;
    for (std::uint64_t n = random() % 9 + 1; n > 0; --n)
      after += static_cast<char>('0' + random() % 10);
    const std::string moved = before + after + std::string(9 - after.size(), '0');
    CHECK(bytes(before + "." + after + " GB") == std::stoll(moved));
  }
}

struct CommaPoint : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST_CASE("the locale changes nothing") {
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new CommaPoint));
  const std::string c_before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  const auto fraction = parse_fraction("0.87");
  const auto size = parse_bytes("1234.5 GB");
  const std::string shown = format_bytes(Bytes(1'234'500'000'000)) + " " + format_percent(0.875) +
                            " " + exact_text(Bytes(1'234'500'000'000));
  std::setlocale(LC_ALL, c_before.c_str());
  std::locale::global(before);
  CHECK(fraction.value == 0.87);
  CHECK(size.value == Bytes(1'234'500'000'000));
  CHECK(shown == "1.2 TB 87.5 % 1234500 MB");
}

}  // namespace
}  // namespace tidemark
