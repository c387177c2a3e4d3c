#include "scenarios/hardware_checks.hpp"

#include <array>
#include <string>
#include <string_view>

#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

// `key` counts for nothing where `wrong`, unless `unless` is written as well: who writes the figure
// and says that it is not in use may sweep the latter.
struct HardwareRow {
  std::string_view key;
  std::string_view unless;
  bool (*wrong)(const Machine&);
  std::string_view message;
  std::string_view advice;
};

constexpr auto kHardwareRows = std::to_array<HardwareRow>({
    {"pcie.uplink", "pcie.gpus_on_switch",
     [](const Machine& m) { return m.pcie.gpus_on_switch == 1; },
     "uplink: one GPU alone has the whole switch to itself", "gpus_on_switch: 4"},
    {"pcie.remote_h2d", "pcie.numa", [](const Machine& m) { return m.pcie.numa == Numa::kLocal; },
     "remote_h2d: host memory is that of the GPU's own socket", "numa: remote"},
    {"pcie.remote_d2h", "pcie.numa", [](const Machine& m) { return m.pcie.numa == Numa::kLocal; },
     "remote_d2h: host memory is that of the GPU's own socket", "numa: remote"},
    {"host.clock", "", [](const Machine& m) { return m.host.cpu_optimizer.count > 0; },
     "clock: cpu_optimizer states what the cores compute", "leave one of them out"},
    {"host.vector", "", [](const Machine& m) { return m.host.cpu_optimizer.count > 0; },
     "vector: cpu_optimizer states what the cores compute", "leave one of them out"},
    {"host.clock", "", [](const Machine& m) { return m.host.cores == 0; },
     "clock: of how many cores is not stated", "cores"},
    {"host.vector", "", [](const Machine& m) { return m.host.clock.count == 0; },
     "vector: computing takes no time without a clock", "cores and clock"},
    {"ssd.in_flight", "",
     [](const Machine& m) { return m.ssd.in_flight > 1 && m.ssd.request.count == 0; },
     "in_flight: requests of the default size reach the rated bandwidth one at a time",
     "request, their size"},
});

}  // namespace

void check_hardware(const RunSpec& run, const Value& tree, Diagnostics& diagnostics) {
  const auto written = [&](std::string_view key) {
    return key.empty() ? nullptr : find_at(tree, "hardware." + std::string(key));
  };
  for (const HardwareRow& row : kHardwareRows) {
    const Value* found = written(row.key);
    if (found == nullptr || written(row.unless) != nullptr || !row.wrong(run.machine)) continue;
    diagnostics.error(found->mark, std::string(row.message), std::string(row.advice));
    return;
  }
}

}  // namespace tidemark::scenarios
