#include "graph/machine_paths.hpp"

#include "hardware/ensure.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/machines.hpp"

namespace tidemark {
namespace {

struct Planned {
  Program program;
  MachinePaths paths;

  const Path& path(PathId id) const { return program.paths[index(id)]; }
  int weight(PathId id, LinkKind link) const {
    return path(id).weight[static_cast<std::size_t>(link)];
  }
  Bandwidth capacity(LinkKind kind) const {
    for (const Link& link : program.links) {
      if (link.kind == kind) return link.capacity;
    }
    return {};
  }
};

Planned planned(const Machine& machine, const Transport& transport = {}) {
  ProgramBuilder builder({80_GB, 1000_GB, 2000_GB});
  const MachinePaths paths = add_links(builder, machine, transport);
  return {std::move(builder).finish(), paths};
}

TEST_CASE("each way has its stream, and its latency before the bytes flow") {
  const Planned plan = planned(test::round_machine());
  const Route in = plan.paths.to_gpu(1_GB), out = plan.paths.from_gpu(1_GB);
  const Route read = plan.paths.from_ssd(1_GB), write = plan.paths.to_ssd(1_GB);
  CHECK(in.stream == Stream::kCopyIn);
  CHECK(out.stream == Stream::kCopyOut);
  CHECK(read.stream == Stream::kNvmeRead);
  CHECK(write.stream == Stream::kNvmeWrite);
  CHECK(in.fixed == 10_us);
  CHECK(out.fixed == 10_us);
  CHECK(read.fixed == 100_us);
  CHECK(write.fixed == 100_us);
  for (const Route& route : {in, out, read, write}) {
    CHECK_FALSE(route.blocks_host);
    CHECK(plan.weight(route.path, LinkKind::kDram) == 1);
    CHECK(plan.path(route.path).cap == 0_GBps);
    CHECK(plan.path(route.path).share == 1);
  }
}

TEST_CASE("half of a bandwidth is reached at the half size, in each direction at its own rate") {
  Machine machine = test::round_machine();
  machine.pcie.half_size = Bytes(1'000'000);  // 50 us in at 20 GB/s, 100 us out at 10 GB/s
  const Planned plan = planned(machine);
  CHECK(plan.paths.to_gpu(1_GB).fixed == 60_us);
  CHECK(plan.paths.from_gpu(1_GB).fixed == 110_us);
}

TEST_CASE("a pageable copy reads and writes DRAM as well, as fast as a core, and the host waits") {
  Machine machine = test::round_machine();
  machine.host.copy = 8_GBps;
  const Transport pageable{.memory = Transport::HostMemory::kPageable};
  const Planned plan = planned(machine, pageable);
  for (const Route& route : {plan.paths.to_gpu(1_GB), plan.paths.from_gpu(1_GB)}) {
    CHECK(route.blocks_host);
    CHECK(plan.weight(route.path, LinkKind::kDram) == 3);
    CHECK(plan.path(route.path).cap == 8_GBps);
    CHECK(route.fixed == 10_us + time_at_rate(2 << 20, 8'000'000'000));
  }
  CHECK(plan.weight(plan.paths.nvme_read, LinkKind::kDram) == 1);  // drives write where they like

  machine.pcie.coherent = true;  // nothing is staged
  const Planned coherent = planned(machine, pageable);
  CHECK_FALSE(coherent.paths.to_gpu(1_GB).blocks_host);
  CHECK(coherent.weight(coherent.paths.h2d, LinkKind::kDram) == 1);
  CHECK(coherent.path(coherent.paths.h2d).cap == 0_GBps);
}

TEST_CASE("drives that reach the GPU leave DRAM alone, others go through host memory") {
  const Machine machine = test::round_machine();
  const Planned through = planned(machine);
  CHECK_FALSE(through.paths.direct());
  CHECK_THROWS_AS(through.paths.straight_to_gpu(1_GB), InternalError);
  CHECK(through.weight(through.paths.nvme_read, LinkKind::kDram) == 1);

  const Planned past = planned(machine, {.ssd_path = Transport::SsdPath::kDirect});
  CHECK(past.paths.direct());
  const Route in = past.paths.straight_to_gpu(1_GB);
  CHECK(in.stream == Stream::kNvmeRead);
  CHECK(in.fixed == 100_us);
  CHECK(past.weight(in.path, LinkKind::kDram) == 0);
  CHECK(past.weight(in.path, LinkKind::kNvmeRead) == 1);
  CHECK(past.weight(in.path, LinkKind::kPcieH2d) == 1);
  const Route out = past.paths.straight_to_ssd(1_GB);
  CHECK(past.weight(out.path, LinkKind::kNvmeWrite) == 1);
  CHECK(past.weight(out.path, LinkKind::kPcieD2h) == 1);
}

// Two transfers, one after the other: bytes over the reciprocals' sum. Calibrated on the drives'
// rates to and from the CPU and on PCIe alone; the rates through a bounce buffer test it.
//   4 Gen4 drives, 10 and 5 GB/s, PCIe 4 at 25:  7 read, 4 written (DeepSpeed
//   blogs/deepnvme/08-2024) 2 drives, 12.3 GB/s read, PCIe 5 at 55.06: 9.9 read (DeepSpeedExamples
//   deepnvme/file_access)
TEST_CASE("reading into the GPU through host memory is as slow as DeepNVMe measured") {
  struct Row {
    double drives, pcie, measured;
  };
  for (const Row& row : {Row{10, 25, 7}, Row{5, 25, 4}, Row{12.3, 55.06, 9.9}}) {
    Machine machine = test::round_machine();
    machine.ssd.read = Bandwidth(static_cast<std::int64_t>(row.drives * 1e9));
    machine.pcie.h2d = Bandwidth(static_cast<std::int64_t>(row.pcie * 1e9));
    machine.pcie.both = machine.pcie.h2d + machine.pcie.d2h;
    const Planned plan = planned(machine);
    SimTime time{};
    for (const Route& hop : {plan.paths.from_ssd(1_GB), plan.paths.to_gpu(1_GB)}) {
      const bool drive = hop.stream == Stream::kNvmeRead;
      const Bandwidth rate = plan.capacity(drive ? LinkKind::kNvmeRead : LinkKind::kPcieH2d);
      time += hop.fixed + time_at_rate(1'000'000'000, rate.count);
    }
    CHECK(1 / seconds(time) == Approx(row.measured).epsilon(0.05));
  }
}

TEST_CASE("requests in flight bound what drives carry") {
  Machine machine = test::round_machine();
  machine.ssd.request = Bytes(10'000);  // of 100 us
  machine.ssd.in_flight = 30;           // 3 GB/s: below 4 read, above 2 written
  const Planned plan = planned(machine, {.ssd_path = Transport::SsdPath::kDirect});
  CHECK(plan.path(plan.paths.nvme_read).cap == 3_GBps);
  CHECK(plan.path(plan.paths.ssd_to_gpu_direct).cap == 3_GBps);
  CHECK(plan.path(plan.paths.nvme_write).cap == 0_GBps);
}

TEST_CASE("reads and writes of the drives share a total that is less than their sum") {
  Machine machine = test::round_machine();
  machine.ssd.drives = 2;
  CHECK(planned(machine).capacity(LinkKind::kNvmeBoth) == 0_GBps);
  machine.ssd.both = 5_GBps;
  const Planned plan = planned(machine);
  CHECK(plan.capacity(LinkKind::kNvmeBoth) == 10_GBps);
  CHECK(plan.weight(plan.paths.nvme_read, LinkKind::kNvmeBoth) == 1);
  CHECK(plan.weight(plan.paths.nvme_write, LinkKind::kNvmeBoth) == 1);
  CHECK(plan.weight(plan.paths.h2d, LinkKind::kNvmeBoth) == 0);
}

TEST_CASE("writes are planned at the sustained speed of a drive whose cache is full") {
  Machine machine = test::round_machine();
  machine.ssd.sustained = 1_GBps;
  machine.ssd.drives = 3;
  CHECK(planned(machine).capacity(LinkKind::kNvmeWrite) == 3_GBps);
  machine.ssd.cache = WriteCache::kEmpty;
  CHECK(planned(machine).capacity(LinkKind::kNvmeWrite) == 6_GBps);
}

TEST_CASE("uneven directions compete by their shares, and what is on neither by an even one") {
  Machine machine = test::round_machine();
  machine.pcie.both = 20_GBps;
  machine.pcie.h2d_share = 0.25;
  const Planned plan = planned(machine);
  CHECK(plan.path(plan.paths.h2d).share == 32);
  CHECK(plan.path(plan.paths.d2h).share == 96);
  CHECK(plan.path(plan.paths.nvme_read).share == 64);
  CHECK(plan.paths.other_share == 64);
}

TEST_CASE("without a bandwidth there is no path, and asking for it is an error") {
  Machine machine = test::round_machine();
  machine.ssd.read = machine.ssd.write = {};
  const Planned plan = planned(machine);
  CHECK(plan.paths.nvme_read == kNoPath);
  CHECK_THROWS_AS(plan.paths.from_ssd(1_B), InternalError);
  CHECK_THROWS_AS(plan.paths.straight_to_gpu(1_B), InternalError);
  CHECK_NOTHROW(plan.paths.to_gpu(1_B));
}

}  // namespace
}  // namespace tidemark
