// Models from files of the user's.

#include <string>

#include "scenarios/resolved.hpp"
#include "tests/scenarios/hf_text.hpp"
#include "tests/support/catch.hpp"

namespace tidemark::scenarios {
namespace {

RunSpec run_of(const Folder& folder, const std::string& model) {
  return load(folder.write("run.yaml", "model: " + model + "\nhardware: h200\n" + kOneStrategy))
      .runs[0];
}

TEST_CASE("a model file beside the scenario lies over its base") {
  const Folder folder("{}");
  folder.write("mine.yaml",
               "description: half as deep\nsource: my own\nbase: gpt-7b\n"
               "layers: {value: 16, source: my own}\n");
  const ModelConfig model = run_of(folder, "./mine.yaml").model;
  const ModelConfig base = load_text(kStart + kOneStrategy).runs[0].model;
  CHECK(model.name == "./mine.yaml");
  CHECK(model.layers == 16);
  CHECK(model.hidden == base.hidden);
  CHECK(model.ffn == base.ffn);
  // A scenario lies over the file.
  const ModelConfig wider = run_of(folder, "{base: mine.yaml, vocab: 1000}").model;
  CHECK(wider.name == "custom");
  CHECK(wider.layers == 16);
  CHECK(wider.vocab == 1000);
}

TEST_CASE("a model file may state all of a model, as those of the catalogue do") {
  const Folder folder("{}");
  folder.write("mine.yml",
               "architecture: gpt\nlayers: 2\nhidden: 64\nheads: 4\nvocab: 100\n"
               "max_positions: 64\n");
  const RunSpec run = run_of(folder, "mine.yml");
  CHECK(run.model.layers == 2);
  CHECK(run.model.ffn == 256);
  // The run can be written down without it.
  CHECK(resolved_yaml(run).find("mine.yml") == std::string::npos);
}

TEST_CASE("what is wrong with a model file is told at its place") {
  const Folder folder("{}");
  folder.write("mine.yaml", "base: gpt-7b\nlayer: 16\n");
  const auto error_of = [&] {
    try {
      run_of(folder, "./mine.yaml");
    } catch (const ScenarioError& error) {
      return std::string(error.what());
    }
    return std::string("loaded");
  };
  CHECK(error_of().find("mine.yaml:2:1: error: unknown key 'layer' in model") != std::string::npos);
  folder.write("mine.yaml", "[1, 2]\n");
  CHECK(error_of().find("mine.yaml:1:1: error: a model is a mapping, as below model:") !=
        std::string::npos);
}

}  // namespace
}  // namespace tidemark::scenarios
