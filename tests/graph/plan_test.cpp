#include "graph/plan.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/small_step.hpp"

namespace tidemark {
namespace {

using test::SmallStep;

constexpr auto kHbm = static_cast<std::size_t>(Tier::kHbm);
constexpr auto kHost = static_cast<std::size_t>(Tier::kHost);
constexpr auto kSsd = static_cast<std::size_t>(Tier::kSsd);

Bytes bytes_of(const Program& program, Stream stream) {
  Bytes sum;
  for (const InstanceId id : program.order[static_cast<std::size_t>(stream)]) {
    sum += program.instances[index(id)].bytes;
  }
  return sum;
}

Bytes bytes_of(const Program& program, Tier tier, Category category) {
  Bytes sum;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.tier == tier && buffer.category == category) sum += buffer.bytes;
  }
  return sum;
}

const std::vector<InstanceId>& order(const Program& program, Stream stream) {
  return program.order[static_cast<std::size_t>(stream)];
}

const Instance& instance(const Program& program, InstanceId id) {
  return program.instances[index(id)];
}

bool depends(const Program& program, InstanceId later, InstanceId earlier) {
  const auto row = program.dependencies(later);
  return std::find(row.begin(), row.end(), earlier) != row.end();
}

bool uses(const Program& program, InstanceId id, BufferId buffer) {
  const auto row = program.uses(id);
  return std::find(row.begin(), row.end(), buffer) != row.end();
}

std::optional<BufferId> buffer_named(const Program& program, const StepGraph& graph,
                                     std::string_view name) {
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const NameId id = program.buffers[i].name;
    if (index(id) != kNoIndex && graph.name(id) == name) return BufferId{i};
  }
  return std::nullopt;
}

std::vector<std::string_view> names_of(const Program& program, const StepGraph& graph,
                                       Stream stream) {
  std::vector<std::string_view> names;
  for (const InstanceId id : order(program, stream)) {
    names.push_back(graph.name(instance(program, id).name));
  }
  return names;
}

// `count` parameters of `elements` each. Ops: forward 0 .. count - 1 reads them in order; backward
// count .. 2 count - 1 reads them again in reverse and makes their gradients; one more op of
// backward ends it.
struct Chain {
  StepGraph graph;
  std::vector<TensorId> weights, gradients;
  std::vector<OpId> ready;
  OpId end{};

  Chain(std::size_t count, std::int64_t elements, std::int64_t width = 2) {
    SmallStep step;
    for (std::size_t p = 0; p < count; ++p) {
      const Parameter& parameter = step.parameter(elements, width);
      weights.push_back(parameter.weight);
      gradients.push_back(parameter.gradient);
    }
    for (const TensorId weight : weights) step.op({.reads = {weight}, .streams = 100_B});
    ready.resize(count);
    for (std::size_t p = count; p-- > 0;) {
      ready[p] = step.op({.phase = Phase::kBackward,
                          .reads = {weights[p]},
                          .makes = {gradients[p]},
                          .streams = 200_B});
    }
    end = step.op({.phase = Phase::kBackward});
    graph = step.finish();
    for (std::size_t p = 0; p < count; ++p) graph.parameters[p].gradient_ready = ready[p];
  }
};

Offload on_host(Bytes bucket) {
  Offload offload;
  offload.optimizer = Offload::States::kHost;
  offload.bucket = bucket;
  return offload;
}

Offload on_ssd(Bytes bucket, std::int64_t buffers) {
  Offload offload = on_host(bucket);
  offload.optimizer = Offload::States::kSsd;
  offload.buffers = buffers;
  return offload;
}

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

TEST_CASE("a kernel's arithmetic is that of its dtype") {
  SmallStep step;
  step.op({});
  step.op({});
  step.op({});
  StepGraph graph = step.finish();
  for (Op& op : graph.ops) {
    op.work = WorkClass::kMatmul;
    op.flops = Flops(1'000'000);
  }
  graph.ops[1].dtype = DType::kF32;
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
  CHECK(cap() == 0_GBps);
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
