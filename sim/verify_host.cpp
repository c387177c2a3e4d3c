// Whether the host issued the compute stream's instances in order, each in its time.

#include <algorithm>
#include <map>

#include "sim/verify_report.hpp"

namespace tidemark::sim {

void verify_host(const Program& program, const Result& result, const SimulateOptions& options,
                 VerifyReport& report) {
  std::map<InstanceId, SimTime> granted;  // when the last of its memory was granted
  for (const MemoryEvent& event : result.memory) {
    if (event.allocated) granted[event.instance] = event.time;
  }
  const auto& order = program.order[static_cast<std::size_t>(Stream::kCompute)];
  SimTime host{};
  for (std::size_t place = 0; place < order.size(); ++place) {
    const InstanceRecord& record = result.records[index(order[place])];
    if (record.start == kNever) break;
    if (place >= options.launch_queue) {
      host = std::max(host, result.records[index(order[place - options.launch_queue])].start);
    }
    host += program.instances[index(order[place])].issue;
    report.expect(record.issued == host, Rule::kIssue, order[place], " should be issued at ", host,
                  ", not at ", record.issued);
    report.expect(record.start >= record.issued, Rule::kIssue, order[place], " starts at ",
                  record.start, ", before the host has issued it at ", record.issued);
    const auto grant = granted.find(order[place]);
    const bool driver_called = grant != granted.end() && grant->second < record.start;
    if (driver_called) host = std::max(host, record.start);
  }
}

}  // namespace tidemark::sim
