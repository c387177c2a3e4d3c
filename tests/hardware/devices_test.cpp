// Reads the catalogue as plain text: this floor knows no YAML. The layout that devices/README.md
// asks for is strict enough for that.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/embedded.hpp"
#include "hardware/quantity.hpp"
#include "tests/support/catch.hpp"

namespace tidemark {
namespace {

struct Figure {
  std::string value;
  std::string source;
};

struct Device {
  std::string kind;
  std::string description;
  std::map<std::string, Figure> figures;        // "capacity", "runtime.context"
  std::map<std::string, std::string> defaults;  // "pcie": "pcie4-x16"
  std::vector<std::string> odd_lines;           // anything that is not of these forms
};

// `key: rest` with the indentation taken off; the rest without quotes and comment.
struct Line {
  std::size_t indent = 0;
  std::string key;
  std::string rest;
};

Line split(std::string_view text) {
  Line line;
  line.indent = text.find_first_not_of(' ');
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return line;
  line.key = text.substr(line.indent, colon - line.indent);
  std::string_view rest = text.substr(colon + 1);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.starts_with('#')) rest = {};
  if (rest.size() >= 2 && rest.front() == '"' && rest.back() == '"') {
    rest = rest.substr(1, rest.size() - 2);
  }
  line.rest = rest;
  return line;
}

Device scan(std::string_view text) {
  Device device;
  std::string section;  // "runtime." or "defaults." or nothing
  std::string figure;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string whole(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (whole.empty() || whole[0] == '#') continue;
    const Line line = split(whole);
    if (line.indent == 0) section.clear();
    if (line.key == "kind" && line.indent == 0) {
      device.kind = line.rest;
    } else if (line.key == "description" && line.indent == 0) {
      device.description = line.rest;
    } else if ((line.key == "runtime" || line.key == "defaults") && line.rest.empty()) {
      section = line.key + ".";
    } else if (section == "defaults.") {
      device.defaults[line.key] = line.rest;
    } else if (line.key == "value" && !line.rest.empty()) {
      device.figures[figure].value = line.rest;
    } else if (line.key == "source" && !line.rest.empty()) {
      device.figures[figure].source = line.rest;
    } else if (!line.key.empty() && line.rest.empty()) {
      figure = section + line.key;
      device.figures[figure] = {};
    } else {
      device.odd_lines.push_back(whole);
    }
  }
  return device;
}

std::map<std::string, Device> catalogue() {
  std::map<std::string, Device> devices;
  for (const EmbeddedFile& file : device_files()) {
    devices[std::string(file.name)] = scan(file.text);
  }
  return devices;
}

const std::map<std::string, std::set<std::string>> kFigures = {
    {"gpu",
     {"capacity", "bandwidth", "matmul_16bit", "matmul_32bit", "matmul_tf32", "vector_32bit",
      "matmul_efficiency", "stream_efficiency", "strided_efficiency", "launch_latency",
      "stream_ramp", "sms", "matmul_operand_cost", "matmul_ramp", "matmul_start",
      "flash_forward_efficiency", "flash_backward_efficiency", "runtime.context",
      "runtime.workspace"}},
    {"host", {"capacity", "bandwidth", "cores", "vector", "clock", "copy", "update_share", "issue"}},
    {"ssd", {"capacity", "read", "write", "latency"}},
    {"pcie", {"h2d", "d2h", "both", "latency"}},
};

// Where there is such a figure.
const std::map<std::string, std::set<std::string>> kMore = {
    {"ssd", {"sustained", "both", "endurance"}},
    {"pcie", {"h2d_share", "half_size", "remote_h2d", "remote_d2h", "coherent"}},
};

TEST_CASE("every figure of every device has a value and names a source") {
  for (const auto& [name, device] : catalogue()) {
    INFO(name);
    CHECK(device.odd_lines.empty());  // so that no number stands outside such a pair
    CHECK_FALSE(device.description.empty());
    REQUIRE(kFigures.count(device.kind) == 1);
    std::set<std::string> keys;
    for (const auto& [key, figure] : device.figures) {
      INFO(key);
      keys.insert(key);
      CHECK_FALSE(figure.value.empty());
      CHECK(figure.source.size() >= 10);
    }
    if (const auto more = kMore.find(device.kind); more != kMore.end()) {
      for (const std::string& key : more->second) keys.erase(key);
    }
    CHECK(keys == kFigures.at(device.kind));
  }
}

TEST_CASE("the scan of the catalogue sees a missing source and a bare number") {
  const Device device = scan("kind: ssd\ncapacity:\n  value: 2 TB\nread: 7 GB/s\n");
  CHECK(device.figures.at("capacity").source.empty());
  CHECK(device.odd_lines == std::vector<std::string>{"read: 7 GB/s"});
}

TEST_CASE("every figure parses as its kind of quantity and is plausible") {
  const std::set<std::string> sizes = {"capacity", "runtime.context", "runtime.workspace"};
  const std::set<std::string> times = {"latency", "launch_latency", "stream_ramp", "matmul_start",
                                       "issue"};
  const std::set<std::string> counts = {"cores", "vector", "sms", "matmul_operand_cost",
                                        "matmul_ramp"};
  const std::set<std::string> rates = {"matmul_16bit", "matmul_32bit", "matmul_tf32",
                                       "vector_32bit", "cpu_optimizer"};
  const std::set<std::string> shares = {"matmul_efficiency", "stream_efficiency"};
  for (const auto& [name, device] : catalogue()) {
    for (const auto& [key, figure] : device.figures) {
      INFO(name << " " << key << " " << figure.value);
      if (counts.count(key) != 0) {
        const auto count = parse_count(figure.value);
        REQUIRE(count.value);
        CHECK(*count.value >= 8);
        CHECK(*count.value <= 512);
      } else if (key == "clock") {
        const auto clock = parse_frequency(figure.value);
        REQUIRE(clock.value);
        CHECK(*clock.value >= Frequency(1'500'000'000));
        CHECK(*clock.value <= Frequency(6'000'000'000));
      } else if (key == "coherent") {
        CHECK(figure.value == "true");
      } else if (key == "h2d_share" || key == "update_share") {
        const auto share = parse_fraction(figure.value);
        REQUIRE(share.value);
        CHECK(*share.value > 0.2);
        CHECK(*share.value < 0.8);
      } else if (key == "endurance") {
        const auto bytes = parse_bytes(figure.value);
        REQUIRE(bytes.value);
        CHECK(*bytes.value >= 100'000_GB);
        CHECK(*bytes.value <= 100'000'000_GB);
      } else if (sizes.count(key) != 0) {
        const auto size = parse_bytes(figure.value);
        REQUIRE(size.value);
        CHECK(*size.value > (key == "capacity" ? 16_GB : 1_MiB));
        CHECK(*size.value < (key == "capacity" ? Bytes(8'000'000'000'000) : 4_GiB));
      } else if (times.count(key) != 0) {
        const auto time = parse_time(figure.value);
        REQUIRE(time.value);
        CHECK(*time.value >= 500_ns);
        CHECK(*time.value <= 200_us);
      } else if (key.starts_with("flash_") || key == "strided_efficiency") {
        const auto share = parse_fraction(figure.value);
        REQUIRE(share.value);
        CHECK(*share.value >= 0.25);
      } else if (rates.count(key) != 0) {
        const auto rate = parse_flop_rate(figure.value);
        REQUIRE(rate.value);
        CHECK(*rate.value >= FlopRate(100'000'000'000));
        CHECK(*rate.value <= 3000_TFLOPs);
      } else if (shares.count(key) != 0) {
        const auto share = parse_fraction(figure.value);
        REQUIRE(share.value);
        CHECK(*share.value > 0.5);
      } else {
        const auto bandwidth = parse_bandwidth(figure.value);
        REQUIRE(bandwidth.value);
        CHECK(*bandwidth.value >= 1_GBps);
        CHECK(*bandwidth.value <= 10'000_GBps);
      }
    }
  }
}

// NVLink-C2C of a GB300 carries 3 % less in both directions than to the device alone: measured.
TEST_CASE("both directions of PCIe together carry about as much as one, and not more than both") {
  for (const auto& [name, device] : catalogue()) {
    if (device.kind != "pcie") continue;
    INFO(name);
    const Bandwidth h2d = parse_bandwidth(device.figures.at("h2d").value).value.value();
    const Bandwidth d2h = parse_bandwidth(device.figures.at("d2h").value).value.value();
    const Bandwidth both = parse_bandwidth(device.figures.at("both").value).value.value();
    CHECK(10 * both > 9 * std::max(h2d, d2h));
    CHECK(both <= h2d + d2h);
  }
}

TEST_CASE("every GPU names the machine that it sits in, of devices that exist") {
  const auto devices = catalogue();
  for (const auto& [name, device] : devices) {
    INFO(name);
    if (device.kind != "gpu") {
      CHECK(device.defaults.empty());
      continue;
    }
    CHECK(device.defaults.size() == 3);
    for (const std::string kind : {"pcie", "host", "ssd"}) {
      INFO(kind);
      REQUIRE(device.defaults.count(kind) == 1);
      REQUIRE(devices.count(device.defaults.at(kind)) == 1);
      CHECK(devices.at(device.defaults.at(kind)).kind == kind);
    }
  }
}

TEST_CASE("the catalogue has the devices that people ask about") {
  const auto devices = catalogue();
  for (const char* name :
       {"a100-40gb-sxm",  "a100-40gb-pcie", "a100-80gb-sxm", "a100-80gb-pcie", "h100-80gb-sxm",
        "h100-80gb-pcie", "h200",           "b200",          "v100-32gb-sxm",  "v100-32gb-pcie",
        "rtx-3090",       "rtx-4090",       "rtx-5090",      "l40s",           "pcie3-x16",
        "pcie4-x16",      "pcie5-x16",      "server-ddr4",   "server-ddr5",    "desktop-ddr5",
        "nvme-pcie3",     "nvme-pcie4",     "nvme-pcie5"}) {
    INFO(name);
    CHECK(devices.count(name) == 1);
  }
}

TEST_CASE("an A100 has the figures of its sources") {
  const Device device = catalogue().at("a100-80gb-sxm");
  CHECK(device.description == "NVIDIA A100 SXM4 80 GB");
  // cudaMemGetInfo: 79.15 GiB, less than the 80 GiB on the board and more than 80 GB.
  CHECK(parse_bytes(device.figures.at("capacity").value).value == Bytes(84'986'665'370));
  CHECK(parse_flop_rate(device.figures.at("matmul_16bit").value).value == 312_TFLOPs);
  // 271.2 of 312 TFLOP/s measured for 1024 x 10240 x 5120: 320 tiles in 3 waves of 108, and a ramp
  // of 128 steps before 5120.
  CHECK(parse_fraction(device.figures.at("matmul_efficiency").value).value ==
        Approx(271.2 / 312 * 324 / 320 * 5248 / 5120).epsilon(0.001));
  // Two cuBLAS workspaces of 8,519,680 bytes.
  CHECK(parse_bytes(device.figures.at("runtime.workspace").value).value == 2 * Bytes(8'519'680));
}

}  // namespace
}  // namespace tidemark
