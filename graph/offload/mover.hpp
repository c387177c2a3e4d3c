#pragma once
// The words in which strategies add what they move: transfers by where they go, bytes by where they
// stay. Everything gets a name in the graph.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/machine_paths.hpp"
#include "graph/program_builder.hpp"
#include "graph/step_graph.hpp"

namespace tidemark {

class Mover {
 public:
  Mover(ProgramBuilder& builder, StepGraph& graph, const Machine& machine,
        const MachinePaths& paths)
      : builder_(builder), graph_(graph), machine_(machine), paths_(paths) {}

  // Transfers. A link that the machine has not is an InternalError.
  InstanceId copy_out(Bytes bytes, std::string name, std::int16_t layer = -1);
  InstanceId copy_in(Bytes bytes, std::string name);
  // The same from a thread of its own: the host goes on while it waits and copies.
  InstanceId copy_in_apart(Bytes bytes, std::string name);
  InstanceId read(Bytes bytes, std::string name);  // from the SSD to the host
  InstanceId write(Bytes bytes, std::string name, std::int16_t layer = -1);  // to the SSD
  // As copy_in and read, for what forward and backward wait for.
  InstanceId fetch(Bytes bytes, std::string name, std::int16_t layer);
  InstanceId read_to_fetch(Bytes bytes, std::string name, std::int16_t layer);
  // Between HBM and the SSD without a stop in host memory, where the transport is direct().
  bool direct() const { return paths_.direct(); }
  InstanceId store_directly(Bytes bytes, std::string name, std::int16_t layer);
  InstanceId fetch_directly(Bytes bytes, std::string name, std::int16_t layer);

  // Bytes on the host from the first to the last instance that uses them.
  BufferId host(Category category, Bytes bytes, std::string name);
  // Bytes that are there before and after the step; nothing where there are none.
  void keep(Tier tier, Category category, Bytes bytes, std::string name);
  BufferId keep_on_host(Category category, Bytes bytes, std::string name);

  void depend(InstanceId later, InstanceId earlier) { builder_.depend(later, earlier); }
  void after(InstanceId instance, OpId op);  // kNoOp: from the start
  void before(OpId op, InstanceId instance) { builder_.depend(InstanceId{index(op)}, instance); }
  void use(InstanceId instance, BufferId buffer) { builder_.use(instance, buffer); }

  // Those that block the host (of pageable memory), for hold_issue().
  std::span<const InstanceId> blocking() const { return blocking_; }

  NameId name(std::string text);
  ProgramBuilder& builder() { return builder_; }
  const StepGraph& graph() const { return graph_; }
  const Machine& machine() const { return machine_; }
  const MachinePaths& paths() const { return paths_; }

 private:
  InstanceId transfer(const Route& route, Stream stream, Bytes bytes, std::string name,
                      std::int16_t layer = -1);

  ProgramBuilder& builder_;
  StepGraph& graph_;
  const Machine& machine_;
  const MachinePaths& paths_;
  std::vector<InstanceId> blocking_;
};

}  // namespace tidemark
