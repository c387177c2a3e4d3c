#include "graph/program_builder.hpp"

#include <utility>

#include "graph/issue_order.hpp"
#include "graph/program_check.hpp"
#include "hardware/ensure.hpp"

namespace tidemark {
namespace {

template <class Id, class Value>
Id append(std::vector<Value>& values, const Value& value) {
  ensure(values.size() < kNoIndex, "a program has fewer than 2^32 - 1 parts of a kind");
  values.push_back(value);
  return Id{static_cast<std::uint32_t>(values.size() - 1)};
}

}  // namespace

ProgramBuilder::ProgramBuilder(const std::array<Bytes, kTierCount>& capacity) {
  program_.capacity = capacity;
}

void ProgramBuilder::reserve(std::size_t instances, std::size_t buffers, std::size_t uses) {
  program_.instances.reserve(instances);
  program_.buffers.reserve(buffers);
  uses_.reserve(uses);
}

void ProgramBuilder::add_link(const Link& link) { program_.links.push_back(link); }

PathId ProgramBuilder::add_path(const Path& path) { return append<PathId>(program_.paths, path); }

BufferId ProgramBuilder::add_buffer(const Buffer& buffer) {
  return append<BufferId>(program_.buffers, buffer);
}

InstanceId ProgramBuilder::add_instance(const Instance& instance) {
  const auto id = append<InstanceId>(program_.instances, instance);
  program_.order[static_cast<std::size_t>(instance.stream)].push_back(id);
  return id;
}

Program ProgramBuilder::finish() && {
  const auto instances = static_cast<std::uint32_t>(program_.instances.size());
  const auto buffers = static_cast<std::uint32_t>(program_.buffers.size());
  Rows<InstanceId> dependencies = std::move(dependencies_).finish(instances, instances);
  Rows<BufferId> uses = std::move(uses_).finish(instances, buffers);
  program_.first_dependency = std::move(dependencies.first);
  program_.dependency = std::move(dependencies.values);
  program_.first_use = std::move(uses.first);
  program_.use = std::move(uses.values);
  order_by_issue(program_);
  check(program_);
  return std::move(program_);
}

}  // namespace tidemark
