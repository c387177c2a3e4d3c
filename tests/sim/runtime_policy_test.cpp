// Hooks of a run-time policy, on steps worked out by hand.

#include "sim/runtime_policy.hpp"

#include <algorithm>
#include <vector>

#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"

using namespace tidemark;
using namespace tidemark::sim;
using test::ProgramBuilder;

namespace {

//   instance   0      1         2         3       4         takes 10, 20, 30, 40, 50
//   reads             a         b         c       a
//   makes      a (4)  b (3)     c (3)     d (2)   e (1)
struct Chain {
  ProgramBuilder builder;
  std::vector<BufferId> buffers;
  std::vector<InstanceId> instances;

  Chain() {
    for (const std::int64_t size : {4, 3, 3, 2, 1}) {
      buffers.push_back(builder.buffer(Bytes(size)));
    }
    const std::vector<std::vector<BufferId>> uses = {{buffers[0]},
                                                     {buffers[0], buffers[1]},
                                                     {buffers[1], buffers[2]},
                                                     {buffers[2], buffers[3]},
                                                     {buffers[0], buffers[4]}};
    for (std::size_t i = 0; i < uses.size(); ++i) {
      instances.push_back(builder.add(Stream::kCompute,
                                      SimTime(10 * static_cast<std::int64_t>(i + 1)), {}, uses[i]));
    }
  }
};

// Evicts a (buffer 0) when asked, and nothing else; instance 0 makes it again before instance 4.
class EvictsTheFirst final : public RuntimePolicy {
 public:
  explicit EvictsTheFirst(const Chain& chain) : a_(chain.buffers.front()), chain_(chain) {}

  InstanceId again_before(InstanceId next) override {
    return gone_ && next == chain_.instances[4] ? chain_.instances[0] : kNoInstance;
  }
  BufferId evict(SimTime now) override {
    if (gone_ || may_evict == 0) return kNoBuffer;
    --may_evict;
    evicted_at.push_back(now);
    gone_ = true;
    return a_;
  }
  std::span<const BufferId> makes(InstanceId instance) override {
    CHECK(instance == chain_.instances[0]);
    return {&a_, 1};
  }
  void ran(InstanceId instance, bool again, SimTime now) override {
    order.push_back(instance);
    times.push_back(now);
    if (again) gone_ = false;
  }
  bool lets_go(BufferId buffer) override { return buffer != keeps; }
  std::span<const BufferId> needless() override {
    return !order.empty() && order.back() == drops_after ? std::span<const BufferId>(&keeps, 1)
                                                         : std::span<const BufferId>();
  }

  std::vector<InstanceId> order;
  std::vector<SimTime> times, evicted_at;
  int may_evict = 1;
  BufferId keeps = kNoBuffer;
  InstanceId drops_after = kNoInstance;

 private:
  BufferId a_;
  const Chain& chain_;
  bool gone_ = false;
};

SimulateOptions ruled(RuntimePolicy& policy, const Chain& chain, Bytes hbm, std::size_t from = 0) {
  SimulateOptions options;
  options.capacity = Capacity::kIgnored;
  options.ruled = {&policy, chain.instances[from], hbm};
  return options;
}

Bytes peak_of(const Result& result) {
  return result.allocators[static_cast<std::size_t>(Tier::kHbm)].end.allocated_peak;
}

}  // namespace

// With 9 bytes: a b, then c makes 10: a goes at 30. c and d are 5; instance 4 reads a: 0 runs again
// (c is gone, d too: 4), then e makes 5. 10 + 20 + 30 + 40 + 10 + 50.
TEST_CASE("what a policy evicts as an allocation fails is made again before its reader") {
  const Chain chain;
  EvictsTheFirst policy(chain);
  const Result result = simulate(chain.builder.build(), ruled(policy, chain, Bytes(9)));
  REQUIRE_FALSE(result.out_of_memory);
  CHECK(policy.evicted_at == std::vector{SimTime(30)});
  CHECK(policy.order == std::vector{chain.instances[0], chain.instances[1], chain.instances[2],
                                    chain.instances[3], chain.instances[0], chain.instances[4]});
  CHECK(policy.times == std::vector{SimTime(10), SimTime(30), SimTime(60), SimTime(100),
                                    SimTime(110), SimTime(160)});
  CHECK(result.end == SimTime(160));
  CHECK(result.compute_busy == SimTime(160));
  CHECK(peak_of(result) == Bytes(7));
  // a is there from 0 to 30 and from 100 to 160.
  std::vector<MemoryEvent> of_a;
  std::ranges::copy_if(result.memory, std::back_inserter(of_a),
                       [&](const MemoryEvent& event) { return event.buffer == chain.buffers[0]; });
  REQUIRE(of_a.size() == 4);
  CHECK(of_a[1].time == SimTime(30));
  CHECK_FALSE(of_a[1].allocated);
  CHECK(of_a[2].time == SimTime(100));
  CHECK(of_a[3].time == SimTime(160));
}

TEST_CASE("a policy that evicts nothing lets the run go out of memory") {
  const Chain chain;
  EvictsTheFirst policy(chain);
  policy.may_evict = 0;
  const Result result = simulate(chain.builder.build(), ruled(policy, chain, Bytes(9)));
  REQUIRE(result.out_of_memory);
  CHECK(result.out_of_memory->instance == chain.instances[2]);
  CHECK(result.out_of_memory->tier == Tier::kHbm);
}

TEST_CASE("a policy that is never needed changes nothing") {
  const Chain chain;
  EvictsTheFirst policy(chain);
  const Program program = chain.builder.build();
  const Result alone = simulate(program);
  const Result with = simulate(program, ruled(policy, chain, Bytes(10)));
  CHECK(policy.evicted_at.empty());
  CHECK(with.end == alone.end);
  CHECK(with.memory.size() == alone.memory.size());
  CHECK(peak_of(with) == peak_of(alone));
}

// The rule begins with instance 3: until then 10 bytes are there, then 9 are allowed and 6 needed.
TEST_CASE("a policy rules from its instance on, with what HBM has from there") {
  const Chain chain;
  EvictsTheFirst policy(chain);
  const Result result = simulate(chain.builder.build(), ruled(policy, chain, Bytes(9), 3));
  CHECK(policy.order.front() == chain.instances[3]);
  CHECK(policy.evicted_at.empty());
  CHECK(peak_of(result) == Bytes(10));
  CHECK(result.end == SimTime(150));
}

// b's last reader is done at 60; the policy keeps it until instance 3 has run at 100.
TEST_CASE("a policy may keep a buffer longer than the program does") {
  const Chain chain;
  EvictsTheFirst policy(chain);
  policy.keeps = chain.buffers[1];
  policy.drops_after = chain.instances[3];
  const Result result = simulate(chain.builder.build(), ruled(policy, chain, Bytes(100)));
  const auto freed = std::ranges::find_if(result.memory, [&](const MemoryEvent& event) {
    return event.buffer == chain.buffers[1] && !event.allocated;
  });
  REQUIRE(freed != result.memory.end());
  CHECK(freed->time == SimTime(100));
  CHECK(peak_of(result) == Bytes(12));  // a b c d
}

// The host issues for 15 each, instance 0 twice: what runs again is issued after the others so far.
TEST_CASE("what runs again costs the host its issue") {
  Chain chain;
  for (const InstanceId id : chain.instances) chain.builder.edit(id).issue = SimTime(15);
  chain.builder.edit(chain.instances[3]).fixed = SimTime(1);
  EvictsTheFirst policy(chain);
  const Result result = simulate(chain.builder.build(), ruled(policy, chain, Bytes(9)));
  // Issued at 15, 30, 45, 60, 75: run 15-25, 30-50, 50-80, 80-81; 0 again at 90: 90-100; 100-150.
  CHECK(result.end == SimTime(150));
}
