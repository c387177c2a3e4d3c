#pragma once
// Two quantities side by side in a sentence: the usual digits, and more of them where those would
// make two different values look alike.

#include <string>
#include <string_view>
#include <utility>

#include "hardware/units.hpp"

namespace tidemark::tools {

// Alike only where the values are.
std::pair<std::string, std::string> told_apart(SimTime a, SimTime b);
std::pair<std::string, std::string> told_apart(Bytes a, Bytes b);

// "step 108 ms instead of 131 ms"; of equal values "step 131 ms as before".
std::string instead_of(std::string_view what, SimTime now, SimTime before);
std::string instead_of(std::string_view what, Bytes now, Bytes before);

}  // namespace tidemark::tools
