// When parameters that the CPU has updated come to the GPU.

#include <string>
#include <vector>

#include "graph/plan.hpp"
#include "tests/support/block_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plans.hpp"

namespace tidemark {
namespace {

using test::Chain;
using test::depends;
using test::on_host;
using test::order;

TEST_CASE("the thread that updates copies new parameters out of pageable memory itself") {
  const auto waits = [](Transport::HostMemory memory, bool delayed) {
    Chain chain(3, 10);
    Offload offload = on_host(1_B);
    offload.transport.memory = memory;
    offload.delayed_update = delayed;
    const Program program = plan(chain.graph, {}, offload, test::round_machine());
    const auto& updates = order(program, Stream::kCpuOptimizer);
    const auto& in = order(program, Stream::kCopyIn);
    REQUIRE(updates.size() == 3);
    REQUIRE(in.size() == 3);
    // None of them is anything that the host waits for before it issues a kernel.
    for (std::uint32_t op = 0; op < chain.graph.op_count(); ++op) {
      for (const InstanceId copy : in) CHECK_FALSE(depends(program, InstanceId{op}, copy));
    }
    return depends(program, updates[1], in[0]) && depends(program, updates[2], in[1]);
  };
  CHECK(waits(Transport::HostMemory::kPageable, false));
  CHECK_FALSE(waits(Transport::HostMemory::kPinned, false));
  CHECK_FALSE(waits(Transport::HostMemory::kPageable, true));
}

TEST_CASE("parameters of a delayed update come in the order of their updates") {
  // Gradients: the head's after op 4, those of the blocks after 5 and 6, the embedding's after 7.
  // The embedding's weights are read by op 0 alone, those of the others up to the op of their
  // gradients. A copy stream that had them first would wait for the last of the updates.
  using Names = std::vector<std::string>;
  test::BlockStep step = test::BlockStep{}.build();
  Offload offload = on_host(1_B);
  offload.delayed_update = true;
  offload.overlap = GENERATE(true, false);
  const Program program = plan(step.graph, {}, offload, test::round_machine());
  const auto names = [&](Stream stream) {
    const auto views = test::names_of(program, step.graph, stream);
    return Names(views.begin(), views.end());
  };
  CHECK(names(Stream::kCpuOptimizer) == Names{"update of bucket 0", "update of bucket 1",
                                              "update of bucket 2", "update of bucket 3"});
  CHECK(names(Stream::kCopyIn) ==
        Names{"parameters of bucket 0 to the GPU", "parameters of bucket 1 to the GPU",
              "parameters of bucket 2 to the GPU", "parameters of bucket 3 to the GPU"});
  const auto& in = order(program, Stream::kCopyIn);
  CHECK(depends(program, in[0], InstanceId{4}));
  CHECK(depends(program, in[1], InstanceId{5}));
  CHECK(depends(program, in[2], InstanceId{6}));
  CHECK(depends(program, in[3], InstanceId{6}));
}

}  // namespace
}  // namespace tidemark
