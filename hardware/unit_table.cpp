#include "hardware/unit_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "hardware/decimal.hpp"

namespace tidemark {
namespace {

constexpr std::int64_t kThousand = 1000;

constexpr std::array<Unit, 11> kSizes = {{
    {"B", 1},
    {"KB", kThousand},
    {"KiB", std::int64_t{1} << 10},
    {"MB", kThousand* kThousand},
    {"MiB", std::int64_t{1} << 20},
    {"GB", 1'000'000'000},
    {"GiB", std::int64_t{1} << 30},
    {"TB", 1'000'000'000'000},
    {"TiB", std::int64_t{1} << 40},
    {"PB", 1'000'000'000'000'000},
    {"PiB", std::int64_t{1} << 50},
}};

constexpr std::array<Unit, 11> kBandwidths = {{
    {"B/s", 1},
    {"KB/s", kThousand},
    {"KiB/s", std::int64_t{1} << 10},
    {"MB/s", kThousand* kThousand},
    {"MiB/s", std::int64_t{1} << 20},
    {"GB/s", 1'000'000'000},
    {"GiB/s", std::int64_t{1} << 30},
    {"TB/s", 1'000'000'000'000},
    {"TiB/s", std::int64_t{1} << 40},
    {"PB/s", 1'000'000'000'000'000},
    {"PiB/s", std::int64_t{1} << 50},
}};

constexpr std::array<Unit, 5> kTimes = {{
    {"ps", 1},
    {"ns", kThousand},
    {"us", 1'000'000},
    {"ms", 1'000'000'000},
    {"s", 1'000'000'000'000},
}};

constexpr std::array<Unit, 5> kFlopRates = {{
    {"FLOP/s", 1},
    {"MFLOP/s", 1'000'000},
    {"GFLOP/s", 1'000'000'000},
    {"TFLOP/s", 1'000'000'000'000},
    {"PFLOP/s", 1'000'000'000'000'000},
}};

constexpr std::array<Unit, 4> kFrequencies = {{
    {"Hz", 1},
    {"kHz", kThousand},
    {"MHz", 1'000'000},
    {"GHz", 1'000'000'000},
}};

// 2^60 smallest units each.
constexpr UnitKind kSize = {"a size in bytes", "80 GiB", "1024 PiB", kSizes};
constexpr UnitKind kBandwidth = {"a bandwidth", "26 GB/s", "1024 PiB/s", kBandwidths};
constexpr UnitKind kTime = {"a time", "5 us", "1152921 s", kTimes};
constexpr UnitKind kFlopRate = {"a FLOP rate", "312 TFLOP/s", "1152 PFLOP/s", kFlopRates};
constexpr UnitKind kFrequency = {"a frequency", "2.45 GHz", "1152921504 GHz", kFrequencies};
constexpr std::array<const UnitKind*, 5> kKinds = {&kSize, &kBandwidth, &kTime, &kFlopRate,
                                                   &kFrequency};

std::string in_lower_case(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

// Replaces the end of `text` if it is `from`.
bool replace_end(std::string& text, std::string_view from, std::string_view to) {
  if (!std::string_view(text).ends_with(from)) return false;
  text.replace(text.size() - from.size(), from.size(), to);
  return true;
}

// Usual other spellings, all in lower case: the first row that fits the end is applied.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kSpellings = {{
    {"flops/sec", "flop/s"},
    {"flop/sec", "flop/s"},
    {"flops/s", "flop/s"},
    {"flops", "flop/s"},
    {"flop", "flop/s"},
    {"bytes/sec", "b/s"},
    {"bytes/s", "b/s"},
    {"b/sec", "b/s"},
    {"bps", "b/s"},
    {"bytes", "b"},
    {"byte", "b"},
    {"seconds", "s"},
    {"second", "s"},
    {"secs", "s"},
    {"sec", "s"},
    {"\xC2\xB5s", "us"},  // the micro sign
}};

// The unit of `kind` that was probably meant by `name`, or null.
const Unit* nearest_unit(const UnitKind& kind, std::string_view name) {
  std::string wanted = in_lower_case(name);
  std::erase(wanted, ' ');
  for (const auto& [from, to] : kSpellings) {
    if (replace_end(wanted, from, to)) break;
  }
  replace_end(wanted, "\xCE\xBCs", "us");  // the Greek letter
  const auto same = [&](const std::string& text) {
    return std::find_if(kind.units.begin(), kind.units.end(),
                        [&](const Unit& unit) { return in_lower_case(unit.name) == text; });
  };
  auto found = same(wanted);
  if (found == kind.units.end()) found = same(wanted + "b");  // "80 G", "80 Gi"
  return found == kind.units.end() ? nullptr : &*found;
}

// "Gb", "Mbit/s", "Gbps": a small b after a prefix.
bool means_bits(std::string_view name) {
  if (name.find("bit") != std::string_view::npos) return true;
  return name.size() >= 2 && name[1] == 'b' && name[0] >= 'A' && name[0] <= 'Z';
}

}  // namespace

const UnitKind& size_units() { return kSize; }
const UnitKind& bandwidth_units() { return kBandwidth; }
const UnitKind& time_units() { return kTime; }
const UnitKind& flop_rate_units() { return kFlopRate; }
const UnitKind& frequency_units() { return kFrequency; }

const Unit* find_unit(const UnitKind& kind, std::string_view name) {
  const auto found = std::find_if(kind.units.begin(), kind.units.end(),
                                  [&](const Unit& unit) { return unit.name == name; });
  return found == kind.units.end() ? nullptr : &*found;
}

std::string known_units(const UnitKind& kind) {
  std::string out;
  for (const Unit& unit : kind.units) {
    if (!out.empty()) out += ", ";
    out += unit.name;
  }
  return out;
}

std::string fault_of_unit(const UnitKind& kind, std::string_view text, std::string_view name) {
  text = trimmed(text);
  const std::string meant =
      std::string(kind.noun) + " is meant, for example '" + std::string(kind.example) + "'";
  if (means_bits(name)) {
    return in_quotes(name) + " counts bits, 8 to a byte: " + meant;
  }
  if (const Unit* near = nearest_unit(kind, name)) {
    return "unknown unit " + in_quotes(name) + ": did you mean '" + std::string(near->name) + "'?";
  }
  for (const UnitKind* other : kKinds) {
    if (nearest_unit(*other, name) != nullptr) {
      return in_quotes(text) + " is " + std::string(other->noun) + ": " + meant;
    }
  }
  // "80 GiB 5", "80 GiB of HBM": a unit stands there, something follows it.
  const std::string_view first = name.substr(0, name.find_first_of(" \t"));
  if (first.size() < name.size() && find_unit(kind, first) != nullptr) {
    return in_quotes(trimmed(name.substr(first.size()))) + " follows " +
           in_quotes(text.substr(0, text.size() - name.size() + first.size())) + ": " + meant;
  }
  return "unknown unit " + in_quotes(name) + ": known are " + known_units(kind);
}

}  // namespace tidemark
