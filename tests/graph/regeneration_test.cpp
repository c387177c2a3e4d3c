// The rate at which recomputation brings bytes back: what a copy of them has to beat.

#include <map>

#include "graph/lower.hpp"
#include "graph/op_time.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/lowering.hpp"
#include "tests/support/machines.hpp"

namespace tidemark {
namespace {

// A product of contraction k takes 2 k FLOPs for each element of 2 bytes that it makes: it gives
// rate / k bytes a second, whatever its other sides. 100 TFLOP/s: 48.8 GB/s at k = 2048.
TEST_CASE("a product brings bytes back at the arithmetic rate over its contraction") {
  const StepGraph graph = lower(support::gpt(2, 2048, 16, 512, 4));
  const Machine machine = test::round_machine();
  std::map<std::int64_t, int> seen;  // by contraction
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    const Op& op = graph.ops[i];
    const bool product = op.kind == OpKind::kMm || op.kind == OpKind::kAddmm;
    if (!product || op.phase != Phase::kForward || op.layer < 0) continue;
    const double per_second =
        static_cast<double>(op.bytes_written.count) / seconds(op_time(machine.gpu, op));
    const double rate = 100e12 / static_cast<double>(op.k);
    INFO("k = " << op.k);
    // Times are whole picoseconds of some 100 us.
    CHECK(per_second == Approx(rate).epsilon(1e-6));
    ++seen[op.k];
  }
  // Queries, keys and values; projection; in: of 2048. Out: of 8192, four times as dear a byte.
  CHECK(seen == std::map<std::int64_t, int>{{2048, 6}, {8192, 2}});
}

}  // namespace
}  // namespace tidemark
