#include "tools/report_html/step_columns.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "tools/report_html/packed.hpp"

namespace tidemark::tools {
namespace {

using Column = std::vector<std::int64_t>;

class Names {
 public:
  std::int64_t add(std::string_view name) {
    const auto [found, added] = rows_.try_emplace(name, static_cast<std::int64_t>(rows_.size()));
    if (added) {
      if (!lines_.empty()) lines_ += '\n';
      lines_ += name;
    }
    return found->second;
  }
  const std::string& lines() const { return lines_; }

 private:
  std::map<std::string_view, std::int64_t> rows_;
  std::string lines_;
};

// Finished instances by their start, and where each of them stands.
struct Order {
  std::vector<InstanceId> instances;
  std::vector<std::int64_t> row_plus_one;  // by InstanceId; 0: did not run

  explicit Order(const sim::Result& result) : row_plus_one(result.records.size(), 0) {
    for (std::uint32_t i = 0; i < result.records.size(); ++i) {
      if (result.records[i].finish != sim::kNever) instances.push_back(InstanceId{i});
    }
    std::ranges::sort(instances, [&](InstanceId a, InstanceId b) {
      return std::tuple(result.records[index(a)].start, a) <
             std::tuple(result.records[index(b)].start, b);
    });
    for (std::size_t i = 0; i < instances.size(); ++i) {
      row_plus_one[index(instances[i])] = static_cast<std::int64_t>(i) + 1;
    }
  }
  std::int64_t operator()(InstanceId id) const {
    return id == kNoInstance ? 0 : row_plus_one[index(id)];
  }
};

void add_instances(const PlayedStep& step, const Order& order, Names& names, PackedColumns& out) {
  Column stream, phase, name, layer, start, duration;
  for (const InstanceId id : order.instances) {
    const Instance& instance = step.program.instances[index(id)];
    const sim::InstanceRecord& record = step.whole().records[index(id)];
    stream.push_back(static_cast<std::int64_t>(instance.stream));
    phase.push_back(static_cast<std::int64_t>(instance.phase));
    name.push_back(names.add(name_of(step, id)));
    layer.push_back(instance.layer);
    start.push_back(record.start.count());
    duration.push_back((record.finish - record.start).count());
  }
  out.add(stream);
  out.add(phase);
  out.add(name);
  out.add(differences(layer));
  out.add(differences(start));
  out.add(duration);
}

void add_memory(const PlayedStep& step, const Order& order, Names& names, PackedColumns& out) {
  Column kind, name, layer, bytes;  // of buffers
  Column what, time, instance;      // of events
  std::vector<std::int64_t> row_of(step.program.buffers.size(), -1);
  for (const sim::MemoryEvent& event : step.whole().memory) {
    const Buffer& buffer = step.program.buffers[index(event.buffer)];
    std::int64_t& row = row_of[index(event.buffer)];
    if (event.allocated) {
      row = static_cast<std::int64_t>(kind.size());
      kind.push_back(static_cast<std::int64_t>(buffer.tier) +
                     std::int64_t{kTierCount} * static_cast<std::int64_t>(buffer.category));
      name.push_back(names.add(name_of(step, event.buffer)));
      layer.push_back(buffer.tensor == kNoTensor ? -1 : step.graph.tensor(buffer.tensor).layer);
      bytes.push_back(buffer.bytes.count);
      what.push_back(0);
    } else {
      what.push_back(static_cast<std::int64_t>(kind.size()) - row);
    }
    time.push_back(event.time.count());
    instance.push_back(order(event.instance));
  }
  out.add(kind);
  out.add(name);
  out.add(differences(layer));
  out.add(bytes);
  out.add(what);
  out.add(differences(time));
  out.add(differences(instance));
}

void add_stalls(const PlayedStep& step, const Order& order, PackedColumns& out) {
  Column begin, duration, cause, waiting, blocker;
  for (const sim::Stall& stall : step.whole().stalls) {
    begin.push_back(stall.begin.count());
    duration.push_back((stall.end - stall.begin).count());
    cause.push_back(static_cast<std::int64_t>(stall.cause));
    waiting.push_back(order(stall.waiting));
    blocker.push_back(order(stall.blocker));
  }
  out.add(differences(begin));
  out.add(duration);
  out.add(cause);
  out.add(differences(waiting));
  out.add(differences(blocker));
}

}  // namespace

std::string step_columns(const PlayedStep& step) {
  Names names;
  const Order order(step.whole());
  PackedColumns numbers;
  add_instances(step, order, names, numbers);
  add_memory(step, order, names, numbers);
  add_stalls(step, order, numbers);
  numbers.add_text(names.lines());
  return numbers.base64();
}

}  // namespace tidemark::tools
