#include "tools/validation/component.hpp"

#include "graph/machine_paths.hpp"
#include "graph/program_builder.hpp"
#include "hardware/ensure.hpp"
#include "hardware/kernel_time.hpp"
#include "sim/executor.hpp"

namespace tidemark::tools {
namespace {

constexpr Bytes kPlenty{std::int64_t{1} << 56};

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

  void add_update(Bytes bytes, const CpuUpdateTime& time) {
    builder_.add_instance({.stream = Stream::kCpuOptimizer,
                           .phase = Phase::kOptimizer,
                           .path = add_cpu_path(builder_, time.cap, paths.other_share),
                           .fixed = time.fixed,
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

CpuUpdateWork update_of(const UpdateWork& work) {
  const bool fused = work.kernel == CpuKernel::kFused;
  return cpu_update_work(Optimizer::kAdamW, cpu_optimizer(TrainingConfig{}), fused ? 2 : 4,
                         fused ? 2 : 0, work.kernel);
}

Bytes bytes_of(const UpdateWork& work) { return Bytes(work.parameters * update_of(work).streamed); }

SimTime time_of(const Machine& machine, const UpdateWork& work) {
  Transfers transfers(machine);
  transfers.add_update(bytes_of(work),
                       cpu_update_time(machine.host, update_of(work), work.parameters));
  return std::move(transfers).first_finish();
}

SimTime time_of(const Machine& machine, const KernelsWork& work) {
  SimTime sum = work.wait;
  for (const MatmulWork& matmul : work.matmuls) sum += time_of(machine, matmul);
  for (const StreamWork& stream : work.streams) sum += time_of(machine, stream);
  return sum;
}

Bytes bytes_of(const MatmulWork& work) {
  return Bytes(operand_bytes(work.arithmetic) * work.batch *
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
