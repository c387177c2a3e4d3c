#include "scenarios/checks.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "hardware/quantity.hpp"
#include "scenarios/hardware_checks.hpp"
#include "scenarios/offload_checks.hpp"
#include "scenarios/options.hpp"
#include "scenarios/sizes.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

// A key that says nothing for an architecture, unless it says what is so anyway.
struct Meaningless {
  Architecture architecture;
  std::string_view key;
  std::string_view reason;
  std::string_view anyway = {};
};

constexpr auto kMeaningless = std::to_array<Meaningless>({
    {Architecture::kGpt, "model.kv_heads", "gpt has as many key and value heads as heads"},
    {Architecture::kGpt, "model.qkv_bias", "gpt always has biases"},
    {Architecture::kGpt, "kernels.norm", "the LayerNorm of gpt is one operation anyway", "eager"},
    {Architecture::kGpt2, "model.kv_heads", "gpt2 has as many key and value heads as heads"},
    {Architecture::kGpt2, "model.qkv_bias", "gpt2 always has biases"},
    {Architecture::kGpt2, "kernels.norm", "the LayerNorm of gpt2 is one operation anyway", "eager"},
    {Architecture::kGpt2, "kernels.attention",
     "gpt2 writes its attention out; models of the architecture gpt have flash", "eager"},
    {Architecture::kGpt2, "kernels.causal", "gpt2 always selects with a mask", "mask"},
    {Architecture::kLlama, "model.dropout", "llama has no dropout"},
    {Architecture::kLlama, "kernels.causal", "llama always adds a mask", "mask"},
    {Architecture::kLlama, "kernels.dropout_mask", "llama has no dropout", "bool"},
    {Architecture::kCs336, "model.kv_heads", "cs336 has as many key and value heads as heads"},
    {Architecture::kCs336, "model.qkv_bias", "cs336 has no biases"},
    {Architecture::kCs336, "model.dropout", "cs336 has no dropout"},
    {Architecture::kCs336, "kernels.norm", "the RMSNorm of cs336 is elementary operations",
     "eager"},
    {Architecture::kCs336, "kernels.attention", "cs336 writes its attention out", "eager"},
    {Architecture::kCs336, "kernels.causal", "cs336 always selects with a mask", "mask"},
    {Architecture::kCs336, "kernels.dropout_mask", "cs336 has no dropout", "bool"},
});

class RunCheck {
 public:
  RunCheck(const RunSpec& run, const Value& tree, Diagnostics& diagnostics)
      : run_(run), tree_(tree), diagnostics_(diagnostics) {}

  void meaning() {
    if (run_.checkpointing.keep_dropout && !run_.model.dropout) {
      error({"checkpoint.keep_dropout", "checkpoint"}, "keep_dropout: the model has no dropout");
    }
    for (const Meaningless& row : kMeaningless) {
      if (row.architecture != run_.model.architecture) continue;
      const Value* written = find_at(tree_, row.key);
      if (written == nullptr || neutral(*written) || written->text == row.anyway) continue;
      diagnostics_.error(written->mark, std::string(row.key.substr(row.key.find('.') + 1)) + ": " +
                                            std::string(row.reason));
    }
  }

  void masking() {
    if (run_.model.architecture == Architecture::kGpt &&
        run_.kernels.causal == Kernels::Causal::kMask) {
      error({"kernels.causal"}, "causal: gpt fills masked scores: fill, fill_inplace or fused");
    }
  }

  // torch/utils/checkpoint.py, _VersionWrapper: a replay does not take a cached tensor that
  // something has written over.
  void caching() {
    const auto& cached = run_.checkpointing.cached.kinds;
    const bool in_place = run_.model.architecture == Architecture::kGpt &&
                          run_.kernels.attention == Kernels::Attention::kEager &&
                          run_.kernels.causal == Kernels::Causal::kFillInplace;
    if (!in_place || std::ranges::find(cached, OpKind::kBaddbmm) == cached.end()) return;
    error({"checkpoint.keep", "checkpoint"},
          "keep: batched_matmul keeps scores, which causal: fill_inplace writes over");
  }

  void rounding() {
    if (run_.kernels.fp32_matmul == Kernels::Fp32Matmul::kFp32 ||
        run_.training.precision == Precision::kFp32) {
      return;
    }
    error({"kernels.fp32_matmul"},
          "fp32_matmul: in this precision no matrix product has fp32 operands");
  }

  void heads() {
    const ModelConfig& model = run_.model;
    const bool llama = model.architecture == Architecture::kLlama;
    const std::string heads = std::to_string(model.heads);
    const bool head_dim_written = find_at(tree_, "model.head_dim") != nullptr;
    const bool derived = !head_dim_written && model.head_dim == model.hidden / model.heads;
    if (derived && model.heads * model.head_dim != model.hidden) {
      error({"model.heads", "model.hidden"},
            heads + " heads do not divide hidden " + std::to_string(model.hidden));
    } else if (!llama && model.heads * model.head_dim != model.hidden) {
      error({"model.head_dim"}, "heads x head_dim must be hidden: " + heads + " x " +
                                    std::to_string(model.head_dim) + " is not " +
                                    std::to_string(model.hidden));
    }
    if (model.heads % model.kv_heads != 0) {
      error({"model.kv_heads", "model.heads"},
            std::to_string(model.kv_heads) + " kv_heads do not divide " + heads + " heads");
    }
    const bool rotary = llama || model.architecture == Architecture::kCs336;
    if (rotary && model.head_dim % 2 != 0) {
      error({"model.head_dim", "model.heads", "model.hidden"},
            "rotary positions turn pairs: a head of " + std::to_string(model.head_dim) +
                " elements has an odd one");
    }
  }

  void sequence() {
    if (run_.training.sequence <= run_.model.max_positions) return;
    error({"training.sequence", "model.max_positions"},
          "sequence " + std::to_string(run_.training.sequence) + " is longer than the model's " +
              std::to_string(run_.model.max_positions) + " positions");
  }

  // False: the products of the sizes overflow, nothing more can be computed.
  bool sizes() {
    const std::optional<SizeFault> fault = find_size_fault(run_);
    if (!fault) return true;
    error({fault->key, "model"}, fault->message);
    return false;
  }

  void memory(const LoadLimits& limits) {
    const auto bytes_of = [](std::int64_t rows) { return static_cast<Int128>(rows) * kBytesARow; };
    const std::int64_t most = most_rows(run_);
    if (most <= kMostRows && (!limits.memory || bytes_of(most) <= limits.memory->count)) return;
    const std::int64_t rows = estimate_rows(run_);
    const Int128 bytes = bytes_of(rows);
    if (rows > kMostRows) {
      error({"training.micro_batches", "model"}, "a step of about " + about(rows) +
                                                     " operations and transfers, more than " +
                                                     about(kMostRows));
    } else if (limits.memory && bytes > limits.memory->count) {
      error({"training.micro_batches", "model"},
            "a step of about " + about(rows) + " operations and transfers needs about " +
                format_bytes(Bytes(static_cast<std::int64_t>(bytes))) +
                " of memory to simulate, and " + format_bytes(*limits.memory) + " are there");
    }
  }

 private:
  // What a catalogue or a strategy may write although it says nothing: no dropout, no bias, as many
  // kv_heads as heads.
  bool neutral(const Value& written) const {
    const std::string& text = written.text;
    return text == "false" || text == "0" || text == "0.0" ||
           text == std::to_string(run_.model.heads);
  }

  // At the first of the keys that is written, or at the last one's section.
  void error(std::initializer_list<std::string_view> keys, const std::string& message) {
    for (const std::string_view key : keys) {
      if (const Value* found = find_at(tree_, key)) return diagnostics_.error(found->mark, message);
    }
    const std::string_view last = *(keys.end() - 1);
    const Value* section = tree_.find(last.substr(0, last.find('.')));
    diagnostics_.error(section != nullptr ? section->mark : tree_.mark, message);
  }

  const RunSpec& run_;
  const Value& tree_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::string_view why_meaningless(Architecture architecture, std::string_view dotted_key) {
  for (const Meaningless& row : kMeaningless) {
    if (row.architecture == architecture && row.key == dotted_key) return row.reason;
  }
  return {};
}

void check_run(const RunSpec& run, const Value& tree, const LoadLimits& limits,
               Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.reported();
  RunCheck check(run, tree, diagnostics);
  check.meaning();
  check.masking();
  check.caching();
  check.rounding();
  check.heads();
  check.sequence();
  check_hardware(run, tree, diagnostics);
  check_offload(run, tree, diagnostics);
  if (diagnostics.reported() != before) return;
  if (check.sizes()) check.memory(limits);
}

}  // namespace tidemark::scenarios
