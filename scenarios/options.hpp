#pragma once
// Every key of a scenario, as data: one table a section (options.cpp). The loader reads and checks
// from these rows, and help texts are made from them.

#include <span>
#include <string_view>

#include "graph/option.hpp"

namespace tidemark::scenarios {

struct Section {
  std::string_view name;       // dotted: "hardware.ssd"
  std::string_view summary;    // one line
  std::string_view short_key;  // `checkpoint: full` means {policy: full}; empty: no short form
  std::span<const OptionSpec> options;
};

// In the order in which a scenario is written.
std::span<const Section> sections();

// Null: there is none of that name.
const Section* find_section(std::string_view name);

// Its rows; the section must be there.
std::span<const OptionSpec> options_of(std::string_view section);

// The row of an option; it must be there.
const OptionSpec& find_option(std::span<const OptionSpec> options, std::string_view name);

}  // namespace tidemark::scenarios
