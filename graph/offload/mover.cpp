#include "graph/offload/mover.hpp"

#include <utility>

#include "hardware/ensure.hpp"

namespace tidemark {

InstanceId Mover::copy_out(Bytes bytes, std::string name, std::int16_t layer) {
  return transfer(Stream::kCopyOut, paths_.d2h, machine_.pcie.latency, bytes, std::move(name),
                  layer);
}

InstanceId Mover::fetch(Bytes bytes, std::string name, std::int16_t layer) {
  return transfer(Stream::kFetch, paths_.h2d, machine_.pcie.latency, bytes, std::move(name), layer);
}

InstanceId Mover::read_to_fetch(Bytes bytes, std::string name, std::int16_t layer) {
  return transfer(Stream::kNvmeFetch, paths_.nvme_read, machine_.ssd.latency, bytes,
                  std::move(name), layer);
}

InstanceId Mover::copy_in(Bytes bytes, std::string name) {
  return transfer(Stream::kCopyIn, paths_.h2d, machine_.pcie.latency, bytes, std::move(name));
}

InstanceId Mover::read(Bytes bytes, std::string name) {
  return transfer(Stream::kNvmeRead, paths_.nvme_read, machine_.ssd.latency, bytes,
                  std::move(name));
}

InstanceId Mover::write(Bytes bytes, std::string name, std::int16_t layer) {
  return transfer(Stream::kNvmeWrite, paths_.nvme_write, machine_.ssd.latency, bytes,
                  std::move(name), layer);
}

BufferId Mover::host(Category category, Bytes bytes, std::string text) {
  return builder_.add_buffer(
      {.bytes = bytes, .tier = Tier::kHost, .category = category, .name = name(std::move(text))});
}

void Mover::keep(Tier tier, Category category, Bytes bytes, std::string text) {
  if (bytes.count == 0) return;
  builder_.add_buffer({.bytes = bytes,
                       .tier = tier,
                       .category = category,
                       .initial = true,
                       .persistent = true,
                       .name = name(std::move(text))});
}

BufferId Mover::keep_on_host(Category category, Bytes bytes, std::string text) {
  return builder_.add_buffer({.bytes = bytes,
                              .tier = Tier::kHost,
                              .category = category,
                              .initial = true,
                              .persistent = true,
                              .name = name(std::move(text))});
}

NameId Mover::name(std::string text) {
  graph_.names.push_back(std::move(text));
  return NameId{static_cast<std::uint32_t>(graph_.names.size() - 1)};
}

InstanceId Mover::transfer(Stream stream, PathId path, SimTime latency, Bytes bytes,
                           std::string text, std::int16_t layer) {
  ensure(path != kNoPath, "the machine has the links that the offload needs");
  return builder_.add_instance({.stream = stream,
                                .phase = Phase::kTransfer,
                                .name = name(std::move(text)),
                                .layer = layer,
                                .path = path,
                                .fixed = latency,
                                .bytes = bytes});
}

}  // namespace tidemark
