#include "tools/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "graph/policies/policy.hpp"
#include "scenarios/diagnostic.hpp"
#include "scenarios/resolved.hpp"

namespace tidemark::tools {
namespace {

using scenarios::Override;
using scenarios::RunSpec;

enum class Training : bool { kSame, kAltered };

bool has_flash(const RunSpec& run) {
  // The kernels take 16-bit operands; gpt2 and cs336 write their attention out.
  return run.training.precision != Precision::kFp32 &&
         (run.model.architecture == Architecture::kGpt ||
          run.model.architecture == Architecture::kLlama);
}
// cs336 writes its loss out.
bool calls_cross_entropy(const RunSpec& run) {
  return run.model.architecture != Architecture::kCs336;
}
bool has_masters(const RunSpec& run) { return run.training.precision == Precision::kBf16Mixed; }
bool updates_on_gpu(const RunSpec& run) { return !run.offload.updates_on_cpu(); }
bool updates_elsewhere(const RunSpec& run) { return !updates_on_gpu(run); }
bool runs_adamw(const RunSpec& run) { return run.training.optimizer == Optimizer::kAdamW; }
bool runs_adamw_on_gpu(const RunSpec& run) { return runs_adamw(run) && updates_on_gpu(run); }

// One value of one key. Where the loader refuses it, or the run has it already, it is left out.
struct Row {
  std::string_view words;
  std::string_view key;
  std::string_view value;
  Training training = Training::kSame;
  bool (*applies)(const RunSpec&) = nullptr;  // null: always
};

constexpr auto kRows = std::to_array<Row>({
    {"keep the optimizer states in host memory and update there", "offload.optimizer", "host"},
    {"keep the optimizer states on the SSD and update on the CPU", "offload.optimizer", "ssd"},
    {"keep the parameters in host memory too, one block ahead on the GPU", "offload.parameters",
     "host", Training::kSame, updates_elsewhere},
    {"move what blocks save for backward to host memory", "offload.activations", "host"},
    {"let each gradient leave for the host as it is made", "offload.gradients_leave",
     "during_backward", Training::kSame, updates_elsewhere},
    {"smaller transfers, and so smaller staging buffers", "offload.bucket", "64 MiB",
     Training::kSame, updates_elsewhere},
    {"attention that never stores the scores", "kernels.attention", "flash", Training::kSame,
     has_flash},
    {"one kernel that masks and normalises the scores", "kernels.causal", "fused"},
    {"write the causal mask into the scores themselves", "kernels.causal", "fill_inplace"},
    {"each norm as one kernel", "kernels.norm", "fused"},
    {"cross-entropy without a copy of the logits in fp32", "kernels.loss", "native",
     Training::kSame, calls_cross_entropy},
    {"let go of the logits once the loss is there", "kernels.keep_logits", "false"},
    {"dropout masks of one byte an element", "kernels.dropout_mask", "bool"},
    {"the optimizer as one fused kernel", "kernels.optimizer", "fused", Training::kSame,
     runs_adamw_on_gpu},
    {"the optimizer parameter by parameter", "kernels.optimizer", "single", Training::kSame,
     runs_adamw_on_gpu},
    {"the optimizer over lists of parameters, with two lists of temporaries", "kernels.optimizer",
     "foreach2x", Training::kSame, runs_adamw_on_gpu},
    {"free the gradients between steps", "kernels.zero_grad", "set_to_none"},
    {"update the fp32 masters from 16-bit gradients", "kernels.master_gradients", "direct",
     Training::kSame, has_masters},
    {"16-bit weights and gradients with fp32 masters", "training.precision", "bf16-mixed",
     Training::kAltered},
    {"everything in bf16, the optimizer states too", "training.precision", "bf16",
     Training::kAltered},
    {"fp32 weights, matrix products in bf16", "training.precision", "autocast", Training::kAltered},
    {"one moment instead of two", "training.optimizer", "sgd-momentum", Training::kAltered,
     runs_adamw},
    {"no moments at all", "training.optimizer", "sgd", Training::kAltered},
});

Change change(std::string words, std::vector<Override> overrides,
              Training training = Training::kSame) {
  return {std::move(words), std::move(overrides), training == Training::kAltered};
}

// Segments of 2, 4 and 8 blocks; of policies that replay some blocks alone, every quarter of them
// and a few, since the step's time goes with their number.
std::vector<std::int64_t> numbers_of_blocks(const RunSpec& run, const Policy& policy) {
  const std::int64_t layers = run.model.layers;
  std::vector<std::int64_t> numbers = {2, 4, 8};
  if (policy.name == "block") {
    numbers = {1, 2, 4, 8, layers / 4, layers / 2, layers * 3 / 4};
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
  std::erase_if(numbers, [&](std::int64_t n) { return n < 1 || n >= layers; });
  return numbers;
}

// Of the policies that plan for a budget, the one that chooses the best plan of the others.
bool plans_worse_than_another(const Policy& policy) {
  return policy.plans_for_budget() && policy.name != "optimal";
}

// Every checkpoint policy, with its options as preset, and those with a number of blocks for
// several. A budget of HBM is what the GPU has.
std::vector<Change> checkpoints(const RunSpec& run) {
  std::vector<Change> found;
  const auto add = [&](const Policy& policy, const std::string& options) {
    // A mapping is laid over the old one and a name takes its place: options of the old policy
    // must not stay.
    const bool replace = options.empty() && !run.checkpoint_options.empty();
    const bool keeps_kind = run.checkpointing.reentrant || replace || policy.segments == nullptr ||
                            policy.cached != nullptr;
    const std::string_view reentrant = keeps_kind ? "" : ", reentrant: false";
    const std::string value =
        options.empty() && reentrant.empty()
            ? std::string(policy.name)
            : fmt::format("{{policy: {}{}{}}}", policy.name, options, reentrant);
    found.push_back(change(std::string(policy.summary), {{"checkpoint", value}}));
    if (policy.plans_for_budget()) found.back().words += ", here all that the GPU has";
    if (run.checkpoint_policy == "none") return;
    found.back().instead = run.checkpoint_policy;
    found.back().words += fmt::format(", in the place of {}", run.checkpoint_policy);
  };
  for (const Policy& policy : policies()) {
    if (policy.name == "none" || policy.slow || plans_worse_than_another(policy)) continue;
    if (std::ranges::find(policy.options, "n", &OptionSpec::name) == policy.options.end()) {
      add(policy, "");
      continue;
    }
    for (const std::int64_t n : numbers_of_blocks(run, policy)) {
      add(policy, fmt::format(", n: {}", n));
    }
  }
  return found;
}

// Halved as long as it is even, and one sequence at once: the step has the same tokens.
std::vector<Change> smaller_micro_batches(const RunSpec& run) {
  std::vector<std::int64_t> sizes;
  std::int64_t size = run.training.micro_batch;
  while (size % 2 == 0) sizes.push_back(size /= 2);
  if (size > 1) sizes.push_back(1);
  std::vector<Change> found;
  for (const std::int64_t smaller : sizes) {
    const std::int64_t times = run.training.micro_batch / smaller * run.training.micro_batches;
    found.push_back(change("smaller micro-batches, as many more of them",
                           {{"training.micro_batch", std::to_string(smaller)},
                            {"training.micro_batches", std::to_string(times)}}));
  }
  return found;
}

// The last resort: the same tokens in sequences of half the length.
std::vector<Change> shorter_sequences(const RunSpec& run) {
  if (run.training.sequence % 2 != 0) return {};
  return {change("sequences of half the length, twice as many micro-batches",
                 {{"training.sequence", std::to_string(run.training.sequence / 2)},
                  {"training.micro_batches", std::to_string(run.training.micro_batches * 2)}},
                 Training::kAltered)};
}

// Of PyTorch's allocator, where it is the one that is simulated.
std::vector<Change> allocator_settings(const RunSpec& run) {
  struct Setting {
    std::string_view key;
    std::string_view value;
    std::string_view words;
  };
  static constexpr auto kAllocatorSettings = std::to_array<Setting>({
      {"expandable_segments", "True", "segments that grow page by page"},
      {"max_split_size_mb", "128", "never split blocks above 128 MiB"},
      {"roundup_power2_divisions", "8", "round sizes up, so that freed blocks fit again"},
  });
  std::vector<Change> found;
  if (run.allocator.kind != "caching") return found;
  const std::string& now = run.allocator.settings;
  for (const Setting& setting : kAllocatorSettings) {
    if (now.find(setting.key) != std::string::npos) continue;
    found.push_back(change(
        std::string(setting.words),
        {{"allocator.settings",
          fmt::format("\"{}{}{}:{}\"", now, now.empty() ? "" : ",", setting.key, setting.value)}}));
  }
  return found;
}

// Changes whose values depend on the run.
constexpr auto kFamilies = std::to_array<std::vector<Change> (*)(const RunSpec&)>(
    {checkpoints, smaller_micro_batches, allocator_settings, shorter_sequences});

// What torch.utils.checkpoint is given; nothing where the policy does not work by segments alone.
using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::optional<Spans> spans_of(const RunSpec& run) {
  const Policy* policy = find_policy(run.checkpoint_policy);
  if (policy->segments == nullptr || policy->drops != nullptr) return std::nullopt;
  Spans spans;
  for (const Segment& each : run.checkpointing.segments) spans.emplace_back(each.first, each.last);
  return spans;
}

std::string section_of(const Override& override) {
  return override.key.substr(0, override.key.find('.'));
}

}  // namespace

std::vector<Change> changes_for(const RunSpec& run) {
  std::vector<Change> found;
  std::vector<std::optional<Spans>> tried = {spans_of(run)};
  const auto add = [&](Change candidate) {
    const std::optional<RunSpec> changed = with_changes(run, std::span(&candidate, 1));
    if (!changed) return;
    if (candidate.overrides.front().key == "checkpoint") {
      const std::optional<Spans> spans = spans_of(*changed);
      if (spans && std::ranges::find(tried, spans) != tried.end()) return;
      tried.push_back(spans);
    }
    found.push_back(std::move(candidate));
  };
  for (const Row& row : kRows) {
    if (row.applies != nullptr && !row.applies(run)) continue;
    add(change(std::string(row.words), {{std::string(row.key), std::string(row.value)}},
               row.training));
  }
  for (const auto family : kFamilies) {
    for (Change& candidate : family(run)) add(std::move(candidate));
  }
  return found;
}

std::optional<RunSpec> with_changes(const RunSpec& run, std::span<const Change> changes) {
  const std::string now = scenarios::resolved_yaml(run);
  std::vector<Override> overrides;
  for (const Change& each : changes) {
    overrides.insert(overrides.end(), each.overrides.begin(), each.overrides.end());
  }
  const auto source =
      std::make_shared<const scenarios::Source>(scenarios::Source{run.strategy, now});
  try {
    scenarios::Scenario changed = scenarios::load(source, overrides);
    RunSpec result = std::move(changed.runs.front());
    if (scenarios::resolved_yaml(result) == now) return std::nullopt;
    result.point = run.point;
    return result;
  } catch (const scenarios::ScenarioError&) {
    return std::nullopt;  // a key that says nothing here, or a step that is too large
  }
}

bool exclude_each_other(const Change& a, const Change& b) {
  return std::ranges::any_of(a.overrides, [&](const Override& each) {
    return std::ranges::find(b.overrides, each.key, &Override::key) != b.overrides.end();
  });
}

std::vector<std::string> as_yaml(std::span<const Change> changes) {
  struct Line {
    std::string section;
    std::string body;
    bool mapping;
  };
  std::vector<Line> lines;
  for (const Change& each : changes) {
    for (const Override& override : each.overrides) {
      const std::string section = section_of(override);
      if (section == override.key) {
        lines.push_back({section, override.value, false});
        continue;
      }
      const std::string entry = override.key.substr(section.size() + 1) + ": " + override.value;
      const auto same = std::ranges::find(lines, section, &Line::section);
      if (same == lines.end()) {
        lines.push_back({section, entry, true});
      } else {
        same->body += ", " + entry;
      }
    }
  }
  std::vector<std::string> text;
  for (const Line& line : lines) {
    text.push_back(line.mapping ? fmt::format("{}: {{{}}}", line.section, line.body)
                                : fmt::format("{}: {}", line.section, line.body));
  }
  return text;
}

}  // namespace tidemark::tools
