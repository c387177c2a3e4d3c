#include "graph/program_builder.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/program_check.hpp"
#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

Instance on(Stream stream) {
  Instance instance;
  instance.stream = stream;
  return instance;
}

template <class Id>
std::vector<Id> list(std::span<const Id> row) {
  return {row.begin(), row.end()};
}

// The example of program.hpp: kernels A and B, a copy-out of t, and a CPU update of h.
struct Example {
  ProgramBuilder builder{{100_B, 200_B, 300_B}};
  BufferId t, u, h;
  InstanceId a, b, copy, update;

  Example() {
    builder.add_link({LinkKind::kPcieD2h, 10_GBps});
    Path path;
    path.weight[static_cast<std::size_t>(LinkKind::kPcieD2h)] = 1;
    const PathId d2h = builder.add_path(path);
    t = builder.add_buffer({.bytes = 8_B, .tier = Tier::kHbm});
    u = builder.add_buffer({.bytes = 4_B, .tier = Tier::kHbm});
    h = builder.add_buffer({.bytes = 8_B, .tier = Tier::kHost});
    a = builder.add_instance(on(Stream::kCompute));
    b = builder.add_instance(on(Stream::kCompute));
    Instance transfer = on(Stream::kCopyOut);
    transfer.path = d2h;
    transfer.bytes = 8_B;
    copy = builder.add_instance(transfer);
    update = builder.add_instance(on(Stream::kCpuOptimizer));
  }

  void relate() {
    builder.use(a, t);
    builder.use(b, t);
    builder.use(b, u);
    builder.use(copy, t);
    builder.use(copy, h);
    builder.use(update, h);
    builder.depend(copy, a);
    builder.depend(update, copy);
  }

  Program finish() {
    relate();
    return std::move(builder).finish();
  }
};

TEST_CASE("a program has the rows, the stream order and the capacities that it was built with") {
  Example example;
  const Program program = example.finish();
  CHECK(program.instances.size() == 4);
  CHECK(list(program.uses(example.a)) == std::vector{example.t});
  CHECK(list(program.uses(example.b)) == std::vector{example.t, example.u});
  CHECK(list(program.uses(example.copy)) == std::vector{example.t, example.h});
  CHECK(list(program.uses(example.update)) == std::vector{example.h});
  CHECK(program.dependencies(example.a).empty());
  CHECK(program.dependencies(example.b).empty());
  CHECK(list(program.dependencies(example.copy)) == std::vector{example.a});
  CHECK(list(program.dependencies(example.update)) == std::vector{example.copy});
  CHECK(program.order[static_cast<std::size_t>(Stream::kCompute)] ==
        std::vector{example.a, example.b});
  CHECK(program.order[static_cast<std::size_t>(Stream::kCopyOut)] == std::vector{example.copy});
  CHECK(program.order[static_cast<std::size_t>(Stream::kCopyIn)].empty());
  CHECK(program.capacity[static_cast<std::size_t>(Tier::kSsd)] == 300_B);
}

TEST_CASE("rows filled backwards hold what they hold when filled in order") {
  Example example;
  example.builder.depend(example.update, example.copy);
  example.builder.depend(example.copy, example.a);
  example.builder.use(example.update, example.h);
  example.builder.use(example.copy, example.t);
  example.builder.use(example.copy, example.h);
  example.builder.use(example.b, example.t);
  example.builder.use(example.b, example.u);
  example.builder.use(example.a, example.t);
  const Program backwards = std::move(example.builder).finish();
  const Program in_order = Example().finish();
  CHECK(backwards.first_use == in_order.first_use);
  CHECK(backwards.use == in_order.use);
  CHECK(backwards.first_dependency == in_order.first_dependency);
  CHECK(backwards.dependency == in_order.dependency);
}

TEST_CASE("what is said twice of an instance counts once") {
  Example example;
  example.relate();
  const Program program = example.finish();
  CHECK(list(program.uses(example.b)) == std::vector{example.t, example.u});
  CHECK(list(program.dependencies(example.copy)) == std::vector{example.a});
}

TEST_CASE("an empty program is a program") {
  const Program program = ProgramBuilder({1_B, 1_B, 1_B}).finish();
  CHECK(program.instances.empty());
  CHECK(program.first_use == std::vector<std::uint32_t>{0});
}

TEST_CASE("a dependency on a later instance of the same stream is refused") {
  Example example;
  example.builder.depend(example.a, example.b);
  CHECK_THROWS_AS(example.finish(), InternalError);
}

TEST_CASE("a cycle through two streams is refused, and the same edges without it are not") {
  // copy waits for b, which stands behind a; a waits for copy: a, copy, b, a.
  Example cycle;
  cycle.builder.depend(cycle.copy, cycle.b);
  cycle.builder.depend(cycle.a, cycle.copy);
  CHECK_THROWS_AS(cycle.finish(), InternalError);

  Example line;  // b waits for copy, copy for a
  line.builder.depend(line.b, line.copy);
  CHECK_NOTHROW(line.finish());
}

TEST_CASE("an instance that depends on itself is refused") {
  Example example;
  example.builder.depend(example.update, example.update);
  CHECK_THROWS_AS(example.finish(), InternalError);
}

TEST_CASE("a transfer needs a path, and one over links that exist") {
  ProgramBuilder no_path({1_B, 1_B, 1_B});
  Instance transfer = on(Stream::kCopyIn);
  transfer.bytes = 1_B;
  no_path.add_instance(transfer);
  CHECK_THROWS_AS(std::move(no_path).finish(), InternalError);

  ProgramBuilder no_link({1_B, 1_B, 1_B});
  Path path;
  path.weight[static_cast<std::size_t>(LinkKind::kDram)] = 1;
  no_link.add_path(path);
  CHECK_THROWS_AS(std::move(no_link).finish(), InternalError);

  ProgramBuilder only_cap({1_B, 1_B, 1_B});
  path = {};
  path.cap = 1_GBps;
  transfer.path = only_cap.add_path(path);
  only_cap.add_instance(transfer);
  CHECK_NOTHROW(std::move(only_cap).finish());

  ProgramBuilder unlimited({1_B, 1_B, 1_B});
  unlimited.add_path({});
  CHECK_THROWS_AS(std::move(unlimited).finish(), InternalError);
}

TEST_CASE("a program that was tampered with is refused") {
  Example example;
  Program program = example.finish();
  CHECK_NOTHROW(check(program));
  auto& compute = program.order[static_cast<std::size_t>(Stream::kCompute)];
  SECTION("an instance twice in its stream") {
    compute[1] = compute[0];
    CHECK_THROWS_AS(check(program), InternalError);
  }
  SECTION("an instance missing from its stream") {
    compute.pop_back();
    CHECK_THROWS_AS(check(program), InternalError);
  }
  SECTION("an instance in the list of another stream") {
    std::swap(compute[0], program.order[static_cast<std::size_t>(Stream::kCopyOut)][0]);
    CHECK_THROWS_AS(check(program), InternalError);
  }
  SECTION("a buffer twice in one row") {
    program.use[2] = program.use[1];
    CHECK_THROWS_AS(check(program), InternalError);
  }
  SECTION("a buffer that does not exist") {
    program.use[2] = BufferId{3};
    CHECK_THROWS_AS(check(program), InternalError);
  }
  SECTION("a row short") {
    program.first_use.pop_back();
    CHECK_THROWS_AS(check(program), InternalError);
  }
  SECTION("a value beyond the last row") {
    program.dependency.push_back(example.a);
    CHECK_THROWS_AS(check(program), InternalError);
  }
  SECTION("a link without capacity") {
    program.links[0].capacity = {};
    CHECK_THROWS_AS(check(program), InternalError);
  }
  SECTION("two links of a kind") {
    program.links.push_back(program.links[0]);
    CHECK_THROWS_AS(check(program), InternalError);
  }
  SECTION("negative bytes") {
    program.buffers[0].bytes = Bytes(-1);
    CHECK_THROWS_AS(check(program), InternalError);
  }
}

}  // namespace
}  // namespace tidemark
