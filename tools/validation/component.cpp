#include "tools/validation/component.hpp"

#include "graph/machine_paths.hpp"
#include "graph/program_builder.hpp"
#include "hardware/ensure.hpp"
#include "hardware/kernel_time.hpp"
#include "sim/executor.hpp"

namespace tidemark::tools {
namespace {

constexpr Bytes kPlenty{std::int64_t{1} << 56};

std::int64_t element_bytes(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::k16Bit ? 2 : 4;
}

SimTime time_of(const Machine& machine, const MatmulWork& work) {
  return kernel_time(machine.gpu, {.work = WorkClass::kMatmul,
                                   .arithmetic = work.arithmetic,
                                   .m = work.m,
                                   .n = work.n,
                                   .k = work.k,
                                   .batch = work.batch,
                                   .kernels = 1,
                                   .flops = component_flops(work),
                                   .bytes = component_bytes(work)});
}

SimTime time_of(const Machine& machine, const StreamWork& work) {
  return kernel_time(machine.gpu, {.work = WorkClass::kStream,
                                   .arithmetic = Arithmetic::k32Bit,
                                   .kernels = 1,
                                   .flops = {},
                                   .bytes = work.bytes});
}

// One transfer a stream, played together: when the first of them has finished.
class Transfers {
 public:
  explicit Transfers(const Machine& machine)
      : builder_({kPlenty, kPlenty, kPlenty}), paths(add_links(builder_, machine)) {}

  void add(Stream stream, PathId path, SimTime latency, Bytes bytes) {
    ensure(path != kNoPath, "the machine has the link that is measured");
    builder_.add_instance({.stream = stream,
                           .phase = Phase::kTransfer,
                           .path = path,
                           .fixed = latency,
                           .bytes = bytes});
  }

  SimTime first_finish() && {
    return sim::simulate(std::move(builder_).finish()).records.at(0).finish;
  }

 private:
  ProgramBuilder builder_;

 public:
  MachinePaths paths;
};

SimTime time_of(const Machine& machine, const CopyWork& work) {
  Transfers transfers(machine);
  const bool in = work.direction == CopyWork::Direction::kH2d;
  const auto add = [&](bool h2d) {
    transfers.add(h2d ? Stream::kCopyIn : Stream::kCopyOut,
                  h2d ? transfers.paths.h2d : transfers.paths.d2h, machine.pcie.latency,
                  work.bytes);
  };
  add(in);
  if (work.both) add(!in);
  return std::move(transfers).first_finish();
}

SimTime time_of(const Machine& machine, const DriveWork& work) {
  Transfers transfers(machine);
  const bool read = work.direction == DriveWork::Direction::kRead;
  transfers.add(read ? Stream::kNvmeRead : Stream::kNvmeWrite,
                read ? transfers.paths.nvme_read : transfers.paths.nvme_write, machine.ssd.latency,
                work.bytes);
  return std::move(transfers).first_finish();
}

SimTime time_of(const Machine& machine, const KernelsWork& work) {
  SimTime sum = work.wait;
  for (const MatmulWork& matmul : work.matmuls) sum += time_of(machine, matmul);
  for (const StreamWork& stream : work.streams) sum += time_of(machine, stream);
  return sum;
}

Bytes bytes_of(const MatmulWork& work) {
  return Bytes(element_bytes(work.arithmetic) * work.batch *
               (work.m * work.k + work.k * work.n + work.m * work.n));
}
Bytes bytes_of(const StreamWork& work) { return work.bytes; }
Bytes bytes_of(const CopyWork& work) { return work.bytes; }
Bytes bytes_of(const DriveWork& work) { return work.bytes; }
Bytes bytes_of(const KernelsWork&) { return Bytes(0); }

}  // namespace

SimTime component_time(const Machine& machine, const ComponentWork& work) {
  return std::visit([&](const auto& each) { return time_of(machine, each); }, work);
}

Flops component_flops(const ComponentWork& work) {
  const auto* matmul = std::get_if<MatmulWork>(&work);
  return matmul == nullptr ? Flops(0)
                           : Flops(2 * matmul->m * matmul->n * matmul->k * matmul->batch);
}

Bytes component_bytes(const ComponentWork& work) {
  return std::visit([](const auto& each) { return bytes_of(each); }, work);
}

}  // namespace tidemark::tools
