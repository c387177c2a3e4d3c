#include "tools/analysis/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hardware/ensure.hpp"
#include "tools/analysis/executed_path.hpp"

namespace tidemark::tools {
namespace {

constexpr double kWorthNaming = 0.005;  // a share

Resource resource_of(Stream stream) {
  switch (stream) {
    case Stream::kCopyIn:
    case Stream::kFetch:
      return Resource::kPcieH2d;
    case Stream::kCopyOut:
      return Resource::kPcieD2h;
    case Stream::kCpuOptimizer:
      return Resource::kCpuOptimizer;
    case Stream::kNvmeRead:
    case Stream::kNvmeFetch:
      return Resource::kNvmeRead;
    case Stream::kNvmeWrite:
      return Resource::kNvmeWrite;
    case Stream::kCommunication:
      return Resource::kCommunication;
    case Stream::kCompute:
      break;
  }
  throw InternalError("a kernel's resource depends on the kernel");
}

Resource resource_of(const Op& op) {
  if (op.phase == Phase::kRecompute) return Resource::kRecompute;
  if (op.work == WorkClass::kMatmul) return Resource::kMatmul;
  const bool fused = op.work == WorkClass::kAttention || op.work == WorkClass::kAttentionBackward;
  return fused ? Resource::kAttention : Resource::kStreaming;
}

class Limits {
 public:
  Limits(const StepGraph& graph, const Program& program, const Gpu& gpu)
      : graph_(graph), program_(program), gpu_(gpu) {}

  void add(const PathSpan& span) {
    add(Resource::kLaunch, span.issued - span.begin);
    add(Resource::kAllocatorCall, span.start - span.issued);
    const Instance& instance = program_.instances[index(span.instance)];
    const SimTime ran = span.finish - span.start;
    if (instance.stream != Stream::kCompute) {
      add(resource_of(instance.stream), ran);
    } else if (instance.op == kNoOp) {
      add(Resource::kStreaming, ran);
    } else {
      add_kernel(graph_.op(instance.op), ran);
    }
  }

  const ByResource& sums() const { return sums_; }

 private:
  void add_kernel(const Op& op, SimTime ran) {
    const Resource resource = resource_of(op);
    SimTime launch{};
    if (resource != Resource::kRecompute && op.work != WorkClass::kNone) {
      launch = std::min(ran, gpu_.launch_latency * op.kernels);
    }
    add(Resource::kLaunch, launch);
    add(resource, ran - launch);
  }

  void add(Resource resource, SimTime time) { sums_[static_cast<std::size_t>(resource)] += time; }

  const StepGraph& graph_;
  const Program& program_;
  const Gpu& gpu_;
  ByResource sums_{};
};

}  // namespace

std::string_view spoken(Resource resource) {
  switch (resource) {
    case Resource::kMatmul:
      return "matmul";
    case Resource::kAttention:
      return "attention";
    case Resource::kStreaming:
      return "streaming kernels";
    case Resource::kRecompute:
      return "recompute";
    case Resource::kLaunch:
      return "launches";
    case Resource::kPcieH2d:
      return "PCIe in";
    case Resource::kPcieD2h:
      return "PCIe out";
    case Resource::kNvmeRead:
      return "NVMe read";
    case Resource::kNvmeWrite:
      return "NVMe write";
    case Resource::kCpuOptimizer:
      return "CPU optimizer";
    case Resource::kCommunication:
      return "communication";
    case Resource::kAllocatorCall:
      return "allocator calls";
  }
  return "";
}

UpdatePace update_pace(const Program& program, const Host& host) {
  // As hardware/cpu_update.cpp caps what streams: update_share of DRAM, or less where cores bind.
  const auto dram = std::llround(host.update_share * static_cast<double>(host.bandwidth.count));
  Bytes streamed, by_cores;
  for (const InstanceId i : program.order[static_cast<std::size_t>(Stream::kCpuOptimizer)]) {
    const Instance& instance = program.instances[index(i)];
    if (instance.path == kNoPath) continue;
    streamed += instance.bytes;
    const Bandwidth cap = program.paths[index(instance.path)].cap;
    if (cap.count > 0 && cap.count < dram) by_cores += instance.bytes;
  }
  if (streamed.count == 0) return UpdatePace::kNone;
  return by_cores * 2 > streamed ? UpdatePace::kCores : UpdatePace::kDram;
}

std::string spoken(Resource resource, UpdatePace pace) {
  const std::string name(spoken(resource));
  if (resource != Resource::kCpuOptimizer || pace == UpdatePace::kNone) return name;
  return name + (pace == UpdatePace::kDram ? " (DRAM)" : " (cores)");
}

ByResource limits_of(const StepGraph& graph, const Program& program, const sim::Result& result,
                     const Gpu& gpu) {
  Limits limits(graph, program, gpu);
  for (const PathSpan& span : executed_path(program, result)) limits.add(span);
  return limits.sums();
}

std::string limits_text(const ByResource& limits, UpdatePace pace) {
  SimTime whole{};
  for (const SimTime part : limits) whole += part;
  std::vector<Resource> parts;
  for (std::size_t r = 0; r < limits.size(); ++r) {
    if (seconds(limits[r]) > kWorthNaming * seconds(whole)) {
      parts.push_back(static_cast<Resource>(r));
    }
  }
  const auto time = [&](Resource resource) { return limits[static_cast<std::size_t>(resource)]; };
  std::ranges::stable_sort(parts, std::greater(), time);
  std::string text;
  for (const Resource part : parts) {
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", spoken(part, pace),
                        100 * seconds(time(part)) / seconds(whole));
  }
  return text;
}

}  // namespace tidemark::tools
