#include "graph/pinned_pool.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "graph/plan.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plans.hpp"
#include "tests/support/small_step.hpp"

namespace tidemark {
namespace {

using test::bytes_of;
using test::Chain;
using test::on_host;

TEST_CASE("blocks of a power of two lose what they are larger than asked for") {
  // 10 parameters: 40 B of master weights in 64, 80 B of moments in 128, 20 B of gradients and of
  // rounded parameters in 32 each.
  Chain exact(1, 10), rounded(1, 10);
  Offload offload = on_host(1_MiB);
  const Program without = plan(exact.graph, {}, offload, test::round_machine());
  CHECK(bytes_of(without, Tier::kHost, Category::kRounding) == 0_B);
  offload.transport.pinned_pool = Transport::PinnedPool::kPowerOfTwo;
  const Program with = plan(rounded.graph, {}, offload, test::round_machine());
  CHECK(bytes_of(with, Tier::kHost, Category::kRounding) == 24_B + 48_B + 12_B + 12_B);
  for (const Category category :
       {Category::kMasterWeights, Category::kOptimizerState, Category::kGradients}) {
    CHECK(bytes_of(with, Tier::kHost, category) == bytes_of(without, Tier::kHost, category));
  }
  CHECK(bytes_of(with, Tier::kHbm, Category::kRounding) == 0_B);
}

TEST_CASE("what is lost is there exactly as long as its buffer") {
  Chain chain(3, 10);
  Offload offload = on_host(1_B);
  offload.transport.pinned_pool = Transport::PinnedPool::kPowerOfTwo;
  const Program program = plan(chain.graph, {}, offload, test::round_machine());
  const auto users = [&](std::uint32_t buffer) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
      const auto uses = program.uses(InstanceId{i});
      if (std::ranges::find(uses, BufferId{buffer}) != uses.end()) found.push_back(i);
    }
    return found;
  };
  std::vector<std::uint32_t> pinned, lost;  // in the same order
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.tier != Tier::kHost) continue;
    (buffer.category == Category::kRounding ? lost : pinned).push_back(b);
  }
  REQUIRE(pinned.size() == lost.size());  // none is a power of two
  for (std::size_t i = 0; i < pinned.size(); ++i) {
    const Buffer& block = program.buffers[pinned[i]];
    const Buffer& rest = program.buffers[lost[i]];
    CHECK(std::has_single_bit(static_cast<std::uint64_t>((block.bytes + rest.bytes).count)));
    CHECK(rest.bytes < block.bytes);
    CHECK(rest.initial == block.initial);
    CHECK(rest.persistent == block.persistent);
    CHECK(users(pinned[i]) == users(lost[i]));
  }
}

}  // namespace
}  // namespace tidemark
