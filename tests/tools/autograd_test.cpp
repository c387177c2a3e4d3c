// Tidemark's bytes against those that PyTorch's own autograd allocated:
// tests/data/autograd/README.md says where the figures come from. Each row goes the whole way from
// a scenario to a report.

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/load.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/files.hpp"
#include "tools/evaluate.hpp"

using namespace tidemark;

namespace {

using test::Row;

std::vector<Row> read_rows(const std::string& name) {
  return test::csv_rows("tests/data/autograd/" + name);
}

// {key of the scenario, column}; the loader refuses keys that say nothing for an architecture.
using Keys = std::vector<std::pair<std::string, std::string>>;

std::string section(const std::string& name, const Row& row, const Keys& keys,
                    const std::string& more = "") {
  std::string text = name + ": {";
  for (const auto& [key, column] : keys) text += key + ": " + row.at(column) + ", ";
  return text + more + "}\n";
}

Keys same_names(std::initializer_list<const char*> names) {
  Keys keys;
  for (const char* name : names) keys.emplace_back(name, name);
  return keys;
}

scenarios::RunSpec run_of(const Row& row) {
  const std::string& architecture = row.at("architecture");
  Keys model = same_names({"architecture", "layers", "hidden", "heads", "head_dim", "ffn", "vocab",
                           "max_positions", "tied_embeddings"});
  Keys kernels = same_names({"loss", "keep_logits", "accumulate", "mean", "zero_grad"});
  kernels.emplace_back("optimizer", "optimizer_kernel");
  if (architecture == "llama") {
    model.emplace_back("kv_heads", "kv_heads");
    model.emplace_back("qkv_bias", "qkv_bias");
    kernels.emplace_back("norm", "norm");
  } else {
    model.emplace_back("dropout", "dropout");
    kernels.emplace_back("dropout_mask", "dropout_mask");
  }
  if (architecture == "gpt") kernels.emplace_back("causal", "causal");
  if (architecture != "gpt2") kernels.emplace_back("attention", "attention");
  Keys training = same_names({"micro_batch", "sequence", "micro_batches", "precision"});
  // Of recordings that do not say, the rules are those of PyTorch 1.13.
  std::string more = "autocast_attention: \"1.13\", replayed: \"1.13\"";
  std::string early_stop = "false";
  if (row.contains("replayed")) {
    training.emplace_back("optimizer", "optimizer");
    more = "autocast_attention: \"" + row.at("autocast_attention") + "\", replayed: \"" +
           row.at("replayed") + "\"";
    early_stop = row.at("checkpoint_early_stop");
  }
  std::string text =
      "name: autograd\n" + section("model", row, model) + section("training", row, training) +
      section("kernels", row, kernels, more) +
      "hardware: {base: h200, hbm: {capacity: 1 TB}, runtime: {context: 0 B, workspace: 0 B}}\n"
      "strategies: [{name: only}]\n";
  if (row.contains("checkpoint_keep")) {
    std::string keep = row.at("checkpoint_keep");
    std::ranges::replace(keep, ' ', ',');
    text += "checkpoint: {policy: ops, keep: [" + keep + "], every_second: " +
            row.at("checkpoint_every_second") + ", early_stop: " + early_stop + "}\n";
  } else if (row.at("checkpoint_n") != "0") {
    text += "checkpoint: {policy: every-n, n: " + row.at("checkpoint_n") +
            (row.at("checkpoint_reentrant") == "true"
                 ? ", reentrant: true}\n"
                 : ", reentrant: false, early_stop: " + early_stop + "}\n");
  }
  const auto source =
      std::make_shared<const scenarios::Source>(scenarios::Source{row.at("name"), std::move(text)});
  return scenarios::load(source).runs.at(0);
}

// What Tidemark says, by the column that says what autograd did.
std::map<std::string, std::int64_t> simulated(const tools::Report& report) {
  const tools::TierReport& hbm = report.tier(Tier::kHbm);
  std::map<std::string, std::int64_t> bytes = {{"parameters", report.parameters},
                                               {"live_begin", hbm.start.count},
                                               {"live_end", hbm.end.count},
                                               {"first_step_peak", hbm.first_step_peak.count},
                                               {"saved_per_layer", hbm.saved_per_layer.count}};
  for (std::size_t part = 0; part < hbm.live_after.size(); ++part) {
    const std::string phase(sim::kStepPartNames[part]);
    bytes["live_after_" + phase] = hbm.live_after[part].count;
    bytes["peak_" + phase] = hbm.phase_peaks[part].count;
  }
  return bytes;
}

// A figure that differs for a reason: Tidemark's minus the recorded one, in bytes.
struct Exception {
  std::string_view row;
  std::string_view column;
  std::int64_t difference;
};

// The recorded first step of a reentrant checkpoint is too high: its observer kept every segment's
// input and that input's gradient alive to the end of the step (README.md beside the data).
// -2 x segments x sequence x micro-batch x hidden x 2 B, as far as the optimizer's own peak is not
// higher.
const std::vector<Exception> kExceptions = {
    {"meg-tiny-mixed-ck1", "first_step_peak", 2673156 - 2689540},
    {"meg-tiny-mixed-ck2", "first_step_peak", 2673156 - 2681348},
    {"meg-small-mixed-ck2", "first_step_peak", 24902148 - 25197060},
    {"meg-1.5b-mixed-b4-ck2", "first_step_peak", 28681438084 - 29310583684},
    {"seed7b-mixed-b4-ck1", "first_step_peak", 121917505540 - 126212472836},
    {"seed7b-mixed-b1-ck1", "first_step_peak", 121917358084 - 122991099908},
    {"seed7b-mixed-b1-ck4", "first_step_peak", 121917358084 - 122185793540},
    {"seed7b-mixed-b1-ck1-flash", "first_step_peak", 121917358084 - 122991099908},
    {"gpt2hf-small-pure-ck2", "first_step_peak", 11129348 - 11424260},
    {"gpt2hf-1.5b-mixed-b4-ck1", "first_step_peak", 28681438084 - 29939729284},
    {"llama-tiny-gqa-ck1", "first_step_peak", 3107492 - 3123876},
    {"llama-small-gqa-ck2", "first_step_peak", 24357156 - 24652068},
    {"llama2-7b-mixed-b1-ck1", "first_step_peak", 122340122884 - 123413864708},
    {"llama2-7b-mixed-b1-ck2", "first_step_peak", 122340122884 - 122876993796},
    {"llama2-7b-pure-b1-ck1", "first_step_peak", 54431670532 - 55505412356},
    {"llama3-8b-mixed-s8192-ck1", "first_step_peak", 148747608324 - 153042575620},
    {"llama3-8b-pure-s8192-ck4", "first_step_peak", 100247396616 - 101119811848},
    {"llama3-8b-pure-s4096-ck1-native", "first_step_peak", 66343543042 - 68491026690},
    {"llama-1b-pure-s8192-ck1", "first_step_peak", 31206117512 - 32179196040},
    // Recorded with pow in 16 bits, which autocast computes in fp32 (drawn_2_6.csv has it so). Of
    // 2 x 16 x 256 elements each block then saves, in fp32 instead of 16 bits, what pow reads, tanh
    // and 1 + tanh: 6 bytes an element more, two blocks; and its peak is backward's.
    {"gpt2hf-tiny-autocast", "saved_per_layer", 6 * 8192},
    {"gpt2hf-tiny-autocast", "live_after_forward", 2 * 6 * 8192},
    {"gpt2hf-tiny-autocast", "peak_forward", 2 * 6 * 8192},
    {"gpt2hf-tiny-autocast", "peak_backward", 2 * 6 * 8192},
};

std::int64_t allowed_difference(const std::string& row, const std::string& column) {
  for (const Exception& exception : kExceptions) {
    if (exception.row == row && exception.column == column) return exception.difference;
  }
  return 0;
}

// Tidemark names operators that the recording PyTorch lacks; there they are allocations. Of flash
// attention's backward it is the other way around: Tidemark's peak may be at an allocation inside.
bool recalled(const std::string& op, const std::string& recorded) {
  return recorded == "_scaled_dot_product_flash_attention_backward" || op.rfind("flash", 0) == 0 ||
         op.rfind("fused", 0) == 0 || op.rfind("_fused", 0) == 0;
}

// Everything that differs in a row, a line each.
std::string differences_of(const Row& row) {
  const tools::Report report = tools::evaluate(run_of(row));
  std::string differences;
  for (const auto& [column, bytes] : simulated(report)) {
    const std::int64_t expected =
        std::stoll(row.at(column)) + allowed_difference(row.at("name"), column);
    if (bytes != expected) {
      differences += column + ": " + std::to_string(bytes) + ", autograd " +
                     std::to_string(expected) + " (" + std::to_string(bytes - expected) + ")\n";
    }
  }
  // With another peak of backward the step's may be another one.
  if (allowed_difference(row.at("name"), "peak_backward") != 0) return differences;
  const tools::Peak& peak = report.tier(Tier::kHbm).peak_moment;
  const std::string phase(name_of(peak.phase));
  if (phase != row.at("peak_phase")) {
    differences += "peak in " + phase + ", autograd in " + row.at("peak_phase") + "\n";
  }
  const std::string part = phase == "recompute" ? "backward" : phase;
  const std::string& recorded_op = row.at("peak_" + part + "_op");
  if (!recalled(peak.op, recorded_op) && peak.op != recorded_op) {
    differences += "peak at " + peak.op + ", autograd at " + recorded_op + "\n";
  }
  return differences;
}

void check_row(const Row& row) {
  INFO(row.at("name") << " (" << row.at("evidence") << ")");
  std::string differences;
  CHECK_NOTHROW(differences = differences_of(row));
  CHECK(differences == "");
}

}  // namespace

TEST_CASE("every published configuration allocates what autograd allocates, to the byte") {
  const std::vector<Row> rows = read_rows("published.csv");
  REQUIRE(rows.size() == 68);
  for (const Row& row : rows) check_row(row);
}

TEST_CASE("two hundred drawn configurations allocate what autograd allocates, to the byte") {
  const std::vector<Row> rows = read_rows("drawn.csv");
  REQUIRE(rows.size() == 200);
  for (const Row& row : rows) check_row(row);
}

// The framework's own autocast, sums in place, checkpoints, fused attention and optimizers.
TEST_CASE("what PyTorch 2.6 allocates in drawn configurations is what Tidemark says, to the byte") {
  const std::vector<Row> rows = read_rows("drawn_2_6.csv");
  REQUIRE(rows.size() == 80);
  for (const Row& row : rows) check_row(row);
}

// create_selective_checkpoint_contexts around each block.
TEST_CASE("what PyTorch 2.6 allocates with cached ops is what Tidemark says, to the byte") {
  const std::vector<Row> rows = read_rows("selective_2_6.csv");
  REQUIRE(rows.size() == 24);
  for (const Row& row : rows) check_row(row);
}
