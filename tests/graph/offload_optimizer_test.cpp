#include "graph/offload/optimizer.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "graph/plan.hpp"
#include "hardware/cpu_update.hpp"
#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plans.hpp"
#include "tests/support/small_step.hpp"

namespace tidemark {
namespace {

using test::buffer_named;
using test::bytes_of;
using test::Chain;
using test::depends;
using test::instance;
using test::names_of;
using test::on_host;
using test::on_ssd;
using test::order;
using test::SmallStep;
using test::uses;

TEST_CASE("the optimizer on the host moves 2 bytes each way and streams 28 per parameter") {
  // 7 parameters of 10^9: mixed-precision AdamW.
  Chain chain(7, 1'000'000'000);
  const Program program = plan(chain.graph, {}, on_host(4_GB), test::round_machine());
  CHECK(bytes_of(program, Stream::kCopyOut) == 14_GB);
  CHECK(bytes_of(program, Stream::kCopyIn) == 14_GB);
  CHECK(bytes_of(program, Stream::kCpuOptimizer) == 196_GB);
  CHECK(bytes_of(program, Tier::kHost, Category::kMasterWeights) == 28_GB);
  CHECK(bytes_of(program, Tier::kHost, Category::kOptimizerState) == 56_GB);
  CHECK(order(program, Stream::kCopyOut).size() == 4);  // 2 + 2 + 2 + 1
  CHECK(order(program, Stream::kNvmeRead).empty());
  CHECK(order(program, Stream::kNvmeWrite).empty());
  CHECK(bytes_of(program, Tier::kSsd, Category::kMasterWeights) == 0_B);
}

TEST_CASE("states on the SSD are read and written once, 12 bytes each per parameter") {
  Chain chain(7, 1'000'000'000);
  const Program program = plan(chain.graph, {}, on_ssd(4_GB, 3), test::round_machine());
  CHECK(bytes_of(program, Stream::kNvmeRead) == 84_GB);
  CHECK(bytes_of(program, Stream::kNvmeWrite) == 84_GB);
  CHECK(bytes_of(program, Stream::kCopyOut) == 14_GB);
  CHECK(bytes_of(program, Stream::kCopyIn) == 14_GB);
  CHECK(bytes_of(program, Tier::kSsd, Category::kMasterWeights) == 28_GB);
  CHECK(bytes_of(program, Tier::kSsd, Category::kOptimizerState) == 56_GB);
  CHECK(bytes_of(program, Tier::kHost, Category::kMasterWeights) == 0_B);
  CHECK(bytes_of(program, Tier::kHost, Category::kOptimizerState) == 0_B);
}

TEST_CASE("traffic and states follow precision and optimizer") {
  struct Row {
    Precision precision;
    Optimizer optimizer;
    std::int64_t width, out, in, streamed, kept;  // bytes per parameter
  };
  // streamed = gradient + 2 x kept (+ 2 for the rounded parameters in bf16-mixed)
  const Row row = GENERATE(Row{Precision::kBf16Mixed, Optimizer::kAdamW, 2, 2, 2, 28, 12},
                           Row{Precision::kFp32, Optimizer::kAdamW, 4, 4, 4, 28, 12},
                           Row{Precision::kAutocast, Optimizer::kAdamW, 4, 4, 4, 28, 12},
                           Row{Precision::kBf16, Optimizer::kAdamW, 2, 2, 2, 14, 6},
                           Row{Precision::kBf16Mixed, Optimizer::kSgd, 2, 2, 2, 12, 4},
                           Row{Precision::kBf16Mixed, Optimizer::kSgdMomentum, 2, 2, 2, 20, 8},
                           Row{Precision::kFp32, Optimizer::kSgd, 4, 4, 4, 12, 4});
  Chain chain(3, 1000, row.width);
  TrainingConfig training;
  training.precision = row.precision;
  training.optimizer = row.optimizer;
  const Program program = plan(chain.graph, training, on_ssd(1_B, 2), test::round_machine());
  CHECK(bytes_of(program, Stream::kCopyOut) == Bytes(3000 * row.out));
  CHECK(bytes_of(program, Stream::kCopyIn) == Bytes(3000 * row.in));
  CHECK(bytes_of(program, Stream::kCpuOptimizer) == Bytes(3000 * row.streamed));
  CHECK(bytes_of(program, Stream::kNvmeRead) == Bytes(3000 * row.kept));
  CHECK(bytes_of(program, Stream::kNvmeWrite) == Bytes(3000 * row.kept));
  CHECK(bytes_of(program, Tier::kSsd, Category::kMasterWeights) +
            bytes_of(program, Tier::kSsd, Category::kOptimizerState) ==
        Bytes(3000 * row.kept));
}

TEST_CASE("the CPU streams no faster than it computes") {
  Chain chain(1, 1000);
  Machine machine = test::round_machine();
  const auto cap = [&] {
    const Program program = plan(chain.graph, {}, on_host(1_MiB), machine);
    const Instance& update = instance(program, order(program, Stream::kCpuOptimizer)[0]);
    return program.paths[index(update.path)].cap;
  };
  // AdamW: 28 bytes and 15 FLOPs a parameter. 30 GFLOP/s are 2e9 parameters and 56 GB a second.
  machine.host.cpu_optimizer = FlopRate(30'000'000'000);
  CHECK(cap() == 56_GBps);
  machine.host.cpu_optimizer = {};  // not stated: DRAM alone limits it
  CHECK(cap() == 100_GBps);
  machine.host.update_share = 0.5;
  CHECK(cap() == 50_GBps);
}

TEST_CASE("the framework's own update streams several times as much, through temporaries") {
  Chain chain(1, 1000);
  Offload offload = on_host(1_MiB);
  offload.cpu_kernel = CpuKernel::kNaive;
  const Program program = plan(chain.graph, {}, offload, test::round_machine());
  const InstanceId update = order(program, Stream::kCpuOptimizer)[0];
  CHECK(instance(program, update).bytes == Bytes(92'000));
  // 8 bytes a parameter of new pages.
  CHECK(instance(program, update).fixed == time_at_rate(8000, kPageMaking.count));
  CHECK(bytes_of(program, Tier::kHost, Category::kTemporaries) == Bytes(8'000));
}

TEST_CASE("a copy out of pageable memory holds up the ops after the one that it waits for") {
  Chain chain(3, 10);  // backward: ops 3, 4, 5 complete parameters 2, 1, 0
  Offload offload = on_host(1_B);
  offload.transport.memory = Transport::HostMemory::kPageable;
  Machine machine = test::round_machine();
  machine.host.copy = 5_GBps;
  const Program program = plan(chain.graph, {}, offload, machine);
  const auto& out = order(program, Stream::kCopyOut);
  REQUIRE(out.size() == 3);
  CHECK(depends(program, InstanceId{4}, out[0]));
  CHECK(depends(program, InstanceId{5}, out[1]));
  CHECK(depends(program, InstanceId{6}, out[2]));
  CHECK_FALSE(depends(program, InstanceId{5}, out[0]));  // it follows from op 4's
  CHECK(program.paths[index(instance(program, out[0]).path)].cap == 5_GBps);

  Chain pinned(3, 10);
  offload.transport.memory = Transport::HostMemory::kPinned;
  const Program free = plan(pinned.graph, {}, offload, machine);
  CHECK_FALSE(depends(free, InstanceId{4}, order(free, Stream::kCopyOut)[0]));
}

TEST_CASE("a bucket leaves when its gradients are complete, or when backward has ended") {
  Chain chain(3, 10);  // backward: ops 3, 4, 5 complete parameters 2, 1, 0; op 6 ends it
  Offload offload = on_host(40_B);  // two gradients of 20 bytes
  Program program = plan(chain.graph, {}, offload, test::round_machine());
  const auto& out = order(program, Stream::kCopyOut);
  REQUIRE(out.size() == 2);
  CHECK(depends(program, out[0], InstanceId{4}));
  CHECK(program.dependencies(out[0]).size() == 1);
  CHECK(depends(program, out[1], InstanceId{5}));
  CHECK(program.dependencies(out[1]).size() == 1);

  offload.gradients_leave = Offload::GradientsLeave::kAfterBackward;
  Chain again(3, 10);
  program = plan(again.graph, {}, offload, test::round_machine());
  for (const InstanceId copy : order(program, Stream::kCopyOut)) {
    CHECK(depends(program, copy, InstanceId{6}));
  }
}

TEST_CASE("a gradient that leaves is in HBM from its op to the end of its copy") {
  Chain chain(3, 10);
  const Program program = plan(chain.graph, {}, on_host(40_B), test::round_machine());
  const auto& out = order(program, Stream::kCopyOut);
  for (std::size_t p = 0; p < 3; ++p) {
    const BufferId buffer{index(chain.gradients[p])};
    CHECK_FALSE(program.buffers[index(buffer)].persistent);
    std::vector<InstanceId> users;
    for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
      if (uses(program, InstanceId{i}, buffer)) users.push_back(InstanceId{i});
    }
    CHECK(users == std::vector{InstanceId{index(chain.ready[p])}, out[p == 0 ? 1 : 0]});
  }
  // With the optimizer on the GPU they stay.
  Chain stays(3, 10);
  const Program without = plan(stays.graph, {}, {}, test::round_machine());
  for (const TensorId gradient : stays.gradients) {
    CHECK(without.buffers[index(gradient)].persistent);
  }
}

TEST_CASE("nothing holds a gradient once it may leave, but what needs it before still does") {
  SmallStep step;
  const Parameter parameter = step.parameter(10);
  step.op({.phase = Phase::kBackward, .makes = {parameter.gradient}});
  step.op({.phase = Phase::kBackward, .holds = {parameter.gradient}});
  step.op({.phase = Phase::kBackward, .updates = {parameter.gradient}});
  step.op({.phase = Phase::kBackward, .holds = {parameter.gradient}});
  StepGraph graph = step.finish();
  graph.parameters[0].gradient_ready = OpId{2};
  const Program program = plan(graph, {}, on_host(1_MiB), test::round_machine());
  const BufferId gradient{index(parameter.gradient)};
  CHECK(uses(program, InstanceId{0}, gradient));
  CHECK(uses(program, InstanceId{1}, gradient));
  CHECK(uses(program, InstanceId{2}, gradient));
  CHECK_FALSE(uses(program, InstanceId{3}, gradient));
}

TEST_CASE("a gradient that is kept between steps keeps its place") {
  SmallStep step;
  const Parameter parameter = step.parameter(10);
  step.op({.phase = Phase::kBackward, .updates = {parameter.gradient}});
  StepGraph graph = step.finish();
  graph.parameters[0].gradient_ready = OpId{0};
  const Program program = plan(graph, {}, on_host(1_MiB), test::round_machine());
  CHECK(program.buffers[index(parameter.gradient)].initial);
  CHECK(program.buffers[index(parameter.gradient)].persistent);
  CHECK(bytes_of(program, Stream::kCopyOut) == 20_B);
}

TEST_CASE("an op that zeroes gradients waits until they have left, and no other op does") {
  SmallStep step;
  const Parameter a = step.parameter(10), b = step.parameter(10);
  step.op({.phase = Phase::kBackward, .updates = {a.gradient}});
  step.op({.phase = Phase::kBackward, .updates = {b.gradient}});
  step.op({.updates = {b.gradient}});
  step.op({.updates = {a.gradient}});
  StepGraph graph = step.finish();
  graph.parameters[0].gradient_ready = OpId{0};
  graph.parameters[1].gradient_ready = OpId{1};
  SECTION("each for its own bucket") {
    const Program program = plan(graph, {}, on_host(20_B), test::round_machine());
    const auto& out = order(program, Stream::kCopyOut);
    CHECK(program.dependencies(InstanceId{0}).empty());
    CHECK(program.dependencies(InstanceId{1}).empty());
    CHECK(program.dependencies(InstanceId{2}).size() == 1);
    CHECK(depends(program, InstanceId{2}, out[1]));
    CHECK(program.dependencies(InstanceId{3}).size() == 1);
    CHECK(depends(program, InstanceId{3}, out[0]));
  }
  SECTION("the first of them for a bucket of both") {
    const Program program = plan(graph, {}, on_host(40_B), test::round_machine());
    CHECK(depends(program, InstanceId{2}, order(program, Stream::kCopyOut)[0]));
  }
}

TEST_CASE("a bucket goes out, is updated and comes back, and its host buffers live that long") {
  Chain chain(1, 10);
  const Program program = plan(chain.graph, {}, on_host(1_MiB), test::round_machine());
  const InstanceId out = order(program, Stream::kCopyOut)[0];
  const InstanceId update = order(program, Stream::kCpuOptimizer)[0];
  const InstanceId in = order(program, Stream::kCopyIn)[0];
  CHECK(depends(program, update, out));
  CHECK(depends(program, in, update));
  CHECK(instance(program, update).phase == Phase::kOptimizer);
  CHECK(instance(program, out).phase == Phase::kTransfer);
  CHECK(instance(program, in).phase == Phase::kTransfer);

  const auto gradients = buffer_named(program, chain.graph, "gradients of bucket 0");
  const auto rounded = buffer_named(program, chain.graph, "parameters of bucket 0");
  REQUIRE(gradients);
  REQUIRE(rounded);
  CHECK(program.buffers[index(*gradients)].tier == Tier::kHost);
  CHECK(program.buffers[index(*gradients)].category == Category::kGradients);
  CHECK(program.buffers[index(*gradients)].bytes == 20_B);
  CHECK(program.buffers[index(*rounded)].category == Category::kStaging);
  CHECK(program.buffers[index(*rounded)].bytes == 20_B);
  CHECK(uses(program, out, *gradients));
  CHECK(uses(program, update, *gradients));
  CHECK_FALSE(uses(program, in, *gradients));
  CHECK_FALSE(uses(program, out, *rounded));
  CHECK(uses(program, update, *rounded));
  CHECK(uses(program, in, *rounded));
  CHECK(uses(program, in, BufferId{index(chain.weights[0])}));
}

TEST_CASE("where the update has the precision of the parameters, they are copied from the master") {
  Chain chain(1, 10, 4);
  TrainingConfig training;
  training.precision = Precision::kFp32;
  const Program program = plan(chain.graph, training, on_host(1_MiB), test::round_machine());
  CHECK_FALSE(buffer_named(program, chain.graph, "parameters of bucket 0"));
  CHECK(bytes_of(program, Tier::kHost, Category::kStaging) == 0_B);
  CHECK(bytes_of(program, Tier::kHost, Category::kMasterWeights) == 40_B);
}

TEST_CASE("new parameters wait for the last op that reads the old ones") {
  SmallStep step;
  const Parameter tied = step.parameter(10);
  step.op({.reads = {tied.weight}});
  step.op({.phase = Phase::kBackward, .makes = {tied.gradient}});
  step.op({.phase = Phase::kBackward, .reads = {tied.weight}});
  StepGraph graph = step.finish();
  graph.parameters[0].gradient_ready = OpId{1};
  const Program program = plan(graph, {}, on_host(1_MiB), test::round_machine());
  CHECK(depends(program, order(program, Stream::kCopyIn)[0], InstanceId{2}));
  CHECK_FALSE(depends(program, order(program, Stream::kCopyOut)[0], InstanceId{2}));
}

TEST_CASE("no more buckets of states are in host memory than there are buffers") {
  Chain chain(5, 10);
  const std::int64_t buffers = GENERATE(1, 2, 3, 7);
  const Program program = plan(chain.graph, {}, on_ssd(1_B, buffers), test::round_machine());
  const auto& reads = order(program, Stream::kNvmeRead);
  const auto& updates = order(program, Stream::kCpuOptimizer);
  const auto& writes = order(program, Stream::kNvmeWrite);
  REQUIRE(reads.size() == 5);
  REQUIRE(writes.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(depends(program, updates[i], reads[i]));
    CHECK(depends(program, writes[i], updates[i]));
    const auto in_use = static_cast<std::size_t>(buffers);
    if (i < in_use) {
      CHECK(program.dependencies(reads[i]).empty());  // ahead of all gradients
    } else {
      CHECK(program.dependencies(reads[i]).size() == 1);
      CHECK(depends(program, reads[i], writes[i - in_use]));
    }
    const auto pool =
        buffer_named(program, chain.graph,
                     "state buffer " + std::to_string(i % std::min<std::size_t>(in_use, 5)));
    REQUIRE(pool);
    CHECK(uses(program, reads[i], *pool));
    CHECK(uses(program, updates[i], *pool));
    CHECK(uses(program, writes[i], *pool));
  }
}

TEST_CASE("with states on the SSD gradients wait in HBM for a free host buffer") {
  Chain chain(5, 10);
  const Program program = plan(chain.graph, {}, on_ssd(1_B, 2), test::round_machine());
  const auto& copies = order(program, Stream::kCopyOut);
  const auto& updates = order(program, Stream::kCpuOptimizer);
  REQUIRE(copies.size() == 5);
  CHECK_FALSE(depends(program, copies[1], updates[0]));
  for (std::size_t i = 2; i < 5; ++i) CHECK(depends(program, copies[i], updates[i - 2]));
}

TEST_CASE("the pool of state buffers has the largest bucket's states in each, and no idle buffer") {
  SmallStep step;
  std::vector<Parameter> parameters{step.parameter(10), step.parameter(30)};
  step.op({.phase = Phase::kBackward, .makes = {parameters[0].gradient, parameters[1].gradient}});
  StepGraph graph = step.finish();
  for (Parameter& parameter : graph.parameters) parameter.gradient_ready = OpId{0};
  const Program program = plan(graph, {}, on_ssd(1_B, 3), test::round_machine());
  // Two buckets, of 120 and 360 bytes of states, in two of three buffers; beside them the rounded
  // parameters, 20 and 60 bytes.
  CHECK(bytes_of(program, Tier::kHost, Category::kStaging) == 2 * 360_B + 80_B);
  const auto pool = buffer_named(program, graph, "state buffer 1");
  REQUIRE(pool);
  CHECK(program.buffers[index(*pool)].bytes == 360_B);
  CHECK((program.buffers[index(*pool)].initial && program.buffers[index(*pool)].persistent));
}

TEST_CASE("a state buffer from which parameters are copied is free only when they have left it") {
  Chain chain(2, 10, 4);
  TrainingConfig training;
  training.precision = Precision::kFp32;
  const Program program = plan(chain.graph, training, on_ssd(1_B, 1), test::round_machine());
  const InstanceId read = order(program, Stream::kNvmeRead)[1];
  CHECK(depends(program, read, order(program, Stream::kNvmeWrite)[0]));
  CHECK(depends(program, read, order(program, Stream::kCopyIn)[0]));
}

TEST_CASE("transfers are named by what they carry") {
  Chain chain(2, 10);
  const Program program = plan(chain.graph, {}, on_ssd(1_B, 2), test::round_machine());
  using Names = std::vector<std::string_view>;
  CHECK(names_of(program, chain.graph, Stream::kCopyOut) ==
        Names{"gradients of bucket 0 to the host", "gradients of bucket 1 to the host"});
  CHECK(names_of(program, chain.graph, Stream::kCpuOptimizer) ==
        Names{"update of bucket 0", "update of bucket 1"});
  CHECK(names_of(program, chain.graph, Stream::kCopyIn) ==
        Names{"parameters of bucket 0 to the GPU", "parameters of bucket 1 to the GPU"});
  CHECK(names_of(program, chain.graph, Stream::kNvmeRead)[1] == "states of bucket 1 from the SSD");
  CHECK(names_of(program, chain.graph, Stream::kNvmeWrite)[0] == "states of bucket 0 to the SSD");
}

TEST_CASE("parameters without gradients are not updated, and keep no states") {
  Chain chain(2, 10);
  chain.graph.parameters[0].gradient = kNoTensor;
  const Program program = plan(chain.graph, {}, on_host(1_MiB), test::round_machine());
  CHECK(bytes_of(program, Stream::kCopyOut) == 20_B);
  CHECK(bytes_of(program, Tier::kHost, Category::kMasterWeights) == 40_B);
}

TEST_CASE("an offload over a link that the machine has not is refused") {
  Chain chain(1, 10);
  Machine machine = test::round_machine();
  machine.ssd.read = {};
  CHECK_THROWS_AS(plan(chain.graph, {}, on_ssd(1_B, 1), machine), InternalError);
  Chain other(1, 10);
  CHECK_NOTHROW(plan(other.graph, {}, on_host(1_B), machine));
}

}  // namespace
}  // namespace tidemark
