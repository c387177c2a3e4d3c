#pragma once
// The name that was probably meant.

#include <span>
#include <string>
#include <string_view>

namespace tidemark::scenarios {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, in bytes.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known name nearest to `name`, upper and lower case taken as equal: one within a third of its
// length in edits, or the shortest that begins with it; what other tools call it comes first. Empty
// when none is near; the first of equals.
std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

// "did you mean 'sqrt'? known: none, full, sqrt", or only the second half.
std::string suggestion(std::string_view name, std::span<const std::string_view> known);

}  // namespace tidemark::scenarios
