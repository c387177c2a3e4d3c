// Devices from files of the user's.

#include <string>

#include "scenarios/resolved.hpp"
#include "tests/scenarios/hf_text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

RunSpec run_on(const Folder& folder, const std::string& hardware) {
  return load(
             folder.write("run.yaml", "model: gpt-7b\nhardware: " + hardware + "\n" + kOneStrategy))
      .runs[0];
}

Machine a100() {
  return load_text("model: gpt-7b\nhardware: a100-80gb-sxm\n" + kOneStrategy).runs[0].machine;
}

TEST_CASE("a device file beside the scenario lies over its base") {
  const Folder folder("{}");
  folder.write("mine.yaml",
               "description: the one under my desk\n"
               "base: a100-80gb-sxm\n"
               "gpu: {stream_efficiency: {value: 0.8, source: calibrated}}\n"
               "pcie: {base: pcie4-x16, h2d: {value: 20 GB/s, source: calibrated}}\n");
  const Machine machine = run_on(folder, "./mine.yaml").machine;
  CHECK(machine.gpu.name == "./mine.yaml");
  CHECK(machine.gpu.description == "the one under my desk");
  CHECK(machine.gpu.stream_efficiency == 0.8);
  CHECK(machine.gpu.matmul_16bit == a100().gpu.matmul_16bit);
  CHECK(machine.pcie.h2d == Bandwidth(20'000'000'000));
  CHECK(machine.pcie.d2h == a100().pcie.d2h);
  CHECK(machine.host.name == a100().host.name);
}

TEST_CASE("a scenario may change what a device file says, and use it for a part") {
  const Folder folder("{}");
  folder.write("mine.yaml", "base: a100-80gb-sxm\nhbm: {capacity: 40 GB}\n");
  folder.write("host.yaml", "kind: host\nbase: server-ddr5\ncapacity: 100 GB\n");
  const Machine machine =
      run_on(folder, "{base: mine.yaml, hbm: {bandwidth: 1 TB/s}, host: {base: ./host.yaml}}")
          .machine;
  CHECK(machine.gpu.capacity == 40_GB);
  CHECK(machine.gpu.bandwidth == 1000_GBps);
  CHECK(machine.host.capacity == 100_GB);
  CHECK(machine.host.bandwidth.count > 0);
}

TEST_CASE("a device file may be written as those of the catalogue are") {
  const Folder folder("{}");
  folder.write("mine.yaml",
               "kind: gpu\ndescription: flat\nbase: a100-80gb-sxm\n"
               "capacity: {value: 24 GB, source: nvidia-smi}\nmatmul_efficiency: 0.5\n"
               "defaults: {pcie: pcie3-x16}\n");
  const Machine machine = run_on(folder, "./mine.yaml").machine;
  CHECK(machine.gpu.capacity == 24_GB);
  CHECK(machine.gpu.matmul_efficiency == 0.5);
  CHECK(machine.pcie.name == "pcie3-x16");
}

TEST_CASE("a run on a device file can be written down without it") {
  const Folder folder("{}");
  folder.write("mine.yaml", "base: a100-80gb-sxm\ngpu: {stream_efficiency: 0.8}\n");
  const std::string resolved = resolved_yaml(run_on(folder, "./mine.yaml"));
  CHECK(resolved.find("mine.yaml") == std::string::npos);
  CHECK(load_text(resolved).runs[0].machine.gpu.stream_efficiency == 0.8);
}

TEST_CASE("a direction that a device file states sets the total of both, as a scenario's does") {
  const Folder folder("{}");
  folder.write("mine.yaml", "base: a100-80gb-sxm\npcie: {h2d: 50 GB/s, d2h: 50 GB/s}\n");
  folder.write("link.yaml", "kind: pcie\nbase: pcie4-x16\nd2h: 10 GB/s\n");
  CHECK(run_on(folder, "./mine.yaml").machine.pcie.both == 100_GBps);
  CHECK(run_on(folder, "{base: a100-80gb-sxm, pcie: ./link.yaml}").machine.pcie.both == 36_GBps);
  CHECK(run_on(folder, "{base: ./mine.yaml, pcie: {both: 60 GB/s}}").machine.pcie.both == 60_GBps);
}

TEST_CASE("a drive slower than the catalogue's sustained writes sustains what it writes") {
  const RunSpec run =
      load_text("model: gpt-7b\nhardware: {base: a100-80gb-sxm, ssd: {write: 1 GB/s}}\n" +
                kOneStrategy)
          .runs[0];
  CHECK(run.machine.ssd.sustained == 1_GBps);  // the catalogue's drive sustains 2 GB/s
  CHECK(load_text(resolved_yaml(run)).runs[0].machine.ssd.sustained == 1_GBps);
}

TEST_CASE("figures that a device has but a run does not use may stand in its file") {
  const Folder folder("{}");
  folder.write("link.yaml",
               "kind: pcie\nbase: pcie4-x16\nuplink: 20 GB/s\nremote_h2d: 5 GB/s\n"
               "remote_d2h: 4 GB/s\n");
  const std::string link = "{base: a100-80gb-sxm, pcie: {base: ./link.yaml";
  CHECK(run_on(folder, link + "}}").machine.pcie.uplink == 20_GBps);
  CHECK(run_on(folder, link + ", gpus_on_switch: 1, uplink: 21 GB/s}}").machine.pcie.uplink ==
        21_GBps);  // said to be alone: a sweep may say so
}

TEST_CASE("a scenario knows every file that was read for it") {
  const Folder folder("{}");
  folder.write("mine.yaml", "base: a100-80gb-sxm\n");
  const Scenario scenario =
      load(folder.write("run.yaml", "model: gpt-7b\nhardware: ./mine.yaml\n" + kOneStrategy));
  REQUIRE(scenario.inputs.size() == 2);
  CHECK(scenario.inputs[0] == folder.path("run.yaml"));
  CHECK(scenario.inputs[1].ends_with("mine.yaml"));
}

}  // namespace
}  // namespace tidemark::scenarios
