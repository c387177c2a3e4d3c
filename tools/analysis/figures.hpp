#pragma once
// The figures of a machine that money can change, as data: a row each.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/program.hpp"
#include "hardware/machine.hpp"
#include "hardware/units.hpp"

namespace tidemark::tools {

enum class FigureUnit : std::uint8_t {
  kBytesPerSecond,
  kFlopsPerSecond,
  kHertz,
  kBytes,
  kTime,  // picoseconds
  kCount
};

struct FigureAmount {
  FigureUnit unit{};
  std::int64_t count = 0;  // 0: the machine has none
};

// "26.0 GB/s"; empty: the machine has none.
std::string text_of(FigureAmount amount);

// In the unit of its column, with all digits: "26000000000", "1e-06".
std::string full_number(FigureAmount amount);

// What a column of such amounts is named by, after "from_" or "to_".
std::string_view column_of(FigureUnit unit);  // "per_s", "bytes", "s", "count"
inline constexpr std::array<std::string_view, 4> kFigureColumns = {"per_s", "bytes", "s", "count"};

// What could be better. Rates and sizes grow by 10 %, latencies shrink to 10/11.
struct Figure {
  std::string_view name;  // as it stands in the JSON
  std::string_view words;
  void (*improve)(Machine&);
  FigureAmount (*amount)(const Machine&);
};

std::span<const Figure> figures();

// What bytes pass, or what updates parameters: its rate can be set to anything.
struct Mover {
  std::string_view name;
  std::string_view words;
  std::optional<LinkKind> link;              // that its bytes pass; nullopt: it updates parameters
  std::int64_t (*rate)(const Machine&);      // now, in bytes or FLOPs a second; 0: none
  void (*set)(Machine&, std::int64_t rate);  // rate > 0
  std::string (*text)(std::int64_t rate);
};

std::span<const Mover> movers();

}  // namespace tidemark::tools
