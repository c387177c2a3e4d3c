#include "graph/offload/mover.hpp"

#include <utility>

namespace tidemark {

InstanceId Mover::copy_out(Bytes bytes, std::string name, std::int16_t layer) {
  return transfer(paths_.from_gpu(bytes), Stream::kCopyOut, bytes, std::move(name), layer);
}

InstanceId Mover::fetch(Bytes bytes, std::string name, std::int16_t layer) {
  return transfer(paths_.to_gpu(bytes), Stream::kFetch, bytes, std::move(name), layer);
}

InstanceId Mover::read_to_fetch(Bytes bytes, std::string name, std::int16_t layer) {
  return transfer(paths_.from_ssd(bytes), Stream::kNvmeFetch, bytes, std::move(name), layer);
}

InstanceId Mover::store_directly(Bytes bytes, std::string name, std::int16_t layer) {
  return transfer(paths_.straight_to_ssd(bytes), Stream::kNvmeWrite, bytes, std::move(name), layer);
}

InstanceId Mover::fetch_directly(Bytes bytes, std::string name, std::int16_t layer) {
  return transfer(paths_.straight_to_gpu(bytes), Stream::kNvmeFetch, bytes, std::move(name), layer);
}

InstanceId Mover::copy_in(Bytes bytes, std::string name) {
  return transfer(paths_.to_gpu(bytes), Stream::kCopyIn, bytes, std::move(name));
}

InstanceId Mover::copy_in_apart(Bytes bytes, std::string name) {
  Route route = paths_.to_gpu(bytes);
  route.blocks_host = false;
  return transfer(route, Stream::kCopyIn, bytes, std::move(name));
}

InstanceId Mover::read(Bytes bytes, std::string name) {
  return transfer(paths_.from_ssd(bytes), Stream::kNvmeRead, bytes, std::move(name));
}

InstanceId Mover::write(Bytes bytes, std::string name, std::int16_t layer) {
  return transfer(paths_.to_ssd(bytes), Stream::kNvmeWrite, bytes, std::move(name), layer);
}

void Mover::after(InstanceId instance, OpId op) {
  if (op != kNoOp) builder_.depend(instance, InstanceId{index(op)});
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

InstanceId Mover::transfer(const Route& route, Stream stream, Bytes bytes, std::string text,
                           std::int16_t layer) {
  const InstanceId added = builder_.add_instance({.stream = stream,
                                                  .phase = Phase::kTransfer,
                                                  .name = name(std::move(text)),
                                                  .layer = layer,
                                                  .path = route.path,
                                                  .fixed = route.fixed,
                                                  .bytes = bytes});
  if (route.blocks_host) blocking_.push_back(added);
  return added;
}

}  // namespace tidemark
