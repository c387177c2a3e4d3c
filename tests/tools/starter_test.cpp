#include "tools/starter.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "scenarios/catalogue.hpp"
#include "scenarios/load.hpp"
#include "tests/support/catch.hpp"
#include "tools/user_error.hpp"

using namespace tidemark;
using tidemark::tools::starter_text;
using tidemark::tools::StarterChoices;

namespace {

scenarios::Scenario load_text(const std::string& text) {
  return scenarios::load(
      std::make_shared<const scenarios::Source>(scenarios::Source{"starter", text}));
}

scenarios::Scenario loaded(const StarterChoices& choices) {
  return load_text(starter_text(choices, "init"));
}

StarterChoices choice(std::string model, std::string gpu) {
  StarterChoices choices;
  choices.model = std::move(model);
  choices.gpu = std::move(gpu);
  return choices;
}

}  // namespace

// Each model with one card, its name then replaced by every other: the loads are cheap, counting
// what a model needs is not.
TEST_CASE("what init writes loads for every model on every GPU") {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  const std::string card = "a100-80gb-sxm";
  int pairs = 0;
  for (const scenarios::CatalogueEntry& model : catalogue.models()) {
    const std::string text = starter_text(choice(model.name, card), "init");
    const std::size_t at = text.find("hardware: " + card) + 10;
    for (const scenarios::CatalogueEntry& device : catalogue.devices()) {
      if (device.kind != "gpu") continue;
      INFO(model.name << " on " << device.name);
      std::string other = text;
      other.replace(at, card.size(), device.name);
      const scenarios::Scenario scenario = load_text(other);
      REQUIRE(scenario.runs.size() == 5);
      CHECK(scenario.runs.front().model.name == model.name);
      CHECK(scenario.runs.front().machine.gpu.name == device.name);
      ++pairs;
    }
  }
  CHECK(pairs > 200);
}

TEST_CASE("init knows every GPU") {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  for (const scenarios::CatalogueEntry& device : catalogue.devices()) {
    if (device.kind != "gpu") continue;
    INFO(device.name);
    const scenarios::Scenario scenario = loaded(choice("gpt2-124m", device.name));
    CHECK(scenario.runs.front().machine.gpu.name == device.name);
    CHECK(scenario.name == "GPT-2 124M, as Hugging Face runs it on one " + device.description);
  }
}

TEST_CASE("choices arrive in the scenario") {
  StarterChoices choices = choice("gpt2-124m", "rtx-4090");
  choices.host = "server-ddr5";
  choices.pcie = "pcie3-x16";
  choices.ssd = "nvme-pcie3";
  choices.drives = 3;
  choices.micro_batch = 4;
  choices.micro_batches = 2;
  choices.sequence = 512;
  choices.precision = "fp32";
  choices.optimizer = "sgd-momentum";
  for (const scenarios::RunSpec& run : loaded(choices).runs) {
    CHECK(run.training.micro_batch == 4);
    CHECK(run.training.micro_batches == 2);
    CHECK(run.training.sequence == 512);
    CHECK(run.training.precision == Precision::kFp32);
    CHECK(run.training.optimizer == Optimizer::kSgdMomentum);
    CHECK(run.machine.ssd.drives == 3);
    CHECK(run.machine.host.capacity == Bytes(std::int64_t{2} << 40));  // server-ddr5: 2 TiB
    CHECK(run.machine.ssd.read == Bandwidth(3'500'000'000));           // nvme-pcie3
  }
}

TEST_CASE("the introduction counts what each parameter needs") {
  // 124,439,808 parameters of 4 bytes, gradients, a momentum: 12 bytes each in fp32 with
  // sgd-momentum; 1,493,277,696 bytes.
  StarterChoices choices = choice("gpt2-124m", "rtx-4090");
  choices.precision = "fp32";
  choices.optimizer = "sgd-momentum";
  const std::string text = starter_text(choices, "tidemark init");
  CHECK(text.find("124,439,808 parameters") != std::string::npos);
  CHECK(text.find("needs 12 bytes") != std::string::npos);
  CHECK(text.find("1.5 GB before") != std::string::npos);
  CHECK(text.find("has 25.4 GB") != std::string::npos);  // 23.64 GiB
}

TEST_CASE("a name that is not in the catalogue is refused, and so is one of another kind") {
  CHECK_THROWS_AS(starter_text(choice("gpt-8b", "rtx-4090"), ""), tools::UserError);
  CHECK_THROWS_AS(starter_text(choice("gpt-7b", "desktop-ddr5"), ""), tools::UserError);
  StarterChoices choices = choice("gpt-7b", "rtx-4090");
  choices.host = "nvme-pcie4";
  CHECK_THROWS_AS(starter_text(choices, ""), tools::UserError);
}
