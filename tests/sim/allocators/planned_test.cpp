#include "sim/allocators/planned.hpp"

#include <optional>
#include <vector>

#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"
#include "tests/support/random_program.hpp"

namespace tidemark::sim {
namespace {

// Two kernels: the first takes a (2 B) and b (2 B), the second b and c (3 B). In the order of
// requests a lies at 0, b at 2 and c at 4; placed ahead, a and c lie at 0 and b on c.
Program two_kernels(Bytes capacity) {
  test::ProgramBuilder build;
  build.capacity(Tier::kHbm, capacity);
  const BufferId a = build.buffer(2_B), b = build.buffer(2_B), c = build.buffer(3_B);
  const InstanceId first = build.add(Stream::kCompute, 10_us, {}, {a, b});
  build.add(Stream::kCompute, 10_us, {first}, {b, c});
  return build.build();
}

TEST_CASE("a plan knows what comes, and wastes nothing where an allocator would") {
  const Program program = two_kernels(5_B);
  const Result ideal = simulate(program, {});
  REQUIRE_FALSE(ideal.out_of_memory.has_value());
  PlacementPlan plan = plan_placement(program, ideal, Tier::kHbm, {});
  CHECK(plan.sizes == std::vector<Bytes>{2_B, 2_B, 3_B});
  CHECK(plan.offsets == std::vector<std::int64_t>{0, 3, 0});
  CHECK(plan.choice.bound == 5);
  CHECK(plan.choice.packing.height == 5);

  PlannedAllocator hbm(5_B, plan);
  SimulateOptions options;
  options.allocators[static_cast<std::size_t>(Tier::kHbm)] = &hbm;
  const Result placed = simulate(program, options);
  REQUIRE_FALSE(placed.out_of_memory.has_value());
  CHECK(placed.end == ideal.end);
  const AllocatorRecord& record = placed.allocators[static_cast<std::size_t>(Tier::kHbm)];
  CHECK(record.end.allocated_peak == 5_B);
  CHECK(record.end.reserved_peak == 5_B);
  REQUIRE(record.placement.has_value());
  CHECK(record.placement->bound == 5_B);
}

TEST_CASE("what is placed beyond the capacity is refused, however much is free") {
  PlacementPlan plan{{4_B, 3_B}, {0, 4}, {}};
  PlannedAllocator hbm(6_B, plan);
  const auto first = hbm.allocate(4_B, Stream::kCompute);
  REQUIRE(first.has_value());
  hbm.free(first->handle);
  CHECK(hbm.available() == 6_B);
  CHECK_FALSE(hbm.allocate(3_B, Stream::kCompute).has_value());
}

TEST_CASE("an attempt that is abandoned is as if it had not been made") {
  PlacementPlan plan{{4_B, 3_B, 2_B}, {0, 4, 0}, {}};
  PlannedAllocator hbm(6_B, plan);
  REQUIRE(hbm.allocate(4_B, Stream::kCompute).has_value());
  hbm.begin_attempt(Attempt::kFirst);
  CHECK_FALSE(hbm.allocate(3_B, Stream::kCompute).has_value());
  hbm.abandon_attempt();
  CHECK(hbm.statistics().allocated_peak == 4_B);
  CHECK(hbm.statistics().reserved_peak == 4_B);
}

TEST_CASE("what the driver takes lies below the plan and is counted with it") {
  PlacementPlan plan{{3_B}, {0}, {{{0}, 3}, 3, 3, "by size"}};
  PlannedAllocator hbm(10_B, plan);
  CHECK_FALSE(hbm.set_aside(11_B));
  REQUIRE(hbm.set_aside(4_B));
  REQUIRE(hbm.allocate(3_B, Stream::kCompute).has_value());
  CHECK(hbm.statistics().reserved_peak == 7_B);
  CHECK(hbm.available() == 3_B);
  CHECK(hbm.placement()->bound == 7_B);
  PlannedAllocator small(6_B, plan);
  REQUIRE(small.set_aside(4_B));
  CHECK_FALSE(small.allocate(3_B, Stream::kCompute).has_value());
}

TEST_CASE("random programs play as with the ideal allocator, where their plan fits") {
  const auto hbm_of = static_cast<std::size_t>(Tier::kHbm);
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Program program = test::random_program(seed, {});
    const Result ideal = simulate(program, {});
    if (ideal.out_of_memory) continue;
    const PlacementPlan plan = plan_placement(program, ideal, Tier::kHbm, {});
    const Bytes capacity = program.capacity[hbm_of];
    PlannedAllocator hbm(capacity, plan);
    SimulateOptions options;
    options.allocators[hbm_of] = &hbm;
    const Result placed = simulate(program, options);
    // It ends early only where the plan reaches beyond the capacity.
    REQUIRE(placed.out_of_memory.has_value() == (plan.choice.packing.height > capacity.count));
    if (placed.out_of_memory) continue;
    ++compared;
    REQUIRE(placed.end == ideal.end);
    REQUIRE(placed.stalls.size() == ideal.stalls.size());
    REQUIRE(placed.memory.size() == ideal.memory.size());
  }
  CHECK(compared > 100);
}

TEST_CASE("settings of planned are a number of nodes") {
  std::optional<std::string> fault;
  CHECK(parse_planned_settings("", fault).search_nodes == 20'000);
  CHECK_FALSE(fault.has_value());
  CHECK(parse_planned_settings("search_nodes:0", fault).search_nodes == 0);
  CHECK_FALSE(fault.has_value());
  for (const char* wrong : {"search_nodes", "search_nodes:", "search_nodes:-1", "search_nodes:1x",
                            "nodes:1", "search_nodes:999999999999"}) {
    CAPTURE(wrong);
    parse_planned_settings(wrong, fault);
    CHECK(fault.has_value());
  }
}

}  // namespace
}  // namespace tidemark::sim
