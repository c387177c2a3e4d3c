#include "tools/validation/component.hpp"

#include <algorithm>

#include "graph/cpu_optimizer.hpp"
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

  void add(const Route& route, Bytes bytes) {
    ensure(route.path != kNoPath, "the machine has the link that is measured");
    builder_.add_instance({.stream = route.stream,
                           .phase = Phase::kTransfer,
                           .path = route.path,
                           .fixed = route.fixed,
                           .bytes = bytes});
  }

  // What the CPU streams, no faster than it computes.
  void add_update(Bytes bytes, Bandwidth cap) {
    builder_.add_instance({.stream = Stream::kCpuOptimizer,
                           .phase = Phase::kOptimizer,
                           .path = add_cpu_path(builder_, cap, paths.other_share),
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
  const MachinePaths& paths = transfers.paths;
  const auto add = [&](bool in) {
    transfers.add(in ? paths.to_gpu(work.bytes) : paths.from_gpu(work.bytes), work.bytes);
  };
  const bool in = work.direction == CopyWork::Direction::kH2d;
  add(in);
  if (work.both) add(!in);
  return std::move(transfers).first_finish();
}

SimTime time_of(const Machine& machine, const DriveWork& work) {
  Transfers transfers(machine);
  const bool read = work.direction == DriveWork::Direction::kRead;
  const MachinePaths& paths = transfers.paths;
  transfers.add(read ? paths.from_ssd(work.bytes) : paths.to_ssd(work.bytes), work.bytes);
  return std::move(transfers).first_finish();
}

Bytes bytes_of(const UpdateWork& work) {
  const CpuOptimizer optimizer = cpu_optimizer(TrainingConfig{});
  constexpr std::int64_t kGradient = 2, kWeight = 2;
  return Bytes(work.parameters * (kGradient + 2 * optimizer.kept_bytes() + kWeight));
}

SimTime time_of(const Machine& machine, const UpdateWork& work) {
  Transfers transfers(machine);
  const std::int64_t flops = cpu_optimizer(TrainingConfig{}).flops;
  const Bytes bytes = bytes_of(work);
  const Int128 cap = Int128{bytes.count} * machine.host.cpu_optimizer.count /
                     (Int128{std::max<std::int64_t>(work.parameters, 1)} * flops);
  transfers.add_update(bytes, Bandwidth(static_cast<std::int64_t>(cap)));
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
