#include "scenarios/options.hpp"

#include <algorithm>
#include <array>

#include "hardware/ensure.hpp"
#include "scenarios/hardware_options.hpp"
#include "scenarios/move_options.hpp"
#include "scenarios/offload_options.hpp"

namespace tidemark::scenarios {
namespace {

using Names = std::string_view;
constexpr auto kInteger = OptionKind::kInteger;
constexpr auto kChoice = OptionKind::kChoice;
constexpr auto kBytes = OptionKind::kBytes;
constexpr auto kBandwidth = OptionKind::kBandwidth;
constexpr auto kSection = OptionKind::kSection;

constexpr std::int64_t kMostSize = 0x7fff'ffff;   // of one dimension of a tensor
constexpr std::int64_t kMostLayers = 0x7fff;      // ops carry their block in 16 bits
constexpr std::int64_t kMostRepeats = 1'000'000;  // micro-batches, sequences in one

// Choices stand in the order of the enumerators in graph/model.hpp and graph/offload.hpp.
constexpr auto kArchitectures = std::to_array<Names>({"gpt", "gpt2", "llama", "cs336"});
constexpr auto kPrecisions = std::to_array<Names>({"fp32", "bf16", "bf16-mixed", "autocast"});
constexpr auto kOptimizers = std::to_array<Names>({"adamw", "sgd", "sgd-momentum"});
constexpr auto kAttention = std::to_array<Names>({"eager", "flash"});
constexpr auto kCausal = std::to_array<Names>({"fill", "fill_inplace", "mask", "fused"});
constexpr auto kNorm = std::to_array<Names>({"eager", "fused"});
constexpr auto kLoss = std::to_array<Names>({"native", "fp32", "fp32_shift"});
constexpr auto kOptimizerKernels =
    std::to_array<Names>({"single", "foreach", "foreach2x", "fused"});
constexpr auto kDropoutMask = std::to_array<Names>({"bool", "dtype"});
constexpr auto kAccumulate = std::to_array<Names>({"inplace", "out_of_place"});
constexpr auto kTorch = std::to_array<Names>({"2.x", "1.13"});
constexpr auto kZeroGrad = std::to_array<Names>({"set_to_none", "keep"});
constexpr auto kMasterGradients = std::to_array<Names>({"copy", "direct"});

constexpr auto kFp32Matmul = std::to_array<Names>({"fp32", "tf32"});

constexpr auto kModelOptions = std::to_array<OptionSpec>({
    {.name = "base",
     .text = "a catalogue model, or a file, whose keys hold where none is written here"},
    {.name = "hf_config",
     .text = "config.json of a Hugging Face llama, mistral, qwen2 or gpt2 model, in place of base; "
             "relative to the scenario file"},
    {.name = "architecture",
     .kind = kChoice,
     .choices = kArchitectures,
     .text = "which network; required without a base"},
    {.name = "layers",
     .kind = kInteger,
     .most = kMostLayers,
     .text = "Transformer blocks; required without a base"},
    {.name = "hidden",
     .kind = kInteger,
     .most = kMostSize,
     .text = "width of the residual stream; required without a base"},
    {.name = "heads",
     .kind = kInteger,
     .most = kMostSize,
     .text = "attention heads; required without a base"},
    {.name = "kv_heads",
     .kind = kInteger,
     .most = kMostSize,
     .text = "key and value heads, a divisor of heads (llama); default: heads"},
    {.name = "head_dim",
     .kind = kInteger,
     .most = kMostSize,
     .text = "width of a head; default: hidden / heads"},
    {.name = "ffn",
     .kind = kInteger,
     .most = kMostSize,
     .text = "width of the MLP; default for gpt and gpt2: 4 x hidden; otherwise required"},
    {.name = "vocab",
     .kind = kInteger,
     .most = kMostSize,
     .text = "tokens in the vocabulary; required without a base"},
    {.name = "max_positions",
     .kind = kInteger,
     .most = kMostSize,
     .text = "longest sequence; required without a base"},
    {.name = "tied_embeddings",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "the LM head is the token embedding"},
    {.name = "qkv_bias",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "biases on the q, k and v projections (llama; the others always or never have them)"},
    {.name = "dropout",
     .kind = OptionKind::kNumber,
     .preset = "0",
     .most_number = 0.99,
     .text = "probability; only whether it is 0 matters to memory and time"},
    {.name = "extra_parameters",
     .kind = kInteger,
     .preset = "0",
     .least = 0,
     .most = std::int64_t{1} << 50,
     .text = "trainable elements that take no part in forward"},
});

constexpr auto kTrainingOptions = std::to_array<OptionSpec>({
    {.name = "micro_batch",
     .kind = kInteger,
     .preset = "1",
     .most = kMostRepeats,
     .text = "sequences that go through the model at once"},
    {.name = "sequence",
     .kind = kInteger,
     .most = kMostSize,
     .text = "tokens a sequence; default: the model's max_positions, but at most 2048"},
    {.name = "micro_batches",
     .kind = kInteger,
     .preset = "1",
     .most = kMostRepeats,
     .text = "forward and backward passes before each optimizer step"},
    {.name = "precision",
     .kind = kChoice,
     .preset = "bf16-mixed",
     .choices = kPrecisions,
     .text = "bf16-mixed: bf16 weights and gradients, fp32 master copies and moments"},
    {.name = "optimizer",
     .kind = kChoice,
     .preset = "adamw",
     .choices = kOptimizers,
     .text = "decides the optimizer states"},
});

constexpr auto kKernelsOptions = std::to_array<OptionSpec>({
    {.name = "attention",
     .kind = kChoice,
     .preset = "eager",
     .choices = kAttention,
     .text = "eager stores the scores of every pair of tokens, flash never does"},
    {.name = "causal",
     .kind = kChoice,
     .preset = "fill",
     .choices = kCausal,
     .text = "how gpt hides later tokens"},
    {.name = "norm",
     .kind = kChoice,
     .preset = "eager",
     .choices = kNorm,
     .text = "RMSNorm from single operations or as one (llama)"},
    {.name = "loss",
     .kind = kChoice,
     .preset = "fp32",
     .choices = kLoss,
     .text = "the dtype of cross-entropy; fp32_shift also copies the shifted logits"},
    {.name = "keep_logits",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "the training script holds the logits until the step ends"},
    {.name = "optimizer",
     .kind = kChoice,
     .preset = "single",
     .choices = kOptimizerKernels,
     .text = "parameter by parameter, over lists of them, or one fused kernel"},
    {.name = "dropout_mask",
     .kind = kChoice,
     .preset = "bool",
     .choices = kDropoutMask,
     .text = "a byte an element, or the activations' dtype"},
    {.name = "torch",
     .kind = kChoice,
     .preset = "2.x",
     .choices = kTorch,
     .text = "sets accumulate, mean, autocast_attention and replayed as that version has them"},
    {.name = "accumulate",
     .kind = kChoice,
     .choices = kAccumulate,
     .text = "how gradients that meet are added; default: inplace (torch 2.x)"},
    {.name = "mean",
     .kind = kChoice,
     .choices = kTorch,
     .text = "what a mean saves; default: as torch"},
    {.name = "autocast_attention",
     .kind = kChoice,
     .choices = kTorch,
     .text = "flash under precision: autocast; 2.x casts its operands to 16 bits, 1.13 takes what "
             "rotary positions make of them, fp32; default: as torch"},
    {.name = "replayed",
     .kind = kChoice,
     .choices = kTorch,
     .text = "checkpoints without reentrant: what a replay made goes with the kernels that read it "
             "(2.x), or once their results are summed to shape (1.13); default: as torch"},
    {.name = "zero_grad",
     .kind = kChoice,
     .preset = "set_to_none",
     .choices = kZeroGrad,
     .text = "whether gradients are freed between steps"},
    {.name = "master_gradients",
     .kind = kChoice,
     .preset = "copy",
     .choices = kMasterGradients,
     .text = "bf16-mixed: fp32 copies of the gradients, or kernels that read 16-bit ones"},
    {.name = "reduction_scratch",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "scratch of the kernels that sum gradients over 1024 rows and more"},
    {.name = "fp32_matmul",
     .kind = kChoice,
     .preset = "fp32",
     .choices = kFp32Matmul,
     .text = "matrix products of fp32 operands: exact (PyTorch's default) or rounded to TF32"},
});

constexpr auto kAllocatorOptions = std::to_array<OptionSpec>({
    {.name = "kind", .preset = "ideal", .text = "ideal counts live bytes; others round and cache"},
    {.name = "settings", .text = "as written for the framework: \"max_split_size_mb:128\""},
});

constexpr auto kCheckpointOptions = std::to_array<OptionSpec>({
    {.name = "policy",
     .preset = "none",
     .text = "which blocks are recomputed; each policy may have options of its own"},
    {.name = "reentrant",
     .kind = OptionKind::kFlag,
     .preset = "true",
     .text = "which of PyTorch's two implementations"},
    {.name = "early_stop",
     .kind = OptionKind::kFlag,
     .preset = "true",
     .text = "without reentrant: a replay ends where all that backward reads is there "
             "(torch.utils.checkpoint.set_checkpoint_early_stop)"},
    {.name = "keep_last",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "the last segment keeps everything: its replay would follow its forward at once"},
    {.name = "keep_dropout",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "where single tensors are recomputed: what dropout made is kept, and no state of the "
             "generator is needed to draw it again"},
});

constexpr auto kSections = std::to_array<Section>({
    {"model", "what is trained", "base", kModelOptions},
    {"training", "how it is trained", "", kTrainingOptions},
    {"kernels", "which kernels run: decides what is saved for backward", "", kKernelsOptions},
    {"hardware", "what it runs on", "base", kHardwareOptions},
    {"hardware.gpu", "speeds of the GPU", "", kGpuOptions},
    {"hardware.hbm", "the GPU's memory", "", kHbmOptions},
    {"hardware.runtime", "GPU memory that is taken before training", "", kRuntimeOptions},
    {"hardware.host", "host memory and CPU", "base", kHostOptions},
    {"hardware.ssd", "NVMe drives", "base", kSsdOptions},
    {"hardware.pcie", "the link between GPU and host", "base", kPcieOptions},
    {"allocator", "how GPU memory is handed out", "kind", kAllocatorOptions},
    {"checkpoint", "which blocks are recomputed", "policy", kCheckpointOptions},
    {"offload", "what leaves the GPU", "preset", kOffloadOptions},
    {"offload.optimizer", "a mapping for optimizer states, or the same keys in offload itself",
     "to", kOptimizerOptions},
    {"offload.gradients", "a mapping for gradients, or the same keys in offload itself", "to",
     kGradientsOptions},
    {"offload.activations", "tensors that forward saves for backward", "to", kActivationsOptions},
    {"offload.parameters", "weights, fetched block by block", "to", kParametersOptions},
});

}  // namespace

std::span<const Section> sections() { return kSections; }

const Section* find_section(std::string_view name) {
  const auto found = std::ranges::find(kSections, name, &Section::name);
  return found == kSections.end() ? nullptr : &*found;
}

std::span<const OptionSpec> options_of(std::string_view section) {
  const Section* found = find_section(section);
  ensure(found != nullptr, "every section that is read has a table");
  return found->options;
}

const OptionSpec& find_option(std::span<const OptionSpec> options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &OptionSpec::name);
  ensure(found != options.end(), "every option that is read has a row");
  return *found;
}

}  // namespace tidemark::scenarios
