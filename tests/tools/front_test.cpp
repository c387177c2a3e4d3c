#include "tools/front.hpp"

#include "tests/support/catch.hpp"

using namespace tidemark;
using namespace tidemark::tools;

namespace {

using Front = std::vector<bool>;

FrontPoint point(std::int64_t bytes, std::int64_t time, bool fits = true, bool met = true) {
  return {Bytes(bytes), SimTime(time), fits, met};
}

}  // namespace

TEST_CASE("what does not fit neither is on the front nor beats what fits") {
  CHECK(front_of(std::vector{point(9, 1, false), point(5, 5), point(6, 6)}) ==
        Front{false, true, false});
  // Where nothing fits, the front is what it would be with enough memory.
  CHECK(front_of(std::vector{point(9, 1, false), point(5, 5, false), point(6, 6, false)}) ==
        Front{true, true, false});
}

TEST_CASE("a plan that missed its budget neither is on the front nor beats what is") {
  CHECK(front_of(std::vector{point(4, 4, true, false), point(5, 5)}) == Front{false, true});
  CHECK(front_of(std::vector{point(4, 4, true, false)}) == Front{false});
  // The one that fits counts for what fits at all only where it met its budget.
  CHECK(front_of(std::vector{point(4, 4, true, false), point(9, 9, false)}) == Front{false, true});
}

TEST_CASE("points of a sweep compete unless they train something else or on another machine") {
  using Point = std::vector<std::pair<std::string, std::string>>;
  CHECK(work_of(Point{}).empty());
  CHECK(work_of(Point{{"checkpoint.n", "2"}, {"offload.fraction", "0.5"}}).empty());
  CHECK(work_of(Point{{"checkpoint", "full"}, {"training.micro_batch", "4"}}) == "micro_batch 4");
  CHECK(work_of(Point{{"training.micro_batch", "4"}, {"hardware.ssd.drives", "2"}}) ==
        "micro_batch 4, drives 2");
}
