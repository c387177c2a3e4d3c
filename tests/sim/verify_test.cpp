// A result that has been tampered with is found out, whatever was changed.

#include "sim/verify.hpp"

#include <algorithm>

#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"
#include "tests/support/random_program.hpp"

namespace tidemark::sim {
namespace {

using namespace tidemark::literals;
using test::ProgramBuilder;

// 1 B/ps. t is in HBM 0-16, u 10-14, h on the host 10-19; w stays.
//
//   compute   | A 0-10 | B 10-14 |          | D 19-20 |
//   copy_out           | C 10-16  |                        6 B of t
//   cpu                           | U 16-19 |
struct Example {
  InstanceId a, b, c, update, d;
  BufferId t, u, h, w;
  Program program;
  Result result;

  Example() {
    ProgramBuilder builder;
    builder.capacity(Tier::kHbm, 12_B);
    builder.capacity(Tier::kHost, 6_B);
    builder.link(LinkKind::kPcieD2h, Bandwidth(1'000'000'000'000));
    const PathId out = builder.path({{LinkKind::kPcieD2h, 1}});
    t = builder.buffer(6_B);
    u = builder.buffer(4_B, Tier::kHbm, Category::kActivations);
    h = builder.buffer(6_B, Tier::kHost);
    w = builder.buffer(2_B);
    builder.edit(w).initial = builder.edit(w).persistent = true;
    a = builder.add(Stream::kCompute, 10_ps, {}, {t, w});
    b = builder.add(Stream::kCompute, 4_ps, {}, {t, u});
    c = builder.move(Stream::kCopyOut, out, 6_B, {a}, {t, h});
    update = builder.add(Stream::kCpuOptimizer, 3_ps, {c}, {h});
    d = builder.add(Stream::kCompute, 1_ps, {update}, {w});
    program = builder.build();
    result = simulate(program);
  }
  InstanceRecord& record(InstanceId id) { return result.records[index(id)]; }
  // The row in which `buffer` is allocated or freed.
  std::size_t row(BufferId buffer, bool allocated) const {
    const auto at = std::ranges::find_if(result.memory, [&](const MemoryEvent& event) {
      return event.buffer == buffer && event.allocated == allocated;
    });
    return static_cast<std::size_t>(at - result.memory.begin());
  }
  bool breaks(Rule rule) const {
    return std::ranges::any_of(verify(program, result),
                               [&](const Violation& v) { return v.rule == rule; });
  }
};

TEST_CASE("The example keeps all rules") {
  const Example example;
  CHECK(verify(example.program, example.result).empty());
  CHECK(example.result.end == 20_ps);
}

TEST_CASE("Columns that do not belong to the program break shape") {
  Example example;
  example.result.records.pop_back();
  CHECK(example.breaks(Rule::kShape));
  example = {};
  example.result.memory[1].buffer = BufferId{4};
  CHECK(example.breaks(Rule::kShape));
  example = {};
  example.result.memory[1].instance = InstanceId{5};
  CHECK(example.breaks(Rule::kShape));
  example = {};
  std::swap(example.result.memory.front(), example.result.memory.back());
  CHECK(example.breaks(Rule::kShape));
  example = {};
  example.result.stalls[0].blocker = InstanceId{5};
  CHECK(example.breaks(Rule::kShape));
}

TEST_CASE("An instance that never ran breaks completeness") {
  Example example;
  example.record(example.d) = {};
  CHECK(example.breaks(Rule::kComplete));
  example = {};
  example.result.out_of_memory = OutOfMemory{};  // though all ran
  CHECK(example.breaks(Rule::kComplete));
}

TEST_CASE("A start before a dependency has finished breaks dependencies") {
  Example example;
  example.record(example.c).ready -= 1_ps;
  CHECK(example.breaks(Rule::kDependencies));
  example = {};
  example.record(example.c).start -= 1_ps;
  CHECK(example.breaks(Rule::kDependencies));
  example = {};
  example.record(example.d).ready += 1_ps;  // it was ready sooner
  CHECK(example.breaks(Rule::kDependencies));
}

TEST_CASE("Two instances of a stream at once break streams") {
  Example example;
  example.record(example.b).start -= 1_ps;
  CHECK(example.breaks(Rule::kStreams));
}

TEST_CASE("Starting late without waiting for memory breaks start") {
  Example example;
  example.record(example.d).start += 1_ps;
  example.record(example.d).finish += 1_ps;
  CHECK(example.breaks(Rule::kStart));
  example = {};
  example.record(example.d).start -= 1_ps;  // before it is ready
  CHECK(example.breaks(Rule::kStart));
}

TEST_CASE("A kernel of another length, or a transfer faster than its link, breaks duration") {
  for (const SimTime by : {1_ps, -1_ps}) {
    Example example;
    example.record(example.d).finish += by;
    CHECK(example.breaks(Rule::kDuration));
  }
  Example example;
  example.record(example.c).finish -= 1_ps;
  CHECK(example.breaks(Rule::kDuration));
  example = {};
  example.record(example.c).finish += 1_ps;  // slower is no breach of this rule
  CHECK_FALSE(example.breaks(Rule::kDuration));
}

TEST_CASE("A buffer allocated twice, never, late, early or for someone else breaks allocation") {
  Example example;
  example.result.memory.push_back(example.result.memory[example.row(example.u, true)]);
  example.result.memory.back().time = 20_ps;
  CHECK(example.breaks(Rule::kAllocation));
  example = {};
  example.result.memory.erase(example.result.memory.begin() +
                              static_cast<std::ptrdiff_t>(example.row(example.u, true)));
  CHECK(example.breaks(Rule::kAllocation));
  example = {};
  example.result.memory[example.row(example.h, true)].time += 1_ps;
  CHECK(example.breaks(Rule::kAllocation));
  example = {};
  example.result.memory[example.row(example.u, true)].time -= 1_ps;
  CHECK(example.breaks(Rule::kAllocation));
  example = {};
  example.result.memory[example.row(example.u, true)].instance = example.c;
  CHECK(example.breaks(Rule::kAllocation));
  example = {};
  example.result.memory[example.row(example.w, true)].instance = example.a;  // it is initial
  CHECK(example.breaks(Rule::kAllocation));
}

TEST_CASE("A buffer freed early, late, by someone else, never or though it stays breaks free") {
  for (const SimTime by : {1_ps, -1_ps}) {
    Example example;
    example.result.memory[example.row(example.t, false)].time += by;
    CHECK(example.breaks(Rule::kFree));
  }
  Example example;
  example.result.memory[example.row(example.t, false)].instance = example.b;
  CHECK(example.breaks(Rule::kFree));
  example = {};
  example.result.memory.pop_back();
  CHECK(example.breaks(Rule::kFree));
  example = {};
  example.result.memory.push_back({20_ps, example.w, example.d, false});
  CHECK(example.breaks(Rule::kFree));
  example = {};
  --example.record(example.b).events_at_finish;  // u is freed by then
  CHECK(example.breaks(Rule::kFree));
  example = {};
  ++example.record(example.b).events_at_finish;  // t is freed later
  CHECK(example.breaks(Rule::kFree));
}

TEST_CASE("What is allocated and neither freed nor kept breaks the balance") {
  Example example;
  example.result.memory.pop_back();
  CHECK(example.breaks(Rule::kBalance));
}

TEST_CASE("A level above the capacity breaks capacity, to the byte") {
  Example example;
  CHECK_FALSE(example.breaks(Rule::kCapacity));  // 6 + 4 + 2 of 12 B
  example.program.capacity[0] = 11_B;
  CHECK(example.breaks(Rule::kCapacity));
  SimulateOptions unbounded;
  unbounded.capacity = Capacity::kIgnored;
  CHECK(verify(example.program, example.result, unbounded).empty());
}

TEST_CASE("Samples that do not add up to the level break categories") {
  Example example;
  std::vector<Sample> samples = timeline(example.program, example.result);
  CHECK(verify_timeline(example.program, example.result, samples).empty());
  samples[2].bytes += 1_B;
  CHECK_FALSE(verify_timeline(example.program, example.result, samples).empty());
  samples = timeline(example.program, example.result);
  samples.back().time += 1_ps;
  CHECK_FALSE(verify_timeline(example.program, example.result, samples).empty());
  samples.pop_back();
  CHECK_FALSE(verify_timeline(example.program, example.result, samples).empty());
}

TEST_CASE("A byte more or less over a link breaks moved") {
  for (const std::int64_t by : {1, -1}) {
    Example example;
    example.result.moved[static_cast<std::size_t>(LinkKind::kPcieD2h)] += Bytes(by);
    CHECK(example.breaks(Rule::kMoved));
  }
}

TEST_CASE("Two transfers that both go at full speed over one link break links") {
  ProgramBuilder builder;
  builder.link(LinkKind::kDram, Bandwidth(1'000'000'000'000));
  const PathId path = builder.path({{LinkKind::kDram, 1}});
  builder.move(Stream::kCopyIn, path, 10_B);
  builder.move(Stream::kNvmeRead, path, 10_B);
  const Program program = builder.build();
  Result result = simulate(program);
  CHECK(verify(program, result).empty());
  for (const SimTime end : {19_ps, 10_ps}) {
    for (InstanceRecord& record : result.records) record.finish = end;
    result.end = end;
    result.stalls[0].end = end;
    const std::vector<Violation> violations = verify(program, result);
    REQUIRE(violations.size() == 1);
    CHECK(violations[0].rule == Rule::kLinks);
  }
}

TEST_CASE("A stall moved, mislabelled, unexplained or missing is found") {
  // The gap 14-19: C until 16, then U.
  Example example;
  REQUIRE(example.result.stalls.size() == 2);
  example.result.stalls[0].begin -= 1_ps;  // B runs
  CHECK(example.breaks(Rule::kStalls));
  CHECK(example.breaks(Rule::kIdentity));
  example = {};
  example.result.stalls[0].end = 17_ps;  // C has ended, and the second has begun
  CHECK(example.breaks(Rule::kStalls));
  example = {};
  example.result.stalls[0].cause = StallCause::kNvmeRead;
  CHECK(example.breaks(Rule::kStalls));
  example = {};
  example.result.stalls[0].cause = StallCause::kAllocatorCall;
  CHECK(example.breaks(Rule::kStalls));
  example = {};
  example.result.stalls[1].cause = StallCause::kAllocation;
  example.result.stalls[1].blocker = example.c;
  CHECK(example.breaks(Rule::kStalls));
  example = {};
  example.result.stalls[1].blocker = kNoInstance;
  CHECK(example.breaks(Rule::kStalls));
  example = {};
  example.result.stalls[1].waiting = example.b;
  CHECK(example.breaks(Rule::kStalls));
  example = {};
  std::swap(example.result.stalls[0], example.result.stalls[1]);
  CHECK(example.breaks(Rule::kStalls));
  example = {};
  example.result.stalls.pop_back();
  CHECK(example.breaks(Rule::kIdentity));
}

TEST_CASE("Wrong busy time breaks the identity") {
  Example example;
  example.result.compute_busy += 1_ps;
  CHECK(example.breaks(Rule::kIdentity));
}

TEST_CASE("An end that is not that of the last instance, or below the critical path, is found") {
  for (const SimTime by : {1_ps, -1_ps}) {
    Example example;
    example.result.end += by;
    CHECK(example.breaks(Rule::kEnd));
  }
  Example example;
  example.record(example.d).start -= 1_ps;
  example.record(example.d).finish -= 1_ps;
  example.result.end -= 1_ps;
  CHECK(example.breaks(Rule::kEnd));
}

TEST_CASE("A verdict of too little memory where there is enough is found") {
  ProgramBuilder builder;
  builder.capacity(Tier::kHbm, 10_B);
  const BufferId big = builder.buffer(11_B);
  builder.add(Stream::kCompute, 1_ps, {}, {big});
  Program program = builder.build();
  const Result result = simulate(program);
  CHECK(verify(program, result).empty());
  const auto broken = [&](const Result& changed) {
    return std::ranges::any_of(verify(program, changed),
                               [](const Violation& v) { return v.rule == Rule::kOutOfMemory; });
  };
  Result changed = result;
  changed.out_of_memory->free = 11_B;
  CHECK(broken(changed));
  changed = result;
  changed.out_of_memory->requested = 12_B;
  CHECK(broken(changed));
  changed = result;
  changed.out_of_memory->tier = Tier::kHost;
  CHECK(broken(changed));
  changed = result;
  changed.out_of_memory->instance = InstanceId{1};
  CHECK(broken(changed));
  changed = result;
  changed.out_of_memory->instance = kNoInstance;  // the buffer is not initial
  CHECK(broken(changed));
}

// Any single time, count or flag that is changed in the result of a random program is noticed.
TEST_CASE("Random tampering with random results is noticed") {
  test::RandomProgramShape shape;
  shape.instances = 40;
  shape.buffers = 40;
  shape.streams = 5;
  shape.reach = 10;
  shape.limited = false;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const Program program = test::random_program(seed, shape);
    Result result = simulate(program);
    test::Random random(seed);
    const auto any = [&](std::size_t size) {
      return static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(size) - 1));
    };
    const SimTime by(random.one_in(2) ? 1 : -1);
    switch (seed % 6) {
      case 0:
        result.records[any(40)].ready += by;
        break;
      case 1:
        result.records[any(40)].start += by;
        break;
      case 2:
        result.memory[any(result.memory.size())].time += by;
        break;
      case 3:
        result.memory.erase(result.memory.begin() +
                            static_cast<std::ptrdiff_t>(any(result.memory.size())));
        break;
      case 4: {
        MemoryEvent& event = result.memory[any(result.memory.size())];
        event.allocated = !event.allocated;
        break;
      }
      case 5:
        if (result.stalls.empty()) continue;
        result.stalls[any(result.stalls.size())].end += by;
        break;
    }
    CHECK_FALSE(verify(program, result).empty());
  }
}

}  // namespace
}  // namespace tidemark::sim
