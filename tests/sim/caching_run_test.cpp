// Programs played with the caching allocator in HBM. Every driver call takes 140 us.

#include "sim/account.hpp"
#include "sim/allocators/caching.hpp"
#include "sim/executor.hpp"
#include "sim/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"

namespace tidemark::sim {
namespace {

using test::ProgramBuilder;

const AllocatorRecord& hbm(const Result& result) { return result.allocators[0]; }

SimulateOptions with(CachingAllocator& allocator, std::span<const KeptBuffer> carried = {}) {
  SimulateOptions options;
  options.allocators[0] = &allocator;
  options.carried = carried;
  return options;
}

SimTime stalled(const Program& program, const Result& result, StallCause cause) {
  return account(program, result).stalled[static_cast<std::size_t>(cause)];
}

TEST_CASE("A kernel waits while the driver makes a segment, and not for what is cached") {
  // k0 makes 3 MiB out of a segment of 20 MiB, k1 512 KiB out of one of 2 MiB, k2 another 512 KiB
  // out of the rest of that. Free in split segments: 17 + 1.5 MiB once k1 has its own.
  ProgramBuilder builder;
  const BufferId a = builder.buffer(3_MiB);
  const BufferId b = builder.buffer(512_KiB);
  const BufferId c = builder.buffer(512_KiB);
  builder.add(Stream::kCompute, 5_us, {}, {a});
  builder.add(Stream::kCompute, 5_us, {}, {a, b});
  const InstanceId k2 = builder.add(Stream::kCompute, 5_us, {}, {b, c});
  const Program program = builder.build();
  CachingAllocator allocator(64_MiB, {});
  const Result result = simulate(program, with(allocator));

  CHECK(result.records[index(k2)].start == 290_us);
  CHECK(result.end == 295_us);
  CHECK(stalled(program, result, StallCause::kAllocatorCall) == 280_us);
  const AllocatorStatistics& end = hbm(result).end;
  CHECK(end.allocated == 0_B);
  CHECK(end.allocated_peak == 3_MiB + 512_KiB);
  CHECK(end.active_peak == end.allocated_peak);
  CHECK(end.reserved == 22_MiB);
  CHECK(end.reserved_peak == 22_MiB);
  CHECK(end.inactive_split == 0_B);
  CHECK(end.inactive_split_peak == 17_MiB + 1536_KiB);
  CHECK(end.driver_allocations == 2);
  CHECK(end.driver_frees == 0);
  CHECK(end.retries == 0);
  CHECK(end.driver_time == 280_us);
  // Most is alive once k1 has its buffer: 3.5 of 22 MiB.
  const AllocatorStatistics& peak = hbm(result).at_peak;
  CHECK(peak.allocated == end.allocated_peak);
  CHECK(peak.reserved == 22_MiB);
  CHECK(peak.driver_allocations == 2);
  CHECK(verify(program, result, with(allocator)).empty());
}

TEST_CASE("The figures at the peak are those of its moment, not of the largest reservation") {
  // 12 MiB, then 30 MiB beside them; when both are free, 21 MiB twice: the cached 30 MiB serve one,
  // the other takes a segment of 22 MiB. Live: 12, 42, 42 (not more), reserved: 12, 42, 64.
  ProgramBuilder builder;
  const BufferId a = builder.buffer(12_MiB);
  const BufferId b = builder.buffer(30_MiB);
  const BufferId c = builder.buffer(21_MiB);
  const BufferId d = builder.buffer(21_MiB);
  builder.add(Stream::kCompute, 1_us, {}, {a});
  builder.add(Stream::kCompute, 1_us, {}, {a, b});
  builder.add(Stream::kCompute, 1_us, {}, {c, d});
  CachingAllocator allocator(100_MiB, {});
  const Result result = simulate(builder.build(), with(allocator));
  CHECK(hbm(result).at_peak.allocated == 42_MiB);
  CHECK(hbm(result).at_peak.reserved == 42_MiB);
  CHECK(hbm(result).end.reserved_peak == 64_MiB);
  // Noted when each kernel is due; the driver takes 140 us before each of them starts.
  REQUIRE(result.reserved.size() == 3);
  CHECK(result.reserved[0].time == 0_us);
  CHECK(result.reserved[0].reserved == 12_MiB);
  CHECK(result.reserved[1].time == 141_us);
  CHECK(result.reserved[1].reserved == 42_MiB);
  CHECK(result.reserved[2].time == 282_us);
  CHECK(result.reserved[2].reserved == 64_MiB);
}

// a (30 MiB) is copied out for 1 ms; k1 wants b (10 MiB) and d (14 MiB) beside it.
struct Waiting {
  Program program;
  InstanceId copy{}, k1{};

  Waiting() {
    ProgramBuilder builder;
    const BufferId a = builder.buffer(30_MiB);
    const BufferId b = builder.buffer(10_MiB);
    const BufferId d = builder.buffer(14_MiB);
    const InstanceId k0 = builder.add(Stream::kCompute, 10_us, {}, {a});
    copy = builder.add(Stream::kCopyOut, 1000_us, {k0}, {a}, Phase::kTransfer);
    k1 = builder.add(Stream::kCompute, 10_us, {k0}, {b, d});
    program = builder.build();
  }
};

TEST_CASE("An instance that is refused gives back what it had, and no peak tells of it") {
  // 50 MiB: b gets a segment, d does not (two calls that fail, around an empty cache), and b goes
  // back. 40 MiB were allocated for a moment: not the peak. Once a is free, b and d are cut from
  // what is cached. k1 pays for the three calls after its wait.
  const Waiting w;
  CachingAllocator allocator(50_MiB, {});
  const Result result = simulate(w.program, with(allocator));
  REQUIRE_FALSE(result.out_of_memory);
  CHECK(result.records[index(w.copy)].finish == 1150_us);
  CHECK(result.records[index(w.k1)].start == 1150_us + 420_us);
  CHECK(stalled(w.program, result, StallCause::kAllocatorCall) == 140_us + 420_us);
  CHECK(stalled(w.program, result, StallCause::kAllocation) == 1000_us);
  const AllocatorStatistics& end = hbm(result).end;
  CHECK(end.allocated_peak == 30_MiB);
  CHECK(end.active_peak == 30_MiB);
  CHECK(end.inactive_split_peak == 16_MiB);  // of a's 30, beside d
  CHECK(end.reserved_peak == 40_MiB);        // the segment that b was given stayed
  CHECK(end.driver_allocations == 2);
  CHECK(end.driver_frees == 0);
  CHECK(end.retries == 1);
  CHECK(end.driver_time == 560_us);
  CHECK(allocator.caching_statistics().requested_peak == 30_MiB);
  CHECK(verify(w.program, result, with(allocator)).empty());
}

TEST_CASE("With room for all of it nobody waits; with room for less than the rest all is over") {
  const Waiting w;
  CachingAllocator enough(54_MiB, {}), little(23_MiB, {});
  CHECK(simulate(w.program, with(enough)).records[index(w.k1)].start == 150_us + 280_us);
  const Result failed = simulate(w.program, with(little));
  REQUIRE(failed.out_of_memory);
  CHECK(failed.out_of_memory->requested == 30_MiB);
}

TEST_CASE("Whoever asks again whenever something has come free counts one retry") {
  // 40 MiB hold a1 (10) and a2 (20), which leave after 1 and 2 ms; k1 wants 40. Calls that fail
  // come in pairs around emptying the cache: at first 2 calls; once a1 is free 2 and a segment
  // given back; once a2 is free one that fails, a segment given back and one that succeeds.
  ProgramBuilder builder;
  const BufferId a1 = builder.buffer(10_MiB);
  const BufferId a2 = builder.buffer(20_MiB);
  const BufferId b = builder.buffer(40_MiB);
  const InstanceId k0 = builder.add(Stream::kCompute, 10_us, {}, {a1, a2});
  builder.add(Stream::kCopyOut, 1000_us, {k0}, {a1}, Phase::kTransfer);
  builder.add(Stream::kNvmeWrite, 2000_us, {k0}, {a2}, Phase::kTransfer);
  const InstanceId k1 = builder.add(Stream::kCompute, 10_us, {k0}, {b});
  CachingAllocator allocator(40_MiB, {});
  const Result result = simulate(builder.build(), with(allocator));
  REQUIRE_FALSE(result.out_of_memory);
  CHECK(result.records[index(k1)].start == 290_us + 2000_us + 8 * 140_us);
  CHECK(hbm(result).end.retries == 1);
  CHECK(hbm(result).end.driver_frees == 2);
  CHECK(hbm(result).end.driver_allocations == 3);
  CHECK(hbm(result).end.driver_time == 10 * 140_us);
}

TEST_CASE("Out of memory tells what the allocator found when it was last asked") {
  // 64 MiB: a (21 MiB) takes a segment of 22 as a whole, since no more than 1 MiB would be left of
  // it, b (3 MiB) sits in one of 20, and 22 are left; 23 MiB ask for a segment of 24. Reserved but
  // not allocated: 17 MiB.
  ProgramBuilder builder;
  const BufferId a = builder.buffer(21_MiB);
  const BufferId b = builder.buffer(3_MiB);
  const BufferId c = builder.buffer(23_MiB);
  const InstanceId k0 = builder.add(Stream::kCompute, 1_us, {}, {a, b});
  const InstanceId k1 = builder.add(Stream::kCompute, 1_us, {k0}, {a, b, c});
  CachingAllocator allocator(64_MiB, {});
  const Result result = simulate(builder.build(), with(allocator));
  REQUIRE(result.out_of_memory);
  CHECK(result.out_of_memory->instance == k1);
  CHECK(result.out_of_memory->buffer == c);
  REQUIRE(result.out_of_memory->failure);
  const AllocationFailure& failure = *result.out_of_memory->failure;
  CHECK(failure.requested == 23_MiB);
  CHECK(failure.tried == 24_MiB);
  CHECK(failure.capacity == 64_MiB);
  CHECK(failure.free == 22_MiB);
  CHECK(failure.allocated == 25_MiB);
  CHECK(failure.reserved_unallocated == 17_MiB);
  CHECK(hbm(result).end.retries == 1);

  CHECK_FALSE(simulate(Waiting().program).out_of_memory->failure);  // 1 MB, ideal: does not say
}

TEST_CASE("What stays after one step is where the next one begins, and nothing is asked for anew") {
  // The weight takes a segment before the first step, and the kernel waits for that of its output.
  ProgramBuilder builder;
  const BufferId weight = builder.buffer(3_MiB);
  const BufferId output = builder.buffer(100_B);
  builder.edit(weight).initial = builder.edit(weight).persistent = true;
  builder.add(Stream::kCompute, 5_us, {}, {weight, output});
  const Program program = builder.build();
  CachingAllocator allocator(64_MiB, {});
  const Result first = simulate(program, with(allocator));
  CHECK(first.end == 145_us);
  CHECK(hbm(first).end.driver_allocations == 2);
  CHECK(hbm(first).end.driver_time == 280_us);
  REQUIRE(first.kept.size() == 1);
  CHECK(first.kept[0].buffer == weight);
  const std::uint64_t address = allocator.address_of(first.kept[0].handle);

  const Result second = simulate(program, with(allocator, first.kept));
  CHECK(second.end == 5_us);
  CHECK(hbm(second).end.driver_allocations == 0);
  CHECK(hbm(second).end.driver_time == 0_us);
  CHECK(hbm(second).end.allocated == 3_MiB);
  CHECK(hbm(second).end.allocated_peak == 3_MiB + 512_B);
  CHECK(hbm(second).at_peak.reserved == 22_MiB);
  CHECK(allocator.address_of(second.kept[0].handle) == address);
  REQUIRE(second.memory.size() == first.memory.size());
  CHECK(second.memory[0].buffer == weight);
  CHECK(verify(program, second, with(allocator, first.kept)).empty());

  builder.edit(weight).initial = false;
  CHECK_THROWS_AS(simulate(builder.build(), with(allocator, second.kept)), InternalError);
}

TEST_CASE("Peaks of a run start from what is there, not from what an earlier run reached") {
  ProgramBuilder large, small;
  large.add(Stream::kCompute, 1_us, {}, {large.buffer(30_MiB)});
  small.add(Stream::kCompute, 1_us, {}, {small.buffer(1_B)});
  CachingAllocator allocator(64_MiB, {});
  simulate(large.build(), with(allocator));
  const Result result = simulate(small.build(), with(allocator));
  CHECK(hbm(result).end.allocated_peak == 512_B);
  CHECK(hbm(result).end.reserved_peak == 32_MiB);  // 30 are still cached
}

TEST_CASE("Each stream has its own pool; what another stream copies returns to the pool it is of") {
  // x is made on the compute stream and copied out; when that has ended the compute stream uses the
  // block again. The copy-in stream finds nothing in its own pool though there is room.
  ProgramBuilder builder;
  const BufferId x = builder.buffer(100_B);
  const BufferId y = builder.buffer(100_B);
  const BufferId z = builder.buffer(100_B);
  const InstanceId k0 = builder.add(Stream::kCompute, 1_us, {}, {x});
  const InstanceId out = builder.add(Stream::kCopyOut, 1_us, {k0}, {x}, Phase::kTransfer);
  const InstanceId k1 = builder.add(Stream::kCompute, 1_us, {out}, {y});
  const InstanceId in = builder.add(Stream::kCopyIn, 1_us, {k1}, {z}, Phase::kTransfer);
  CachingAllocator allocator(64_MiB, {});
  allocator.trace(Trace::kOn);
  const Result result = simulate(builder.build(), with(allocator));
  CHECK(result.records[index(k1)].start == 142_us);
  CHECK(result.records[index(in)].start == 143_us + 140_us);
  CHECK(hbm(result).end.driver_allocations == 2);
  std::vector<std::uint64_t> addresses;
  for (const MemoryTraceEvent& event : allocator.trace_events()) {
    if (event.action == MemoryAction::kAlloc) addresses.push_back(event.address);
  }
  REQUIRE(addresses.size() == 3);
  CHECK(addresses[1] == addresses[0]);
  CHECK(addresses[2] != addresses[0]);
}

TEST_CASE("Nothing is taken for 0 bytes, and one byte takes 512") {
  ProgramBuilder builder;
  const BufferId none = builder.buffer(0_B);
  const BufferId one = builder.buffer(1_B);
  builder.add(Stream::kCompute, 1_us, {}, {none});
  builder.add(Stream::kCompute, 1_us, {}, {none, one});
  CachingAllocator allocator(64_MiB, {});
  const Result result = simulate(builder.build(), with(allocator));
  CHECK(result.records[0].start == 0_us);
  CHECK(result.records[1].start == 141_us);
  CHECK(result.memory.size() == 4);
  CHECK(hbm(result).at_peak.allocated == 512_B);
  CHECK(hbm(result).end.allocated == 0_B);
}

TEST_CASE("The CUDA context is the driver's: room that is gone, but nothing of the allocator's") {
  // Of 64 MiB 23 are the context's: 20 + 20 MiB of segments fit, a third does not.
  ProgramBuilder builder;
  const BufferId context = builder.buffer(23_MiB, Tier::kHbm, Category::kRuntime);
  builder.edit(context).initial = builder.edit(context).persistent = true;
  const BufferId x = builder.buffer(20_MiB);
  const BufferId y = builder.buffer(20_MiB);
  builder.add(Stream::kCompute, 1_us, {}, {x, y});
  const Program program = builder.build();
  CachingAllocator allocator(64_MiB, {}), less(62_MiB, {}), none(22_MiB, {});
  const Result first = simulate(program, with(allocator));
  REQUIRE_FALSE(first.out_of_memory);
  CHECK(hbm(first).end.reserved_peak == 40_MiB);
  CHECK(hbm(first).end.allocated == 0_B);
  REQUIRE(first.kept.size() == 1);
  const Result second = simulate(program, with(allocator, first.kept));  // the same context
  REQUIRE_FALSE(second.out_of_memory);
  CHECK(hbm(second).end.driver_allocations == 0);
  const Result failed = simulate(program, with(less));
  REQUIRE(failed.out_of_memory);
  CHECK(failed.out_of_memory->failure->capacity == 62_MiB);
  CHECK(failed.out_of_memory->failure->free == 19_MiB);
  CHECK(simulate(program, with(none)).out_of_memory->instance == kNoInstance);
}

TEST_CASE("An ideal tier reports bytes as they are, and no driver") {
  ProgramBuilder builder;
  builder.add(Stream::kCompute, 1_us, {}, {builder.buffer(100_B)});
  const Result result = simulate(builder.build());
  CHECK(hbm(result).end.allocated == 0_B);
  CHECK(hbm(result).end.reserved_peak == 100_B);
  CHECK(hbm(result).at_peak.allocated == 100_B);
  CHECK(hbm(result).at_peak.reserved == 100_B);
  CHECK(hbm(result).end.driver_allocations == 0);
  CHECK(result.kept.empty());
}

}  // namespace
}  // namespace tidemark::sim
