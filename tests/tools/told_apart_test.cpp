#include "tools/told_apart.hpp"

#include "tests/support/catch.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

using Texts = std::pair<std::string, std::string>;

}  // namespace

TEST_CASE("values that differ in the usual digits have no more of them") {
  CHECK(told_apart(108'000_us, 131'000_us) == Texts{"108 ms", "131 ms"});
  CHECK(told_apart(Bytes(1'500'000'000), Bytes(90'000'000)) == Texts{"1.5 GB", "90.0 MB"});
}

TEST_CASE("values that would look alike have the digits that tell them apart") {
  CHECK(told_apart(108'040_us, 108'010_us) == Texts{"108.04 ms", "108.01 ms"});
  CHECK(told_apart(Bytes(25'401'000'000), Bytes(25'449'000'000)) == Texts{"25.40 GB", "25.45 GB"});
  // One byte, one picosecond.
  CHECK(told_apart(Bytes(25'400'000'000), Bytes(25'400'000'001)) ==
        Texts{"25.400000000 GB", "25.400000001 GB"});
  CHECK(told_apart(SimTime(1'000'000'000'000), SimTime(1'000'000'000'001)) ==
        Texts{"1 s", "1000000000001 ps"});
}

TEST_CASE("equal values look alike, and are said to be as before") {
  CHECK(told_apart(5'000_us, 5'000_us) == Texts{"5.00 ms", "5.00 ms"});
  CHECK(instead_of("step", 5'000_us, 5'000_us) == "step 5.00 ms as before");
  CHECK(instead_of("HBM", 4_GB, 5_GB) == "HBM 4.0 GB instead of 5.0 GB");
}
