#include "graph/plan.hpp"

#include <array>
#include <initializer_list>
#include <vector>

#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plans.hpp"
#include "tests/support/small_step.hpp"

namespace tidemark {
namespace {

using test::Chain;
using test::instance;
using test::on_host;
using test::on_ssd;
using test::order;
using test::SmallStep;
using test::uses;

constexpr auto kHbm = static_cast<std::size_t>(Tier::kHbm);
constexpr auto kHost = static_cast<std::size_t>(Tier::kHost);
constexpr auto kSsd = static_cast<std::size_t>(Tier::kSsd);

TEST_CASE("instance i plays op i on the compute stream, for as long as its kernel takes") {
  Chain chain(2, 10);
  const Program program = plan(chain.graph, {}, {}, test::round_machine());
  REQUIRE(program.instances.size() == 5);
  for (std::uint32_t i = 0; i < 5; ++i) {
    CHECK(order(program, Stream::kCompute)[i] == InstanceId{i});
    CHECK(program.instances[i].op == OpId{i});
    CHECK(program.instances[i].phase == chain.graph.ops[i].phase);
    CHECK(program.instances[i].bytes == 0_B);
  }
  // 100 bytes at 1 TB/s are 100 ps.
  CHECK(program.instances[0].fixed == 100_ps);
  CHECK(program.instances[2].fixed == 200_ps);
  CHECK(program.instances[4].fixed == 0_ps);
}

TEST_CASE("a kernel's arithmetic is that of its op") {
  SmallStep step;
  step.op({});
  step.op({});
  step.op({});
  StepGraph graph = step.finish();
  for (Op& op : graph.ops) {
    op.work = WorkClass::kMatmul;
    op.flops = Flops(1'000'000);
  }
  graph.ops[1].arithmetic = Arithmetic::k32Bit;
  graph.ops[2].work = WorkClass::kNone;  // on the host alone
  const Program program = plan(graph, {}, {}, test::round_machine());
  CHECK(program.instances[0].fixed == 10_ns);   // 1 MFLOP at 100 TFLOP/s
  CHECK(program.instances[1].fixed == 100_ns);  // at 10 TFLOP/s
  CHECK(program.instances[2].fixed == 0_ns);
}

TEST_CASE("an op uses what it reads, holds, makes and updates, each once") {
  SmallStep step;
  const TensorId w = step.persistent(8_B), a = step.tensor(4_B), b = step.tensor(2_B);
  step.op({.makes = {a}});
  step.op({.reads = {w, w}, .makes = {b}, .updates = {w}, .holds = {a}});
  StepGraph graph = step.finish();
  const Program program = plan(graph, {}, {}, test::round_machine());
  const auto row = program.uses(InstanceId{1});
  CHECK(row.size() == 3);
  for (const TensorId tensor : {w, a, b}) {
    CHECK(uses(program, InstanceId{1}, BufferId{index(tensor)}));
  }
}

TEST_CASE("buffer i holds tensor i, there before and after the step as the tensor is") {
  SmallStep step;
  const TensorId w = step.persistent(8_B), x = step.tensor(5_B, Category::kInputs);
  const TensorId a = step.tensor(4_B), g = step.tensor(2_B, Category::kGradients);
  step.keep(g);
  step.op({.reads = {w, x}, .makes = {a}});
  step.op({.reads = {a}, .makes = {g}});
  StepGraph graph = step.finish();
  const Program program = plan(graph, {}, {}, test::round_machine());
  REQUIRE(program.buffers.size() == 4);
  const auto shows = [&](TensorId tensor, Bytes bytes, Category category, bool initial,
                         bool persistent) {
    const Buffer& buffer = program.buffers[index(tensor)];
    CHECK(buffer.tensor == tensor);
    CHECK(buffer.bytes == bytes);
    CHECK(buffer.tier == Tier::kHbm);
    CHECK(buffer.category == category);
    CHECK(buffer.initial == initial);
    CHECK(buffer.persistent == persistent);
  };
  shows(w, 8_B, Category::kParameters, true, true);
  shows(x, 5_B, Category::kInputs, true, false);
  shows(a, 4_B, Category::kActivations, false, false);
  shows(g, 2_B, Category::kGradients, false, true);
}

TEST_CASE("a tensor whose last use is not the last op that lists it is refused") {
  SmallStep step;
  const TensorId a = step.tensor(4_B);
  step.op({.makes = {a}});
  step.op({.reads = {a}});
  StepGraph graph = step.finish();
  graph.tensors[index(a)].last_use = OpId{0};
  CHECK_THROWS_AS(plan(graph, {}, {}, test::round_machine()), InternalError);
}

TEST_CASE("the context and the workspaces take HBM all the time, and leave no buffer when empty") {
  Chain chain(1, 10);
  Machine machine = test::round_machine();
  machine.runtime.context = 500_MiB;
  Program program = plan(chain.graph, {}, {}, machine);
  REQUIRE(program.buffers.size() == 3);
  CHECK(program.buffers[2].bytes == 500_MiB);
  CHECK(program.buffers[2].category == Category::kRuntime);
  CHECK((program.buffers[2].initial && program.buffers[2].persistent));

  machine.runtime.workspace = 8_MiB;
  program = plan(chain.graph, {}, {}, machine);
  REQUIRE(program.buffers.size() == 4);
  CHECK(program.buffers[3].category == Category::kWorkspace);
  CHECK(program.buffers[3].tier == Tier::kHbm);
}

TEST_CASE("capacities and links are the machine's, drives together") {
  Chain chain(1, 10);
  Machine machine = test::round_machine();
  machine.ssd.drives = 2;
  const Program program = plan(chain.graph, {}, {}, machine);
  CHECK(program.capacity[kHbm] == 80_GB);
  CHECK(program.capacity[kHost] == 1000_GB);
  CHECK(program.capacity[kSsd] == 4000_GB);
  const auto capacity = [&](LinkKind kind) {
    for (const Link& link : program.links) {
      if (link.kind == kind) return link.capacity;
    }
    return Bandwidth(0);
  };
  CHECK(capacity(LinkKind::kPcieH2d) == 20_GBps);
  CHECK(capacity(LinkKind::kPcieD2h) == 10_GBps);
  CHECK(capacity(LinkKind::kDram) == 100_GBps);
  CHECK(capacity(LinkKind::kNvmeRead) == 8_GBps);
  CHECK(capacity(LinkKind::kNvmeWrite) == 4_GBps);
  CHECK(capacity(LinkKind::kPcieBoth) == 0_GBps);  // 30 = 10 + 20: full duplex
}

TEST_CASE("both directions of PCIe share a total that is less than their sum") {
  Chain chain(1, 10);
  Machine machine = test::round_machine();
  const auto weight_of_both = [&](Stream stream) {
    const Program program = plan(chain.graph, {}, on_host(1_MiB), machine);
    const Instance& copy = instance(program, order(program, stream)[0]);
    return int{
        program.paths[index(copy.path)].weight[static_cast<std::size_t>(LinkKind::kPcieBoth)]};
  };
  CHECK(weight_of_both(Stream::kCopyIn) == 0);
  machine.pcie.both = 29_GBps;
  CHECK(weight_of_both(Stream::kCopyIn) == 1);
  CHECK(weight_of_both(Stream::kCopyOut) == 1);
}

TEST_CASE("a copy passes its own direction of PCIe and DRAM once, after its latency") {
  Chain chain(1, 10);
  const Program program = plan(chain.graph, {}, on_ssd(1_MiB, 2), test::round_machine());
  const auto weights = [&](Stream stream) {
    const Instance& first = instance(program, order(program, stream)[0]);
    return program.paths[index(first.path)].weight;
  };
  const auto over = [](std::initializer_list<LinkKind> links) {
    std::array<std::uint8_t, kLinkCount> weight{};
    for (const LinkKind link : links) weight[static_cast<std::size_t>(link)] = 1;
    return weight;
  };
  CHECK(weights(Stream::kCopyIn) == over({LinkKind::kPcieH2d, LinkKind::kDram}));
  CHECK(weights(Stream::kCopyOut) == over({LinkKind::kPcieD2h, LinkKind::kDram}));
  CHECK(weights(Stream::kNvmeRead) == over({LinkKind::kNvmeRead, LinkKind::kDram}));
  CHECK(weights(Stream::kNvmeWrite) == over({LinkKind::kNvmeWrite, LinkKind::kDram}));
  CHECK(weights(Stream::kCpuOptimizer) == over({LinkKind::kDram}));
  CHECK(instance(program, order(program, Stream::kCopyIn)[0]).fixed == 10_us);
  CHECK(instance(program, order(program, Stream::kCopyOut)[0]).fixed == 10_us);
  CHECK(instance(program, order(program, Stream::kNvmeRead)[0]).fixed == 100_us);
  CHECK(instance(program, order(program, Stream::kCpuOptimizer)[0]).fixed == 0_us);
}

TEST_CASE("the same step is planned the same way twice") {
  Chain a(5, 10), b(5, 10);
  const Program first = plan(a.graph, {}, on_ssd(30_B, 2), test::round_machine());
  const Program second = plan(b.graph, {}, on_ssd(30_B, 2), test::round_machine());
  CHECK(first.use == second.use);
  CHECK(first.dependency == second.dependency);
  CHECK(first.order == second.order);
  CHECK(a.graph.names == b.graph.names);
}

}  // namespace
}  // namespace tidemark
