// Passes of the CPU over gradients before its update.

#include "graph/offload/cpu_update.hpp"

#include <set>

#include "graph/plan.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plans.hpp"

namespace tidemark {
namespace {

using test::bytes_of;
using test::Chain;
using test::depends;
using test::instance;
using test::on_host;
using test::on_ssd;
using test::order;

TEST_CASE("clipping reads all gradients once more, and no update starts before that") {
  // 7 parameters of 10^9: 196 GB of updates and 14 GB of gradients.
  Chain chain(7, 1'000'000'000);
  Offload offload = on_host(4_GB);
  offload.clip = true;
  const Program program = plan(chain.graph, {}, offload, test::round_machine());
  CHECK(bytes_of(program, Stream::kCpuOptimizer) == 210_GB);
  const auto& cpu = order(program, Stream::kCpuOptimizer);
  REQUIRE(cpu.size() == 8);  // four norms, four updates
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(instance(program, cpu[i]).bytes == (i < 3 ? 4_GB : 2_GB));
    CHECK(depends(program, cpu[4 + i], cpu[3]));
  }
}

TEST_CASE("clipping with states on the SSD lets no gradient wait for an update") {
  Chain chain(7, 1'000'000'000);
  Offload offload = on_ssd(2_GB, 2);
  offload.clip = true;
  const Program program = plan(chain.graph, {}, offload, test::round_machine());
  CHECK(bytes_of(program, Stream::kCpuOptimizer) == 210_GB);
  for (const InstanceId copy : order(program, Stream::kCopyOut)) {
    for (const InstanceId before : program.dependencies(copy)) {
      CHECK(instance(program, before).stream == Stream::kCompute);
    }
  }
}

TEST_CASE("clipping gradients that wait on the SSD reads them twice, for the norm and the update") {
  Chain chain(7, 1'000'000'000);
  Offload offload = on_host(4_GB);
  offload.gradients = Offload::States::kSsd;
  offload.buffers = 2;
  offload.clip = true;
  const Program program = plan(chain.graph, {}, offload, test::round_machine());
  CHECK(bytes_of(program, Stream::kNvmeWrite) == 14_GB);
  CHECK(bytes_of(program, Stream::kNvmeRead) == 28_GB);
  const auto& reads = order(program, Stream::kNvmeRead);
  const auto& cpu = order(program, Stream::kCpuOptimizer);
  REQUIRE(reads.size() == 8);
  REQUIRE(cpu.size() == 8);  // four norms, four updates
  std::set<InstanceId> read_for;
  for (const InstanceId pass : cpu) {
    for (const InstanceId read : reads) {
      if (depends(program, pass, read)) read_for.insert(read);
    }
  }
  CHECK(read_for.size() == 8);  // each pass has a read of its own
  for (std::size_t i = 4; i < 8; ++i) CHECK(depends(program, cpu[i], cpu[3]));
}

TEST_CASE("widening gradients first is a pass of 6 bytes, and the update reads 4 instead of 2") {
  Chain chain(7, 1'000'000'000);
  Offload offload = on_host(4_GB);
  offload.upcast = true;
  const Program program = plan(chain.graph, {}, offload, test::round_machine());
  CHECK(bytes_of(program, Stream::kCpuOptimizer) == 7 * (6_GB + 30_GB));
  // The wide copy of each bucket, 4 bytes a parameter, beside the gradients.
  CHECK(bytes_of(program, Tier::kHost, Category::kGradients) == 14_GB + 28_GB);
}

}  // namespace
}  // namespace tidemark
