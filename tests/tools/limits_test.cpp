#include "tools/analysis/limits.hpp"

#include <numeric>
#include <vector>

#include "sim/executor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_builder.hpp"
#include "tests/support/random_program.hpp"
#include "tools/analysis/executed_path.hpp"

using namespace tidemark;
using namespace tidemark::tools;
using test::ProgramBuilder;

namespace {

void check_path(const std::vector<PathSpan>& path, const std::vector<PathSpan>& expected) {
  REQUIRE(path.size() == expected.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    CAPTURE(i);
    CHECK(path[i].instance == expected[i].instance);
    CHECK(path[i].begin == expected[i].begin);
    CHECK(path[i].issued == expected[i].issued);
    CHECK(path[i].start == expected[i].start);
    CHECK(path[i].finish == expected[i].finish);
    CHECK(path[i].after_memory == expected[i].after_memory);
  }
}

std::vector<PathSpan> path_of(const Program& program) {
  return executed_path(program, sim::simulate(program));
}

SimTime sum(const ByResource& limits) {
  return std::accumulate(limits.begin(), limits.end(), SimTime{});
}

SimTime of(const ByResource& limits, Resource resource) {
  return limits[static_cast<std::size_t>(resource)];
}

Gpu launching_in(SimTime latency) {
  Gpu gpu{};
  gpu.launch_latency = latency;
  return gpu;
}

}  // namespace

TEST_CASE("the executed path of a diamond over two streams leads through its slower side") {
  // compute   | k0 2 | k1 3 |......| k2 1 |      k2 needs k1 and the copy: 2 + 5 + 1 = 8
  // copy_out         |   copy 5    |
  ProgramBuilder builder;
  const InstanceId k0 = builder.add(Stream::kCompute, 2_ps);
  builder.add(Stream::kCompute, 3_ps, {k0});
  const InstanceId copy = builder.add(Stream::kCopyOut, 5_ps, {k0});
  const InstanceId k2 = builder.add(Stream::kCompute, 1_ps, {copy});
  check_path(path_of(builder.build()), {{k0, 0_ps, 0_ps, 0_ps, 2_ps, false},
                                        {copy, 2_ps, 2_ps, 2_ps, 7_ps, false},
                                        {k2, 7_ps, 7_ps, 7_ps, 8_ps, false}});
}

TEST_CASE("a wait for memory leads to the copy that held it, and to what that one waited for") {
  // 10 B of HBM. k0 makes a (6 B), a copy takes it to the host in 4 ps; k1 wants 6 B.
  // compute   | k0 2 |...........| k1 3 |      k1 is ready at 2 and starts when a is freed, at 6
  // copy_out         |  copy 4   |
  ProgramBuilder builder;
  builder.capacity(Tier::kHbm, 10_B);
  const BufferId a = builder.buffer(6_B);
  const BufferId b = builder.buffer(6_B);
  const InstanceId k0 = builder.add(Stream::kCompute, 2_ps, {}, {a});
  const InstanceId copy = builder.add(Stream::kCopyOut, 4_ps, {k0}, {a});
  const InstanceId k1 = builder.add(Stream::kCompute, 3_ps, {}, {b});
  check_path(path_of(builder.build()), {{k0, 0_ps, 0_ps, 0_ps, 2_ps, false},
                                        {copy, 2_ps, 2_ps, 2_ps, 6_ps, false},
                                        {k1, 6_ps, 6_ps, 6_ps, 9_ps, true}});
}

TEST_CASE("a kernel that the host issues late has waited for it since it could run") {
  // The host issues k0 at 1 and k1 at 1 + 4 = 5; k0 runs from 1 to 3.
  ProgramBuilder builder;
  const InstanceId k0 = builder.add(Stream::kCompute, 2_ps);
  const InstanceId k1 = builder.add(Stream::kCompute, 3_ps);
  Program program = builder.build();
  program.instances[index(k0)].issue = 1_ps;
  program.instances[index(k1)].issue = 4_ps;
  check_path(path_of(program),
             {{k0, 0_ps, 1_ps, 1_ps, 3_ps, false}, {k1, 3_ps, 5_ps, 5_ps, 8_ps, false}});
}

TEST_CASE("transfers count as long as they took while they shared a link") {
  // 10 bytes each over a link of 1 B/ps: both run at half the rate and end at 20, alone at 10.
  ProgramBuilder builder;
  builder.link(LinkKind::kDram, Bandwidth(1'000'000'000'000));
  const PathId path = builder.path({{LinkKind::kDram, 1}});
  const InstanceId in = builder.move(Stream::kCopyIn, path, 10_B);
  builder.move(Stream::kNvmeRead, path, 10_B);
  const InstanceId k = builder.add(Stream::kCompute, 1_ps, {in});
  check_path(path_of(builder.build()),
             {{in, 0_ps, 0_ps, 0_ps, 20_ps, false}, {k, 20_ps, 20_ps, 20_ps, 21_ps, false}});
}

TEST_CASE("a step in which nothing happens has no path") {
  CHECK(path_of(ProgramBuilder().build()).empty());
}

TEST_CASE("the path of a run out of memory ends with it") {
  ProgramBuilder builder;
  builder.capacity(Tier::kHbm, 10_B);
  const InstanceId k0 = builder.add(Stream::kCompute, 2_ps);
  builder.add(Stream::kCompute, 2_ps, {}, {builder.buffer(11_B)});
  check_path(path_of(builder.build()), {{k0, 0_ps, 0_ps, 0_ps, 2_ps, false}});
}

TEST_CASE("spans of random programs follow on one another from the beginning to the end") {
  std::size_t waits = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    const Program program =
        test::random_program(seed, {.instances = 24, .buffers = 20, .streams = 5});
    const sim::Result result = sim::simulate(program);
    SimTime at{};
    for (const PathSpan& span : executed_path(program, result)) {
      REQUIRE(span.begin == at);
      REQUIRE(span.start >= span.begin);
      REQUIRE(span.finish == result.records[index(span.instance)].finish);
      at = span.finish;
      waits += span.after_memory ? 1 : 0;
    }
    REQUIRE(at == result.end);
  }
  CHECK(waits > 100);  // the programs do what the test is about
}

TEST_CASE("what limits a step is split by resource and adds up to the step") {
  // Kernels of 10 ps each that stand for 1, 2, 3 and 1 launches of 2 ps, the third a recompute;
  // then a copy of 7 ps that the last one waits for.
  StepGraph graph;
  const auto add = [&](Phase phase, WorkClass work, std::int32_t kernels) {
    Op op;
    op.phase = phase;
    op.work = work;
    op.kernels = kernels;
    graph.ops.push_back(op);
  };
  add(Phase::kForward, WorkClass::kMatmul, 1);
  add(Phase::kForward, WorkClass::kStream, 2);
  add(Phase::kRecompute, WorkClass::kMatmul, 3);
  add(Phase::kBackward, WorkClass::kAttention, 1);
  add(Phase::kBackward, WorkClass::kNone, 1);
  graph.ops.push_back({});
  ProgramBuilder builder;
  std::vector<InstanceId> kernels;
  for (std::uint32_t i = 0; i < 3; ++i) kernels.push_back(builder.add(Stream::kCompute, 10_ps));
  const InstanceId copy = builder.add(Stream::kCopyIn, 7_ps, {kernels[2]});
  kernels.push_back(builder.add(Stream::kCompute, 10_ps, {copy}));
  kernels.push_back(builder.add(Stream::kCompute, 0_ps));  // on the host alone: launches nothing
  for (std::uint32_t i = 0; i < 5; ++i) builder.edit(kernels[i]).op = OpId{i};
  const Program program = builder.build();
  const sim::Result result = sim::simulate(program);

  const ByResource limits = limits_of(graph, program, result, launching_in(2_ps));
  CHECK(of(limits, Resource::kMatmul) == 8_ps);
  CHECK(of(limits, Resource::kStreaming) == 6_ps);
  CHECK(of(limits, Resource::kRecompute) == 10_ps);
  CHECK(of(limits, Resource::kAttention) == 8_ps);
  CHECK(of(limits, Resource::kLaunch) == 8_ps);  // 2 + 4 + 2
  CHECK(of(limits, Resource::kPcieH2d) == 7_ps);
  CHECK(sum(limits) == result.end);
  CHECK(result.end == 47_ps);
  CHECK(limits_text(limits) ==  // of 47: 21.3, 17.0, 17.0, 17.0, 14.9, 12.8
        "recompute 21 %, matmul 17 %, attention 17 %, launches 17 %, PCIe in 15 %, "
        "streaming kernels 13 %");
}

TEST_CASE("each stream counts as its own resource") {
  const std::vector<std::pair<Stream, Resource>> pairs = {
      {Stream::kCopyIn, Resource::kPcieH2d},
      {Stream::kCopyOut, Resource::kPcieD2h},
      {Stream::kCpuOptimizer, Resource::kCpuOptimizer},
      {Stream::kNvmeRead, Resource::kNvmeRead},
      {Stream::kNvmeWrite, Resource::kNvmeWrite},
      {Stream::kCommunication, Resource::kCommunication}};
  StepGraph graph;
  graph.ops.push_back({});
  for (const auto& [stream, resource] : pairs) {
    ProgramBuilder builder;
    builder.add(stream, 3_ps);
    const Program program = builder.build();
    const ByResource limits = limits_of(graph, program, sim::simulate(program), Gpu{});
    CHECK(of(limits, resource) == 3_ps);
    CHECK(sum(limits) == 3_ps);
  }
}
