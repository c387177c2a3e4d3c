#include "scenarios/sections.hpp"

#include <vector>

#include "graph/policies/policy.hpp"
#include "hardware/decimal.hpp"
#include "scenarios/option_values.hpp"
#include "scenarios/options.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/suggest.hpp"
#include "scenarios/tree.hpp"
#include "sim/allocators/table.hpp"

namespace tidemark::scenarios {

TrainingConfig read_training(const Value& section, Diagnostics& diagnostics) {
  Reader reader(section, "training", diagnostics);
  const OptionValues values(reader, options_of("training"));
  reader.finish();
  TrainingConfig training;
  values.update("micro_batch", training.micro_batch);
  values.update("sequence", training.sequence);
  values.update("micro_batches", training.micro_batches);
  training.precision = values.choice<Precision>("precision");
  training.optimizer = values.choice<Optimizer>("optimizer");
  return training;
}

Kernels read_kernels(const Value& section, Diagnostics& diagnostics) {
  Reader reader(section, "kernels", diagnostics);
  const OptionValues values(reader, options_of("kernels"));
  reader.finish();
  Kernels kernels;
  kernels.attention = values.choice<Kernels::Attention>("attention");
  kernels.causal = values.choice<Kernels::Causal>("causal");
  kernels.norm = values.choice<Kernels::Norm>("norm");
  kernels.loss = values.choice<Kernels::Loss>("loss");
  kernels.keep_logits = values.flag("keep_logits");
  kernels.optimizer = values.choice<Kernels::OptimizerKernel>("optimizer");
  kernels.dropout_mask = values.choice<Kernels::DropoutMask>("dropout_mask");
  kernels.zero_grad = values.choice<Kernels::ZeroGrad>("zero_grad");
  kernels.master_gradients = values.choice<Kernels::MasterGradients>("master_gradients");
  kernels.reduction_scratch = values.flag("reduction_scratch");
  kernels.fp32_matmul = values.choice<Kernels::Fp32Matmul>("fp32_matmul");
  // The same order of choices in all five: 2.x, then 1.13.
  const char* accumulate = values.has("accumulate") ? "accumulate" : "torch";
  const char* mean = values.has("mean") ? "mean" : "torch";
  kernels.accumulate = values.choice<Kernels::Accumulate>(accumulate);
  kernels.mean = values.choice<Kernels::Mean>(mean);
  const char* attention = values.has("autocast_attention") ? "autocast_attention" : "torch";
  kernels.autocast_attention = values.choice<Kernels::AutocastAttention>(attention);
  const char* replayed = values.has("replayed") ? "replayed" : "torch";
  kernels.replayed = values.choice<Kernels::Replayed>(replayed);
  return kernels;
}

AllocatorChoice read_allocator(const Value& section, Diagnostics& diagnostics) {
  const Value mapping = expand_short_form(section, "allocator");
  Reader reader(mapping, "allocator", diagnostics);
  const OptionValues values(reader, options_of("allocator"));
  reader.finish();
  const AllocatorChoice choice{values.text("kind"), values.text("settings")};
  const auto place = [&](const char* key) {
    return values.stated(key) ? values.mark(key) : reader.mark();
  };
  const sim::AllocatorKind* kind = sim::find_allocator(choice.kind);
  if (kind == nullptr) {
    std::vector<std::string_view> known;
    for (const sim::AllocatorKind& row : sim::allocator_kinds()) known.push_back(row.name);
    diagnostics.error(place("kind"), "unknown allocator " + in_quotes(choice.kind),
                      suggestion(choice.kind, known));
  } else if (const auto fault = kind->check(choice.settings)) {
    diagnostics.error(place("settings"), "settings: " + *fault);
  }
  return choice;
}

// Keys that say nothing for the policy.
void check_knobs(const Policy& policy, bool of_segments, const OptionValues& values,
                 Diagnostics& diagnostics) {
  const auto refuse = [&](std::string_view key, const std::string& why) {
    if (values.stated(key))
      diagnostics.error(values.mark(key), std::string(key) + ": " + why, "leave it out");
  };
  const std::string name = "the policy " + in_quotes(policy.name);
  if (!of_segments) {
    for (const std::string_view key : {"reentrant", "early_stop", "keep_last"}) {
      refuse(key, name + " recomputes single tensors and replays no segments");
    }
    return;
  }
  refuse("keep_dropout", name + " replays whole segments, with the same random numbers");
  if (policy.cached != nullptr) {
    if (values.flag("reentrant")) refuse("reentrant", "reentrant checkpoints cache no ops");
  } else if (values.flag("reentrant")) {
    refuse("early_stop", "a reentrant checkpoint replays its whole segment");
  }
}

CheckpointChoice read_checkpoint(const Value& section, std::int64_t layers,
                                 Diagnostics& diagnostics) {
  const Value mapping = expand_short_form(section, "checkpoint");
  Reader reader(mapping, "checkpoint", diagnostics);
  const OptionValues values(reader, options_of("checkpoint"));
  CheckpointChoice choice;
  choice.policy = values.text("policy");
  choice.checkpointing.reentrant = values.flag("reentrant");
  choice.checkpointing.early_stop = values.flag("early_stop");
  choice.keep_last = values.flag("keep_last");
  choice.checkpointing.keep_dropout = values.flag("keep_dropout");

  const Policy* policy = find_policy(choice.policy);
  if (policy == nullptr) {
    std::vector<std::string_view> known;
    for (const Policy& row : policies()) known.push_back(row.name);
    diagnostics.error(values.stated("policy") ? values.mark("policy") : reader.mark(),
                      "unknown policy " + in_quotes(choice.policy),
                      suggestion(choice.policy, known));
    return choice;  // whose options the other keys are is not known
  }
  const OptionValues own(reader, policy->options);
  reader.finish();
  for (const OptionSpec& option : policy->options) {
    const bool optional = option.preset.empty() && !own.stated(option.name);
    if (!own.has(option.name) && !optional) return choice;  // reported
    choice.options.push_back({std::string(option.name), own.integer(option.name),
                              own.names(option.name), own.number(option.name)});
  }
  const bool of_segments = replays_segments(*policy, choice.options);
  check_knobs(*policy, of_segments, values, diagnostics);
  if (of_segments && policy->cached != nullptr) {
    choice.checkpointing.reentrant = false;
    choice.checkpointing.cached = policy->cached({layers, choice.options});
  }
  if (layers > 0 && of_segments) {
    std::vector<Segment>& segments = choice.checkpointing.segments;
    segments = policy->segments({layers, choice.options});
    if (values.flag("keep_last")) {
      if (!segments.empty() && segments.back().last == layers) {
        segments.pop_back();
      } else {
        diagnostics.error(values.mark("keep_last"),
                          "keep_last: the last block keeps everything anyway", "leave it out");
      }
    }
  }
  return choice;
}

}  // namespace tidemark::scenarios
