#include "tools/starter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "graph/model.hpp"
#include "hardware/decimal.hpp"
#include "hardware/quantity.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/load.hpp"
#include "scenarios/options.hpp"
#include "scenarios/suggest.hpp"
#include "tools/ledger.hpp"
#include "tools/text_table.hpp"
#include "tools/user_error.hpp"

namespace tidemark::tools {
namespace {

constexpr std::size_t kComment = 40;  // column of the comments behind keys

// The description of the entry; throws UserError where there is none of that kind and name.
std::string describe(const std::vector<scenarios::CatalogueEntry>& entries, std::string_view option,
                     std::string_view kind, const std::string& name) {
  std::vector<std::string_view> known;
  for (const scenarios::CatalogueEntry& entry : entries) {
    if (entry.kind != kind) continue;
    if (entry.name == name) return entry.description;
    known.push_back(entry.name);
  }
  throw UserError(fmt::format("{}: there is no {} {}: {}", option, kind, in_quotes(name),
                              scenarios::suggestion(name, known)));
}

scenarios::RunSpec load_text(const std::string& name, const std::string& text) {
  const auto source = std::make_shared<const scenarios::Source>(scenarios::Source{name, text});
  return scenarios::load(source).runs.front();
}

std::string hardware_line(const StarterChoices& choices) {
  std::string parts;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) parts += fmt::format(", {}: {}", key, value);
  };
  add("host", choices.host);
  add("pcie", choices.pcie);
  if (choices.drives) {
    const std::string base = choices.ssd.empty() ? "" : fmt::format("base: {}, ", choices.ssd);
    add("ssd", fmt::format("{{{}drives: {}}}", base, *choices.drives));
  } else {
    add("ssd", choices.ssd);
  }
  if (parts.empty()) return choices.gpu;
  return fmt::format("{{base: {}{}}}", choices.gpu, parts);
}

std::string with_comment(std::string line, const std::string& comment) {
  line.resize(std::max(line.size() + 1, kComment), ' ');
  return line + "# " + comment + '\n';
}

// "fp32 | bf16 | bf16-mixed | autocast"
std::string choices_text(std::string_view section, std::string_view key) {
  std::string text;
  for (const std::string_view choice :
       scenarios::find_option(scenarios::options_of(section), key).choices) {
    text += fmt::format("{}{}", text.empty() ? "" : " | ", choice);
  }
  return text;
}

std::string training_lines(const StarterChoices& choices, const scenarios::RunSpec& run) {
  std::string out = "training:\n";
  const auto add = [&](std::string_view key, const std::string& value, const std::string& comment) {
    out += with_comment(fmt::format("  {}: {}", key, value), comment);
  };
  const auto number = [](std::optional<std::int64_t> value) {
    return std::to_string(value.value_or(1));
  };
  const auto word = [](const std::string& chosen, const char* preset) {
    return chosen.empty() ? preset : chosen;
  };
  add("micro_batch", number(choices.micro_batch), "sequences that go through the model at once");
  add("micro_batches", number(choices.micro_batches), "passes before each optimizer step");
  add("sequence", std::to_string(run.training.sequence),
      fmt::format("tokens; {} at most", run.model.max_positions));
  add("precision", word(choices.precision, "bf16-mixed"), choices_text("training", "precision"));
  add("optimizer", word(choices.optimizer, "adamw"), choices_text("training", "optimizer"));
  return out;
}

// Architectures whose scripts call scaled_dot_product_attention when asked to.
bool has_flash(Architecture architecture) {
  return architecture == Architecture::kGpt || architecture == Architecture::kLlama;
}

std::string introduction(const StarterChoices& choices, const scenarios::RunSpec& run,
                         const std::string& command) {
  const Ledger ledger = make_ledger(run);
  const double each = static_cast<double>(ledger.states.count) /
                      static_cast<double>(std::max<std::int64_t>(ledger.parameters, 1));
  std::string text = fmt::format(
      "{} has {} parameters. With these settings each needs {:.0f} bytes for weights, gradients "
      "and what the optimizer keeps: {} before the first activation. The GPU has {}.",
      choices.model, format_count(ledger.parameters), each, format_bytes(ledger.states),
      format_bytes(run.machine.gpu.capacity));
  std::string out = fmt::format("# Made by: {}\n#\n", command);
  for (const std::string& line : wrap(text, kTerminalWidth - 2)) out += "# " + line + '\n';
  return out +
         "#\n"
         "#   tidemark run FILE                 does each strategy fit, and how long is its step?\n"
         "#   tidemark run FILE --why-not-fit   what makes the others fit\n"
         "#   tidemark list keys                everything that may be written here\n";
}

constexpr const char* kStrategies =
    "strategies:                             # each may override any section above\n"
    "  - name: keep everything               # no remedy: what plain training needs\n"
    "  - name: checkpoint every block        # activations are computed twice, few are kept\n"
    "    checkpoint: full\n"
    "  - name: and the optimizer on the host # its states leave the GPU, the CPU updates\n"
    "    checkpoint: full\n"
    "    offload: {optimizer: host}\n"
    "  - name: and the parameters            # weights come block by block over PCIe\n"
    "    checkpoint: full\n"
    "    offload: {optimizer: host, parameters: host}\n"
    "  - name: both on the SSD               # when the host has too little memory as well\n"
    "    checkpoint: full\n"
    "    offload: {optimizer: ssd, parameters: ssd, gradients: host}\n"
    "# sweep: {training.micro_batch: [1, 2, 4, 8]}    every strategy at each of these values\n";

}  // namespace

std::int64_t count_parameters(const std::string& model) {
  // One token on any card: parameters depend on neither.
  return make_ledger(load_text("model", fmt::format("model: {}\n"
                                                    "training: {{sequence: 1}}\n"
                                                    "hardware: a100-80gb-sxm\n"
                                                    "strategies: [{{name: any}}]\n",
                                                    model)))
      .parameters;
}

std::string starter_text(const StarterChoices& choices, const std::string& command) {
  scenarios::Diagnostics diagnostics;
  scenarios::Catalogue catalogue(diagnostics);
  const std::vector<scenarios::CatalogueEntry> models = catalogue.models();
  const std::vector<scenarios::CatalogueEntry> devices = catalogue.devices();
  const std::string model = describe(models, "--model", "model", choices.model);
  const std::string gpu = describe(devices, "--gpu", "gpu", choices.gpu);
  if (!choices.host.empty()) describe(devices, "--host", "host", choices.host);
  if (!choices.pcie.empty()) describe(devices, "--pcie", "pcie", choices.pcie);
  if (!choices.ssd.empty()) describe(devices, "--ssd", "ssd", choices.ssd);

  std::string head = fmt::format("name: {} on one {}\n", model, gpu);
  head += with_comment(fmt::format("model: {}", choices.model),
                       fmt::format("tidemark show model {}", choices.model));
  std::string tail = with_comment(fmt::format("hardware: {}", hardware_line(choices)),
                                  fmt::format("tidemark show hardware {}", choices.gpu));
  tail += kStrategies;

  // What the loader makes of it says what is to be written: how long sequences are, and whether
  // the network has a fused attention.
  std::string sequence;
  if (choices.sequence) sequence = fmt::format("training: {{sequence: {}}}\n", *choices.sequence);
  const scenarios::RunSpec first = load_text("init", head + sequence + tail);
  std::string kernels;
  if (has_flash(first.model.architecture)) {
    kernels = with_comment("kernels: {attention: flash}",
                           "eager stores the scores of every pair of tokens");
  }
  const std::string body = head + training_lines(choices, first) + kernels + tail;
  return introduction(choices, load_text("init", body), command) + body;
}

}  // namespace tidemark::tools
