#include "scenarios/suggest.hpp"

#include <array>
#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

TEST_CASE("the edit distance counts insertions, deletions, replacements and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("sqroot", "sqrt") == 2);    // two o's deleted
  CHECK(edit_distance("gtp-7b", "gpt-7b") == 1);  // one swap
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ca", "abc") == 3);  // a swapped pair is not edited again
}

TEST_CASE("a word of other tools is suggested by its name here, not by its letters") {
  constexpr std::array<std::string_view, 3> kPlaces = {"gpu", "host", "ssd"};
  CHECK(nearest("cpu", kPlaces) == "host");  // one letter from gpu
  CHECK(nearest("NVMe", kPlaces) == "ssd");
  constexpr std::array<std::string_view, 2> kKeys = {"sequence", "micro_batches"};
  CHECK(nearest("gradient_accumulation", kKeys) == "micro_batches");
  CHECK(nearest("batch_size", kKeys).empty());  // its name here is not among the known
}

constexpr std::array<std::string_view, 4> kKnown = {"none", "sqrt", "llama-3-405b", "llama-3-8b"};

TEST_CASE("a name within a third of its length in edits is suggested, one beyond is not") {
  CHECK(nearest("sqroot", kKnown) == "sqrt");  // 2 of 6
  CHECK(nearest("noen", kKnown) == "none");
  CHECK(nearest("nxxe", kKnown).empty());  // 2 of 4
  CHECK(nearest("SQRT", kKnown) == "sqrt");
}

TEST_CASE("a name that others begin with suggests the shortest of them") {
  CHECK(nearest("llama-3", kKnown) == "llama-3-8b");
  CHECK(nearest("ll", kKnown).empty());  // two letters say too little
}

TEST_CASE("what a name begins with goes before what it is spelt nearly like") {
  constexpr std::array<std::string_view, 3> kCards = {"h200", "h100-80gb-sxm", "h100-80gb-pcie"};
  CHECK(nearest("H100", kCards) == "h100-80gb-sxm");
  CHECK(nearest("H200", kCards) == "h200");
}

TEST_CASE("names with commas are told apart by quotes") {
  constexpr std::array<std::string_view, 2> kNames = {"a, b", "c"};
  CHECK(suggestion("zzzz", kNames) == "known: 'a, b', 'c'");
}

TEST_CASE("nothing is near an empty or endless name") {
  CHECK(nearest("", kKnown).empty());
  CHECK(nearest(std::string(100'000, 'n'), kKnown).empty());
}

TEST_CASE("a suggestion always lists what is known") {
  CHECK(suggestion("sqrtt", kKnown) ==
        "did you mean 'sqrt'? known: none, sqrt, llama-3-405b, llama-3-8b");
  CHECK(suggestion("zzz", kKnown) == "known: none, sqrt, llama-3-405b, llama-3-8b");
}

}  // namespace
}  // namespace tidemark::scenarios
