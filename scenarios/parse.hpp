#pragma once
// Text to Value: everything that YAML lets through and a scenario must not contain is refused here.

#include <memory>
#include <optional>
#include <string>

#include "scenarios/diagnostic.hpp"
#include "scenarios/value.hpp"

namespace tidemark::scenarios {

inline constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;  // of a scenario file
inline constexpr int kMostDepth = 16;                                // of mappings and lists
inline constexpr std::size_t kMostValues = 50'000;  // in a document, aliases written out

// The bytes of a file. Nothing, and `reason` says why, when it cannot be read, is a folder, or is
// longer than kMostFileBytes. `what` it should be is for the reason: "a scenario".
std::optional<std::string> read_file(const std::string& path, const std::string& what,
                                     std::string& reason);

// The bytes of a file. Throws ScenarioError when it cannot be read, is a folder, or is longer than
// kMostFileBytes.
std::shared_ptr<const Source> read_source(const std::string& path,
                                          const std::string& what = "a scenario");

// One document. Reports duplicate keys, merge keys, tags, aliases to themselves, a second document,
// empty and binary files; goes on where it can. Null when there is nothing to go on with.
Value parse(const std::shared_ptr<const Source>& source, Diagnostics& diagnostics);

// The value of one --set option, which may be anything that fits on a line of YAML: "8", "[1, 2]",
// "{policy: every-n, n: 2}". Marks have no line.
Value parse_option_value(const std::shared_ptr<const Source>& source, const std::string& text,
                         Diagnostics& diagnostics);

}  // namespace tidemark::scenarios
