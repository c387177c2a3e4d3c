#include "sim/executor.hpp"

#include "hardware/ensure.hpp"
#include "sim/allocators/ideal.hpp"
#include "sim/allocators/table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/result_bytes.hpp"

namespace tidemark::sim {
namespace {

using namespace tidemark::literals;
using test::ProgramBuilder;

constexpr std::int64_t kBytePerPicosecond = 1'000'000'000'000;

const InstanceRecord& at(const Result& result, InstanceId id) { return result.records[index(id)]; }

TEST_CASE("An empty program ends at once") {
  const Result result = simulate(ProgramBuilder().build());
  CHECK(result.end == 0_ps);
  CHECK(result.memory.empty());
  CHECK_FALSE(result.out_of_memory.has_value());
}

TEST_CASE("Kernels of one stream run one after the other in the order of its list") {
  ProgramBuilder builder;
  const InstanceId a = builder.add(Stream::kCompute, 5_ps);
  const InstanceId b = builder.add(Stream::kCompute, 7_ps);
  const Result result = simulate(builder.build());
  CHECK(at(result, a).finish == 5_ps);
  CHECK(at(result, b).ready == 5_ps);
  CHECK(at(result, b).start == 5_ps);
  CHECK(result.end == 12_ps);
  CHECK(result.compute_busy == 12_ps);
}

// The running example of graph/program.hpp, 1 B/ps both ways:
//
//   compute   | A 0-10 | B 10-14 |
//   copy_out           | C: latency 2, then 6 B: 10-18 |
//   cpu                                                | U 18-21 |
//
// t lives 0-18 (the copy holds it longest), u 10-14, h 10-21.
TEST_CASE("A copy runs beside compute and memory comes free when the copy that holds it ends") {
  ProgramBuilder builder;
  builder.link(LinkKind::kPcieD2h, Bandwidth(kBytePerPicosecond));
  const PathId out = builder.path({{LinkKind::kPcieD2h, 1}});
  const BufferId t = builder.buffer(6_B);
  const BufferId u = builder.buffer(3_B);
  const BufferId h = builder.buffer(6_B, Tier::kHost);
  const InstanceId a = builder.add(Stream::kCompute, 10_ps, {}, {t});
  const InstanceId b = builder.add(Stream::kCompute, 4_ps, {}, {t, u});
  const InstanceId c = builder.move(Stream::kCopyOut, out, 6_B, {a}, {t, h}, 2_ps);
  const InstanceId update = builder.add(Stream::kCpuOptimizer, 3_ps, {c}, {h});
  const Result result = simulate(builder.build());
  CHECK(at(result, c).start == 10_ps);
  CHECK(at(result, c).finish == 18_ps);
  CHECK(at(result, update).finish == 21_ps);
  CHECK(result.end == 21_ps);
  CHECK(result.compute_busy == 14_ps);
  CHECK(result.moved[static_cast<std::size_t>(LinkKind::kPcieD2h)] == 6_B);

  struct Expected {
    SimTime time;
    BufferId buffer;
    InstanceId instance;
    bool allocated;
  };
  const std::vector<Expected> expected = {{0_ps, t, a, true},   {10_ps, u, b, true},
                                          {10_ps, h, c, true},  {14_ps, u, b, false},
                                          {18_ps, t, c, false}, {21_ps, h, update, false}};
  REQUIRE(result.memory.size() == expected.size());
  for (std::size_t row = 0; row < expected.size(); ++row) {
    CAPTURE(row);
    CHECK(result.memory[row].time == expected[row].time);
    CHECK(result.memory[row].buffer == expected[row].buffer);
    CHECK(result.memory[row].instance == expected[row].instance);
    CHECK(result.memory[row].allocated == expected[row].allocated);
  }
  CHECK(at(result, a).events_at_finish == 1);
  CHECK(at(result, b).events_at_finish == 4);
  CHECK(at(result, update).events_at_finish == 6);
}

TEST_CASE("Two copies share a link, and the later one gets it all once the first has ended") {
  // 1 B/ps: alone 0-4 (4 of 10 B), both at 0.5 until the second's 3 B are done at 10, then the
  // first's last 3 B at full speed: 13.
  ProgramBuilder builder;
  builder.link(LinkKind::kDram, Bandwidth(kBytePerPicosecond));
  const PathId path = builder.path({{LinkKind::kDram, 1}});
  const InstanceId first = builder.move(Stream::kCopyIn, path, 10_B);
  const InstanceId second = builder.move(Stream::kNvmeRead, path, 3_B, {}, {}, 4_ps);
  const Result result = simulate(builder.build());
  CHECK(at(result, second).finish == 10_ps);
  CHECK(at(result, first).finish == 13_ps);
}

TEST_CASE("A transfer of no bytes takes its latency alone") {
  ProgramBuilder builder;
  builder.link(LinkKind::kDram, Bandwidth(kBytePerPicosecond));
  const PathId path = builder.path({{LinkKind::kDram, 1}});
  const InstanceId none = builder.move(Stream::kCopyIn, path, 0_B, {}, {}, 4_ps);
  CHECK(at(simulate(builder.build()), none).finish == 4_ps);
}

TEST_CASE("What finishes at an instant is freed before anything starts at that instant") {
  // Both copies end at 10 and free 4 B each; the kernel that needs 8 B starts at 10 within 8 B.
  ProgramBuilder builder;
  builder.capacity(Tier::kHbm, 8_B);
  const BufferId x = builder.buffer(4_B);
  const BufferId y = builder.buffer(4_B);
  const BufferId z = builder.buffer(8_B);
  builder.add(Stream::kCopyIn, 10_ps, {}, {x});
  builder.add(Stream::kCopyOut, 10_ps, {}, {y});
  const InstanceId kernel = builder.add(Stream::kCompute, 1_ps, {}, {z});
  const Result result = simulate(builder.build());
  CHECK_FALSE(result.out_of_memory.has_value());
  CHECK(at(result, kernel).ready == 0_ps);
  // In order of streams, compute takes its 8 B first at 0; the copies wait for it.
  CHECK(at(result, kernel).start == 0_ps);
  CHECK(result.end == 11_ps);
}

TEST_CASE("An instance that does not fit waits for frees, to the byte") {
  for (const std::int64_t capacity : {9, 10}) {
    ProgramBuilder builder;
    builder.capacity(Tier::kHbm, Bytes(capacity));
    const BufferId held = builder.buffer(6_B);
    const BufferId wanted = builder.buffer(4_B);
    const InstanceId kernel = builder.add(Stream::kCompute, 1_ps, {}, {held});
    const InstanceId copy = builder.add(Stream::kCopyOut, 20_ps, {kernel}, {held});
    const InstanceId next = builder.add(Stream::kCompute, 5_ps, {}, {wanted});
    const Result result = simulate(builder.build());
    CHECK_FALSE(result.out_of_memory.has_value());
    CHECK(at(result, next).ready == 1_ps);
    CHECK(at(result, next).start == (capacity == 10 ? 1_ps : 21_ps));
    CHECK(at(result, copy).finish == 21_ps);
  }
}

TEST_CASE("An instance takes all of its buffers or none") {
  // The kernel wants 5 B of HBM and 5 B of the host. The host is full until 10; until then it holds
  // no HBM, so the copy-in, which is ready at 3, gets its 5 B at once.
  ProgramBuilder builder;
  builder.capacity(Tier::kHbm, 5_B);
  builder.capacity(Tier::kHost, 5_B);
  const BufferId host_full = builder.buffer(5_B, Tier::kHost);
  const BufferId hbm = builder.buffer(5_B);
  const BufferId host = builder.buffer(5_B, Tier::kHost);
  const BufferId other = builder.buffer(5_B);
  builder.add(Stream::kCpuOptimizer, 10_ps, {}, {host_full});
  const InstanceId gate = builder.add(Stream::kCompute, 1_ps);
  const InstanceId kernel = builder.add(Stream::kCompute, 1_ps, {}, {hbm, host});
  const InstanceId copy = builder.add(Stream::kCopyIn, 2_ps, {gate}, {other});
  const Result result = simulate(builder.build());
  CHECK(at(result, copy).start == 1_ps);
  CHECK(at(result, kernel).start == 10_ps);
  CHECK(result.memory.size() == 8);
}

TEST_CASE("When nothing runs and nothing fits, memory has run out") {
  ProgramBuilder builder;
  builder.capacity(Tier::kHbm, 10_B);
  const BufferId kept = builder.buffer(6_B);
  const BufferId small = builder.buffer(3_B);
  const BufferId big = builder.buffer(5_B);
  builder.edit(kept).persistent = true;
  builder.add(Stream::kCompute, 8_ps, {}, {kept});
  const InstanceId second = builder.add(Stream::kCompute, 8_ps, {}, {small, big});
  const InstanceId third = builder.add(Stream::kCompute, 8_ps, {}, {small});
  const Result result = simulate(builder.build());
  REQUIRE(result.out_of_memory.has_value());
  CHECK(result.out_of_memory->tier == Tier::kHbm);
  CHECK(result.out_of_memory->instance == second);
  CHECK(result.out_of_memory->buffer == big);
  CHECK(result.out_of_memory->requested == 5_B);
  CHECK(result.out_of_memory->free == 1_B);  // 10 - 6 - 3, which stands before it in the row
  CHECK(result.end == 8_ps);
  CHECK(at(result, second).ready == 8_ps);
  CHECK(at(result, second).start == kNever);
  CHECK(at(result, third).ready == kNever);
  CHECK(result.memory.size() == 1);

  SimulateOptions unbounded;
  unbounded.capacity = Capacity::kIgnored;
  const Result whole = simulate(builder.build(), unbounded);
  CHECK_FALSE(whole.out_of_memory.has_value());
  CHECK(whole.end == 24_ps);
}

TEST_CASE("What is there before the step may already be too much") {
  ProgramBuilder builder;
  builder.capacity(Tier::kHost, 10_B);
  const BufferId first = builder.buffer(6_B, Tier::kHost);
  const BufferId second = builder.buffer(5_B, Tier::kHost);
  builder.edit(first).initial = builder.edit(second).initial = true;
  builder.add(Stream::kCompute, 1_ps, {}, {first, second});
  const Result result = simulate(builder.build());
  REQUIRE(result.out_of_memory.has_value());
  CHECK(result.out_of_memory->instance == kNoInstance);
  CHECK(result.out_of_memory->buffer == second);
  CHECK(result.out_of_memory->free == 4_B);
  CHECK(result.end == 0_ps);

  builder.capacity(Tier::kHost, 11_B);
  CHECK_FALSE(simulate(builder.build()).out_of_memory.has_value());
}

TEST_CASE("Initial buffers are freed after their last user unless they persist") {
  ProgramBuilder builder;
  const BufferId gone = builder.buffer(1_B);
  const BufferId stays = builder.buffer(2_B);
  const BufferId unused = builder.buffer(4_B);
  for (const BufferId id : {gone, stays, unused}) builder.edit(id).initial = true;
  builder.edit(stays).persistent = true;
  builder.add(Stream::kCompute, 3_ps, {}, {gone, stays});
  const Result result = simulate(builder.build());
  REQUIRE(result.memory.size() == 4);
  CHECK(result.memory[2].buffer == unused);
  CHECK(result.memory[3].buffer == gone);
  CHECK_FALSE(result.memory[3].allocated);
  CHECK(result.memory[3].time == 3_ps);
}

TEST_CASE("Chains of no duration run through within one instant") {
  ProgramBuilder builder;
  const InstanceId a = builder.add(Stream::kCompute, 0_ps);
  const InstanceId b = builder.add(Stream::kCopyIn, 0_ps, {a});
  const InstanceId c = builder.add(Stream::kCompute, 0_ps, {b});
  const InstanceId d = builder.add(Stream::kCompute, 2_ps);
  const Result result = simulate(builder.build());
  CHECK(at(result, c).finish == 0_ps);
  CHECK(at(result, d).start == 0_ps);
  CHECK(result.end == 2_ps);
}

TEST_CASE("Dependencies that run in a circle are an internal error") {
  ProgramBuilder builder;
  builder.add(Stream::kCompute, 1_ps, {InstanceId{1}});
  builder.add(Stream::kCopyIn, 1_ps, {InstanceId{0}});
  CHECK_THROWS_AS(simulate(builder.build()), InternalError);
}

TEST_CASE("A stream's order against its dependencies is an internal error") {
  ProgramBuilder builder;
  builder.add(Stream::kCompute, 1_ps, {InstanceId{1}});
  builder.add(Stream::kCompute, 1_ps);
  CHECK_THROWS_AS(simulate(builder.build()), InternalError);
}

TEST_CASE("Malformed programs are internal errors") {
  ProgramBuilder builder;
  builder.add(Stream::kCompute, 1_ps);
  const Program good = builder.build();
  Program bad = good;
  bad.first_use.pop_back();
  CHECK_THROWS_AS(simulate(bad), InternalError);
  bad = good;
  bad.order[0].clear();
  CHECK_THROWS_AS(simulate(bad), InternalError);
  bad = good;
  bad.instances[0].fixed = -1_ps;
  CHECK_THROWS_AS(simulate(bad), InternalError);
  bad = good;
  bad.instances[0].fixed = SimTime(std::numeric_limits<std::int64_t>::max() / 2);
  CHECK_THROWS_AS(simulate(bad), InternalError);
}

// Forwards to an ideal allocator that the executor cannot recognise, and takes its time.
class SlowAllocator : public Allocator {
 public:
  SlowAllocator(Bytes capacity, SimTime driver_time)
      : ideal_(capacity), driver_time_(driver_time) {}
  std::optional<Allocation> allocate(Bytes bytes, Stream stream) override {
    auto granted = ideal_.allocate(bytes, stream);
    if (granted) granted->driver_time = driver_time_;
    return granted;
  }
  void free(std::uint64_t handle) override { ideal_.free(handle); }
  Bytes available() const override { return ideal_.available(); }
  AllocatorStatistics statistics() const override { return ideal_.statistics(); }

 private:
  IdealAllocator ideal_;
  SimTime driver_time_;
};

TEST_CASE("An allocator that asks the driver delays the start by the sum of its calls") {
  ProgramBuilder builder;
  const BufferId x = builder.buffer(1_B);
  const BufferId y = builder.buffer(1_B);
  const InstanceId kernel = builder.add(Stream::kCompute, 5_ps, {}, {x, y});
  SlowAllocator slow(100_B, 3_ps);
  SimulateOptions options;
  options.allocators[0] = &slow;
  const Result result = simulate(builder.build(), options);
  CHECK(at(result, kernel).ready == 0_ps);
  CHECK(at(result, kernel).start == 6_ps);
  CHECK(at(result, kernel).finish == 11_ps);
  CHECK(result.memory.front().time == 0_ps);
  CHECK(result.compute_busy == 5_ps);
  REQUIRE(result.stalls.size() == 1);
  CHECK(result.stalls[0].cause == StallCause::kAllocatorCall);
  CHECK(result.stalls[0].blocker == kernel);
  CHECK(slow.statistics().allocated == 0_B);
  CHECK(slow.statistics().allocated_peak == 2_B);
}

TEST_CASE("An ideal allocator behind the interface gives the run of the built-in one") {
  test::RandomProgramShape shape;
  shape.instances = 60;
  shape.buffers = 50;
  shape.streams = 6;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Program program = test::random_program(seed, shape);
    const Result expected = simulate(program);
    std::vector<SlowAllocator> plain;
    std::vector<IdealAllocator> known;
    for (const Bytes capacity : program.capacity) {
      plain.emplace_back(capacity, 0_ps);
      known.emplace_back(capacity);
    }
    SimulateOptions through_interface, recognised;
    for (std::size_t t = 0; t < kTierCount; ++t) {
      through_interface.allocators[t] = &plain[t];
      recognised.allocators[t] = &known[t];
    }
    REQUIRE(test::bytes_of(simulate(program, recognised)) == test::bytes_of(expected));
    Result got = simulate(program, through_interface);
    // Behind the interface, what others of the row would have taken is given back before the
    // verdict.
    REQUIRE(got.out_of_memory.has_value() == expected.out_of_memory.has_value());
    if (got.out_of_memory) {
      REQUIRE(got.out_of_memory->instance == expected.out_of_memory->instance);
      got.out_of_memory = expected.out_of_memory;
    }
    REQUIRE(test::bytes_of(got) == test::bytes_of(expected));
  }
}

TEST_CASE("Allocators are found by name and explain themselves") {
  const AllocatorKind* const ideal = find_allocator("ideal");
  REQUIRE(ideal != nullptr);
  CHECK(find_allocator("idea") == nullptr);
  CHECK_FALSE(ideal->check("").has_value());
  CHECK(ideal->check("max_split_size_mb:128").has_value());
  const auto allocator = ideal->make(10_B, "");
  CHECK(allocator->allocate(10_B, Stream::kCompute).has_value());
  CHECK_FALSE(allocator->allocate(1_B, Stream::kCompute).has_value());
  CHECK(allocator->allocate(0_B, Stream::kCompute).has_value());
  CHECK(allocator->statistics().reserved_peak == 10_B);
  for (const AllocatorKind& kind : allocator_kinds()) {
    CHECK_FALSE(kind.summary.empty());
    CHECK(find_allocator(kind.name) == &kind);
  }
}

}  // namespace
}  // namespace tidemark::sim
