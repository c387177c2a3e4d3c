#include "graph/offload/activations.hpp"

#include <string_view>
#include <vector>

#include "graph/plan.hpp"
#include "tests/support/block_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plans.hpp"

namespace tidemark {
namespace {

using test::BlockStep;
using test::bytes_of;
using test::depends;
using test::instance;
using test::order;
using test::uses;

Offload activations(ActivationOffload::To to) {
  Offload offload;
  offload.activations.to = to;
  offload.activations.larger_than = 0_B;
  offload.activations.keep_last = 0;
  return offload;
}

constexpr auto kHost = ActivationOffload::To::kHost;
constexpr auto kSsd = ActivationOffload::To::kSsd;

TEST_CASE("a tensor goes out when it is saved, and its reader waits for it to come back") {
  BlockStep step = BlockStep{}.build();
  const Program program = plan(step.graph, {}, activations(kHost), test::round_machine());
  const auto& out = order(program, Stream::kCopyOut);
  const auto& in = order(program, Stream::kFetch);
  REQUIRE(out.size() == 3);  // x0, x1, x2
  REQUIRE(in.size() == 3);   // x2, x1, x0
  CHECK(order(program, Stream::kCopyIn).empty());
  CHECK(order(program, Stream::kNvmeWrite).empty());
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(instance(program, out[i]).bytes == 10'000_B);
    CHECK(program.dependencies(out[i]).size() == 1);
    CHECK(depends(program, out[i], InstanceId{i + 1}));
    CHECK(depends(program, in[i], out[2 - i]));
    CHECK(program.dependencies(InstanceId{4 + i}).size() == 1);
    CHECK(depends(program, InstanceId{4 + i}, in[i]));
  }
  // Not before backward, or the visit before its own, begins.
  CHECK(depends(program, in[0], InstanceId{3}));
  CHECK(depends(program, in[1], InstanceId{3}));
  CHECK(depends(program, in[2], InstanceId{4}));
}

TEST_CASE("past the host a tensor takes one transfer each way and no host memory") {
  BlockStep step = BlockStep{}.build();
  Offload offload = activations(kSsd);
  offload.transport.ssd_path = Transport::SsdPath::kDirect;
  const Program program = plan(step.graph, {}, offload, test::round_machine());
  const auto& out = order(program, Stream::kNvmeWrite);
  const auto& in = order(program, Stream::kNvmeFetch);
  REQUIRE(out.size() == 3);
  REQUIRE(in.size() == 3);
  CHECK(order(program, Stream::kCopyOut).empty());
  CHECK(order(program, Stream::kFetch).empty());
  for (const Buffer& buffer : program.buffers) CHECK(buffer.tier != Tier::kHost);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(instance(program, out[i]).bytes == 10'000_B);
    CHECK(depends(program, out[i], InstanceId{i + 1}));
    CHECK(depends(program, in[i], out[2 - i]));
    CHECK(depends(program, InstanceId{4 + i}, in[i]));
    // The drive's and PCIe's links, not DRAM.
    const Path& path = program.paths[index(instance(program, in[i]).path)];
    CHECK(path.weight[static_cast<std::size_t>(LinkKind::kNvmeRead)] == 1);
    CHECK(path.weight[static_cast<std::size_t>(LinkKind::kPcieH2d)] == 1);
    CHECK(path.weight[static_cast<std::size_t>(LinkKind::kDram)] == 0);
  }
}

TEST_CASE("a tensor's HBM, its host memory and its HBM again belong to their users alone") {
  BlockStep step = BlockStep{}.build();
  const Program program = plan(step.graph, {}, activations(kHost), test::round_machine());
  const TensorId x0 = step.activations[0][0];
  const InstanceId out = order(program, Stream::kCopyOut)[0];
  const InstanceId in = order(program, Stream::kFetch)[2];
  const auto users = [&](Tier tier, std::size_t nth) {
    std::vector<InstanceId> found;
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
      if (program.buffers[b].tensor != x0 || program.buffers[b].tier != tier) continue;
      if (nth-- != 0) continue;
      CHECK(program.buffers[b].bytes == 10'000_B);
      CHECK(program.buffers[b].category == Category::kActivations);
      CHECK_FALSE((program.buffers[b].initial || program.buffers[b].persistent));
      for (std::uint32_t i = 0; i < program.instances.size(); ++i) {
        if (uses(program, InstanceId{i}, BufferId{b})) found.push_back(InstanceId{i});
      }
    }
    return found;
  };
  CHECK(users(Tier::kHbm, 0) == std::vector{InstanceId{0}, InstanceId{1}, out});
  CHECK(users(Tier::kHost, 0) == std::vector{out, in});
  CHECK(users(Tier::kHbm, 1) == std::vector{InstanceId{6}, in});
  CHECK(users(Tier::kHbm, 2).empty());
}

TEST_CASE("what is moved once goes each way once") {
  BlockStep step;
  step.blocks = 5;
  step.passes = 3;
  step.build();
  Offload offload = activations(GENERATE(kHost, kSsd));
  offload.activations.keep_last = 2;  // of x0 ... x5, x3 to x5 stay
  const Program program = plan(step.graph, {}, offload, test::round_machine());
  CHECK(bytes_of(program, Stream::kCopyOut) == 90'000_B);
  CHECK(bytes_of(program, Stream::kFetch) == 90'000_B);
  const Bytes ssd = offload.activations.to == kSsd ? 90'000_B : 0_B;
  CHECK(bytes_of(program, Stream::kNvmeWrite) == ssd);
  CHECK(bytes_of(program, Stream::kNvmeFetch) == ssd);
  CHECK(bytes_of(program, Tier::kSsd, Category::kActivations) == ssd);
}

TEST_CASE("on the way to the SSD and back a tensor passes host memory") {
  BlockStep step = BlockStep{}.build();
  const Program program = plan(step.graph, {}, activations(kSsd), test::round_machine());
  const InstanceId out = order(program, Stream::kCopyOut)[0];
  const InstanceId write = order(program, Stream::kNvmeWrite)[0];
  const InstanceId read = order(program, Stream::kNvmeFetch)[2];
  const InstanceId in = order(program, Stream::kFetch)[2];
  CHECK(depends(program, write, out));
  CHECK(depends(program, read, write));
  CHECK(depends(program, read, InstanceId{4}));
  CHECK(depends(program, in, read));
  CHECK(depends(program, InstanceId{6}, in));
  const auto shared = [&](InstanceId a, InstanceId b, Tier tier, Category category) {
    int count = 0;
    for (const BufferId buffer : program.uses(a)) {
      if (!uses(program, b, buffer)) continue;
      CHECK(program.buffers[index(buffer)].tier == tier);
      CHECK(program.buffers[index(buffer)].category == category);
      ++count;
    }
    return count == 1;
  };
  CHECK(shared(out, write, Tier::kHost, Category::kStaging));
  CHECK(shared(write, read, Tier::kSsd, Category::kActivations));
  CHECK(shared(read, in, Tier::kHost, Category::kStaging));
}

TEST_CASE("a bounded pool of staging makes a copy wait for the write that makes room for it") {
  BlockStep step = BlockStep{}.build();
  Offload offload = activations(kSsd);
  offload.activations.pool = 20'000_B;  // two tensors
  const Program program = plan(step.graph, {}, offload, test::round_machine());
  const auto& out = order(program, Stream::kCopyOut);
  const auto& write = order(program, Stream::kNvmeWrite);
  const auto& read = order(program, Stream::kNvmeFetch);
  const auto& in = order(program, Stream::kFetch);
  CHECK_FALSE(depends(program, out[1], write[0]));
  CHECK(depends(program, out[2], write[0]));
  CHECK(depends(program, read[0], write[1]));
  CHECK(depends(program, read[1], write[2]));
  CHECK(depends(program, read[2], in[0]));
}

TEST_CASE("a pool on the host has room for the tensors that are saved first, pass by pass") {
  BlockStep step;
  step.passes = 2;
  step.build();
  Offload offload = activations(kHost);
  const auto moved = [&](Bytes pool) {
    BlockStep copy = step;
    offload.activations.pool = pool;
    return bytes_of(plan(copy.graph, {}, offload, test::round_machine()), Stream::kCopyOut);
  };
  CHECK(moved(0_B) == 60'000_B);  // no bound
  CHECK(moved(30'000_B) == 60'000_B);
  CHECK(moved(29'999_B) == 40'000_B);
  CHECK(moved(20'000_B) == 40'000_B);
  CHECK(moved(9'999_B) == 0_B);
}

TEST_CASE("what is saved first goes to the SSD, what comes next to the host, the rest stays") {
  BlockStep step;
  step.passes = 2;  // x0, x1, x2 of 10,000 bytes in each
  step.build();
  Offload offload = activations(kHost);
  const auto check = [&](Bytes first, Bytes most, Bytes ssd, Bytes host) {
    BlockStep copy = step;
    offload.activations.ssd_first = first;
    offload.activations.most = most;
    const Program program = plan(copy.graph, {}, offload, test::round_machine());
    CHECK(bytes_of(program, Stream::kNvmeWrite) == ssd);
    CHECK(bytes_of(program, Stream::kNvmeFetch) == ssd);
    CHECK(bytes_of(program, Stream::kCopyOut) == ssd + host);
    CHECK(bytes_of(program, Stream::kFetch) == ssd + host);
    CHECK(bytes_of(program, Tier::kSsd, Category::kActivations) == ssd);
    CHECK(bytes_of(program, Tier::kHost, Category::kActivations) == host);
    CHECK(bytes_of(program, Tier::kHost, Category::kStaging) == 2 * ssd);  // out and in
  };
  check(10'000_B, 10'000_B, 20'000_B, 20'000_B);
  check(10'000_B, 20'000_B, 20'000_B, 40'000_B);
  check(9'999_B, 10'000_B, 0_B, 20'000_B);
  check(29'999_B, 9'999_B, 40'000_B, 0_B);
  check(0_B, 0_B, 0_B, 60'000_B);
}

TEST_CASE("in the waiting form the op after the save waits too") {
  BlockStep step = BlockStep{}.build();
  Offload offload = activations(GENERATE(kHost, kSsd));
  offload.activations.synchronous = true;
  const Program program = plan(step.graph, {}, offload, test::round_machine());
  const bool ssd = offload.activations.to == kSsd;
  const auto& gone = order(program, ssd ? Stream::kNvmeWrite : Stream::kCopyOut);
  const auto& in = order(program, Stream::kFetch);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(depends(program, InstanceId{i + 2}, gone[i]));
    CHECK(depends(program, in[i], InstanceId{i + 3}));
    CHECK(depends(program, InstanceId{i + 4}, in[i]));
  }
}

TEST_CASE("transfers are named by the tensor that they carry") {
  BlockStep step = BlockStep{}.build();
  const Program program = plan(step.graph, {}, activations(kSsd), test::round_machine());
  const auto first = [&](Stream stream) {
    return test::names_of(program, step.graph, stream).front();
  };
  CHECK(first(Stream::kCopyOut) == "x to the host");
  CHECK(first(Stream::kNvmeWrite) == "x to the SSD");
  CHECK(first(Stream::kNvmeFetch) == "x from the SSD");
  CHECK(first(Stream::kFetch) == "x to the GPU");
}

TEST_CASE("activations of the next pass leave after the gradients of the one before") {
  BlockStep step;
  step.passes = 2;
  step.build();
  Offload offload = activations(kHost);
  offload.optimizer = Offload::States::kHost;
  offload.bucket = 1_B;
  const Program program = plan(step.graph, {}, offload, test::round_machine());
  // Gradients leave in the last pass alone, here after all activations.
  const auto names = test::names_of(program, step.graph, Stream::kCopyOut);
  REQUIRE(names.size() == 6 + 4);
  CHECK(names[5] == "x to the host");
  CHECK(names[6] == "gradients of bucket 0 to the host");
}

}  // namespace
}  // namespace tidemark
