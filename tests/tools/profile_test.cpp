#include "tools/profile.hpp"

#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"
#include "tools/sparkline.hpp"

using namespace tidemark;
using namespace tidemark::literals;
using tidemark::tools::make_profile;
using tidemark::tools::MemoryProfile;
using tidemark::tools::sparkline;

namespace {

// w (10 B) is there before and after.
//
//   instance  f 0-2      f2 2-5     b 5-10     o 10-12    z 12-13
//   uses      w, x (4)   x, y (7)   y, g (10)  w, g       g
//   level     14         21         27         20         20, then 10
//
// x goes at 5, before g comes: 21 - 4 + 10 = 27; y goes at 10.
Program five_kernels() {
  test::ProgramBuilder builder;
  const BufferId w = builder.buffer(10_B, Tier::kHbm, Category::kParameters);
  const BufferId x = builder.buffer(4_B, Tier::kHbm, Category::kActivations);
  const BufferId y = builder.buffer(7_B, Tier::kHbm, Category::kActivations);
  const BufferId g = builder.buffer(10_B, Tier::kHbm, Category::kGradients);
  builder.edit(w).initial = builder.edit(w).persistent = true;
  builder.add(Stream::kCompute, 2_ps, {}, {w, x}, Phase::kForward);
  builder.add(Stream::kCompute, 3_ps, {}, {x, y}, Phase::kForward);
  builder.add(Stream::kCompute, 5_ps, {}, {y, g}, Phase::kBackward);
  builder.add(Stream::kCompute, 2_ps, {}, {w, g}, Phase::kOptimizer);
  builder.add(Stream::kCompute, 1_ps, {}, {g}, Phase::kZeroGrad);
  return builder.build();
}

MemoryProfile profile_of(const Program& program, std::size_t columns) {
  return make_profile(program, sim::simulate(program), columns);
}

std::vector<std::int64_t> totals(const MemoryProfile& profile, Tier tier = Tier::kHbm) {
  std::vector<std::int64_t> out;
  for (const sim::Level& level : profile.columns[static_cast<std::size_t>(tier)]) {
    out.push_back(level.total.count);
  }
  return out;
}

}  // namespace

TEST_CASE("a column a picosecond shows the level of each") {
  const MemoryProfile profile = profile_of(five_kernels(), 13);
  CHECK(profile.end == 13_ps);
  CHECK(totals(profile) ==
        std::vector<std::int64_t>{14, 14, 21, 21, 21, 27, 27, 27, 27, 27, 20, 20, 20});
}

TEST_CASE("a column shows its fullest moment") {
  // [0, 4.33) up to 21; [4.33, 8.67) and [8.67, 13) up to 27.
  CHECK(totals(profile_of(five_kernels(), 3)) == std::vector<std::int64_t>{21, 27, 27});
  CHECK(totals(profile_of(five_kernels(), 1)) == std::vector<std::int64_t>{27});
}

TEST_CASE("a level does not reach into the column that begins when it ends") {
  // Two halves of a step of 26 ps: the second kernel's buffer is gone when the second half begins.
  test::ProgramBuilder builder;
  const BufferId a = builder.buffer(5_B);
  const BufferId b = builder.buffer(3_B);
  builder.add(Stream::kCompute, 13_ps, {}, {a});
  builder.add(Stream::kCompute, 13_ps, {}, {b});
  CHECK(totals(profile_of(builder.build(), 2)) == std::vector<std::int64_t>{5, 3});
}

TEST_CASE("a column says what its fullest moment consists of") {
  const MemoryProfile profile = profile_of(five_kernels(), 1);
  const sim::ByCategory& parts = profile.columns[0][0].by_category;
  CHECK(parts[static_cast<std::size_t>(Category::kParameters)] == 10_B);
  CHECK(parts[static_cast<std::size_t>(Category::kActivations)] == 7_B);
  CHECK(parts[static_cast<std::size_t>(Category::kGradients)] == 10_B);
}

TEST_CASE("the parts of the step follow the kernels") {
  const MemoryProfile profile = profile_of(five_kernels(), 1);
  REQUIRE(profile.spans.size() == 3);
  CHECK(profile.spans[0].part == sim::StepPart::kForward);
  CHECK(profile.spans[0].begin == 0_ps);
  CHECK(profile.spans[0].end == 5_ps);
  CHECK(profile.spans[1].part == sim::StepPart::kBackward);
  CHECK(profile.spans[1].end == 10_ps);
  CHECK(profile.spans[2].part == sim::StepPart::kOptimizer);
  CHECK(profile.spans[2].end == 12_ps);
}

TEST_CASE("no columns are made where none are asked for") {
  CHECK(profile_of(five_kernels(), 0).columns[0].empty());
}

TEST_CASE("a tier that is not used has empty columns") {
  CHECK(totals(profile_of(five_kernels(), 2), Tier::kHost) == std::vector<std::int64_t>{0, 0});
}

TEST_CASE("a sparkline rises by eighths of its highest level") {
  const auto level = [](std::int64_t bytes) {
    sim::Level result;
    result.total = Bytes(bytes);
    return result;
  };
  // Of 80: an eighth is 10, so 10 is the lowest block and 11 the next.
  const std::vector<sim::Level> levels = {level(0),  level(1),  level(10),
                                          level(11), level(70), level(80)};
  CHECK(sparkline(levels, false) == " ▁▁▂▇█");
  CHECK(sparkline(levels, true) == " __.*#");
  CHECK(sparkline({}, false).empty());
  CHECK(sparkline(std::vector<sim::Level>(2), false) == "  ");
}
