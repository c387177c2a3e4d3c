#pragma once
// Whether every kernel found what it uses in HBM, from the memory events of a run alone: knows
// nothing of how the plan came to be. Slow and simple.

#include <string>
#include <vector>

#include "graph/program.hpp"
#include "graph/step_graph.hpp"
#include "sim/result.hpp"

namespace tidemark::test {

// A buffer's time: there from the start of `filled_by` (kNoInstance: before the step) on, its bytes
// in it from the end of that instance; gone at `gone`.
struct Presence {
  BufferId buffer{};
  InstanceId filled_by = kNoInstance;
  SimTime there{};
  SimTime filled{};
  SimTime gone{};
};

class HbmReplay {
 public:
  HbmReplay(const StepGraph& graph, const Program& program, const sim::Result& result)
      : graph_(graph), program_(program), result_(result), by_tensor_(graph.tensors.size()) {
    std::vector<Presence> of_buffer(program.buffers.size());
    std::vector<bool> seen(program.buffers.size(), false);
    for (const sim::MemoryEvent& event : result.memory) {
      Presence& presence = of_buffer[index(event.buffer)];
      if (!event.allocated) {
        presence.gone = event.time;
        continue;
      }
      seen[index(event.buffer)] = true;
      const bool before = event.instance == kNoInstance;
      presence = {event.buffer, event.instance, event.time,
                  before ? SimTime(0) : result.records[index(event.instance)].finish,
                  SimTime::max()};
    }
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      if (seen[b] && buffer.tensor != kNoTensor) {
        by_tensor_[index(buffer.tensor)].push_back(of_buffer[b]);
      }
    }
  }

  // What is wrong, in words; empty: nothing.
  std::vector<std::string> faults() const {
    std::vector<std::string> found;
    for (std::uint32_t i = 0; i < graph_.op_count(); ++i) {
      for (const TensorId x : graph_.inputs_of(OpId{i})) check(OpId{i}, x, found);
      for (const TensorId x : graph_.updated_by(OpId{i})) check(OpId{i}, x, found);
      for (const TensorId x : graph_.outputs_of(OpId{i})) check(OpId{i}, x, found);
    }
    return found;
  }

  // Of one tier, in order of time.
  std::vector<Presence> presences(TensorId tensor, Tier tier) const {
    std::vector<Presence> found;
    for (const Presence& presence : by_tensor_[index(tensor)]) {
      if (program_.buffers[index(presence.buffer)].tier == tier) found.push_back(presence);
    }
    return found;
  }

 private:
  const sim::InstanceRecord& record(OpId op) const { return result_.records[index(op)]; }

  void check(OpId op, TensorId tensor, std::vector<std::string>& found) const {
    const std::string what =
        "op " + std::to_string(index(op)) + " with tensor " + std::to_string(index(tensor)) + ": ";
    const Presence* there = nullptr;
    for (const Presence& presence : by_tensor_[index(tensor)]) {
      if (program_.buffers[index(presence.buffer)].tier != Tier::kHbm) continue;
      if (presence.there > record(op).start || presence.gone < record(op).finish) continue;
      if (there != nullptr) found.push_back(what + "in HBM twice");
      there = &presence;
    }
    if (there == nullptr) {
      found.push_back(what + "not in HBM");
      return;
    }
    const bool own = there->filled_by == InstanceId{index(op)};
    if (!own && there->filled > record(op).start) found.push_back(what + "its bytes are not there");
    if (there->filled_by == kNoInstance ||
        program_.instances[index(there->filled_by)].op != kNoOp) {
      return;
    }
    check_source(*there, what, found);
  }

  // A transfer filled it: from where the last writer's bytes had arrived before.
  void check_source(const Presence& in_hbm, const std::string& what,
                    std::vector<std::string>& found) const {
    const TensorId tensor = program_.buffers[index(in_hbm.buffer)].tensor;
    const sim::InstanceRecord& fetch = result_.records[index(in_hbm.filled_by)];
    if (graph_.tensor(tensor).initial()) return;  // kept elsewhere all the time
    // Past the host, straight from the drive.
    const Instance& by = program_.instances[index(in_hbm.filled_by)];
    const Tier from = by.stream == Stream::kNvmeFetch ? Tier::kSsd : Tier::kHost;
    bool source = false;
    for (const Presence& kept : by_tensor_[index(tensor)]) {
      const Tier tier = program_.buffers[index(kept.buffer)].tier;
      if (tier != from || kept.gone < fetch.finish || kept.there > fetch.start) continue;
      source = source || kept.filled <= fetch.start;
    }
    if (!source) found.push_back(what + "fetched from where it is not");
    for (std::uint32_t i = 0; i < graph_.op_count(); ++i) {
      for (const auto& row : {graph_.outputs_of(OpId{i}), graph_.updated_by(OpId{i})}) {
        for (const TensorId written : row) {
          if (written != tensor || record(OpId{i}).start >= fetch.finish) continue;
          if (record(OpId{i}).finish > first_copy_out(tensor)) {
            found.push_back(what + "written after it was copied");
          }
        }
      }
    }
  }

  SimTime first_copy_out(TensorId tensor) const {
    SimTime first = SimTime::max();
    for (const Presence& kept : by_tensor_[index(tensor)]) {
      if (program_.buffers[index(kept.buffer)].tier == Tier::kHost && kept.there < first) {
        first = kept.there;
      }
    }
    return first;
  }

  const StepGraph& graph_;
  const Program& program_;
  const sim::Result& result_;
  std::vector<std::vector<Presence>> by_tensor_;
};

}  // namespace tidemark::test
