#include "scenarios/options.hpp"

#include <algorithm>
#include <array>

#include "hardware/ensure.hpp"
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
constexpr std::int64_t kSlowest = 1'000'000;      // 1 MB/s, 1 MFLOP/s: simulated time is finite
constexpr std::int64_t kMostDrives = 64;

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

constexpr auto kWriteCache = std::to_array<Names>({"full", "empty"});
constexpr auto kNuma = std::to_array<Names>({"local", "remote"});
constexpr auto kFp32Matmul = std::to_array<Names>({"fp32", "tf32"});

constexpr auto kModelOptions = std::to_array<OptionSpec>({
    {.name = "base", .text = "a catalogue model whose keys hold where none is written here"},
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
     .text = "sets accumulate and mean as that version has them"},
    {.name = "accumulate",
     .kind = kChoice,
     .choices = kAccumulate,
     .text = "how gradients that meet are added; default: inplace (torch 2.x)"},
    {.name = "mean",
     .kind = kChoice,
     .choices = kTorch,
     .text = "what a mean saves; default: as torch"},
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

constexpr auto kHardwareOptions = std::to_array<OptionSpec>({
    {.name = "base",
     .text = "a catalogue GPU, with the host, SSD and link that belong to it; or a file of "
             "yours, ./my-gpu.yaml, with these keys"},
    {.name = "gpu", .kind = kSection, .text = "speeds of the GPU"},
    {.name = "hbm", .kind = kSection, .text = "the GPU's memory"},
    {.name = "runtime", .kind = kSection, .text = "GPU memory that is taken before training"},
    {.name = "host", .kind = kSection, .text = "host memory and CPU"},
    {.name = "ssd", .kind = kSection, .text = "NVMe drives"},
    {.name = "pcie", .kind = kSection, .text = "the link between GPU and host"},
});

constexpr auto kGpuOptions = std::to_array<OptionSpec>({
    {.name = "matmul_16bit",
     .kind = OptionKind::kFlopRate,
     .least = kSlowest,
     .text = "peak of a matrix product in bf16 (or fp16)"},
    {.name = "matmul_32bit",
     .kind = OptionKind::kFlopRate,
     .least = kSlowest,
     .text = "peak of a matrix product in fp32"},
    {.name = "matmul_tf32",
     .kind = OptionKind::kFlopRate,
     .least = kSlowest,
     .text = "peak of one whose fp32 operands may be rounded to TF32; default: as matmul_32bit"},
    {.name = "vector_32bit",
     .kind = OptionKind::kFlopRate,
     .least = kSlowest,
     .text = "fp32 peak without tensor cores"},
    {.name = "matmul_efficiency",
     .kind = OptionKind::kNumber,
     .least_number = 0.0001,
     .text = "share of the peak that large matrix products reach"},
    {.name = "stream_efficiency",
     .kind = OptionKind::kNumber,
     .least_number = 0.0001,
     .text = "share of the memory bandwidth that streaming kernels reach"},
    {.name = "strided_efficiency",
     .kind = OptionKind::kNumber,
     .least_number = 0.0001,
     .text = "of elementwise kernels with broadcast or strided operands; default: "
             "stream_efficiency"},
    {.name = "launch_latency",
     .kind = OptionKind::kTime,
     .least = 0,
     .most = 1'000'000'000'000,
     .text = "from a kernel's end to the next one's start, added to each kernel"},
    {.name = "stream_ramp",
     .kind = OptionKind::kTime,
     .preset = "0 s",
     .least = 0,
     .most = 1'000'000'000,
     .text = "what starting and draining a streaming kernel costs at most"},
    {.name = "sms",
     .kind = kInteger,
     .preset = "1",
     .most = 100'000,
     .text = "multiprocessors: tiles of a matrix product run in waves of so many"},
    {.name = "matmul_operand_cost",
     .kind = kInteger,
     .preset = "0",
     .least = 0,
     .most = 1'000'000,
     .text = "what loading one costs a tile of a matrix product, in multiply-adds"},
    {.name = "matmul_ramp",
     .kind = kInteger,
     .preset = "0",
     .least = 0,
     .most = 1'000'000,
     .text = "steps of k that filling and draining a tile cost"},
    {.name = "matmul_start",
     .kind = OptionKind::kTime,
     .preset = "0 s",
     .least = 0,
     .most = 1'000'000'000,
     .text = "of a matrix product, beside its launch"},
    {.name = "flash_forward_efficiency",
     .kind = OptionKind::kNumber,
     .least_number = 0.0001,
     .text = "share of the matmul peak that fused attention reaches; default: matmul_efficiency"},
    {.name = "flash_backward_efficiency",
     .kind = OptionKind::kNumber,
     .least_number = 0.0001,
     .text = "the same of its backward; default: matmul_efficiency"},
});

constexpr auto kHbmOptions = std::to_array<OptionSpec>({
    {.name = "capacity", .kind = kBytes, .text = "what the driver reports"},
    {.name = "bandwidth", .kind = kBandwidth, .least = kSlowest, .text = "peak"},
});

constexpr auto kRuntimeOptions = std::to_array<OptionSpec>({
    {.name = "context", .kind = kBytes, .least = 0, .text = "CUDA context and loaded kernels"},
    {.name = "workspace", .kind = kBytes, .least = 0, .text = "library workspaces (cuBLAS)"},
});

constexpr auto kHostOptions = std::to_array<OptionSpec>({
    {.name = "base", .text = "a catalogue host"},
    {.name = "capacity", .kind = kBytes, .least = 0, .text = "memory that training may use"},
    {.name = "bandwidth",
     .kind = kBandwidth,
     .least = kSlowest,
     .text = "of DRAM, all readers and writers together"},
    {.name = "cpu_optimizer",
     .kind = OptionKind::kFlopRate,
     .least = kSlowest,
     .text = "compute bound of the CPU's optimizer step; default: that of cores, vector and clock"},
    {.name = "cores",
     .kind = kInteger,
     .most = 1 << 16,
     .text = "of all sockets; default: not counted"},
    {.name = "vector",
     .kind = kInteger,
     .least = 32,
     .most = 4096,
     .text = "bits of a vector register; default: 256"},
    {.name = "clock",
     .kind = OptionKind::kFrequency,
     .least = 1'000'000,
     .text = "of a core while all compute; default: computing takes no time"},
    {.name = "copy",
     .kind = kBandwidth,
     .least = kSlowest,
     .text = "bytes that one core copies; default: as fast as DRAM and the link allow"},
    {.name = "update_share",
     .kind = OptionKind::kNumber,
     .preset = "1",
     .least_number = 0.01,
     .text = "share of the bandwidth that an optimizer step of all cores reaches"},
    {.name = "issue",
     .kind = OptionKind::kTime,
     .preset = "0 s",
     .least = 0,
     .most = 1'000'000'000'000,
     .text = "what one operation costs the thread that issues it to the GPU"},
});

constexpr auto kSsdOptions = std::to_array<OptionSpec>({
    {.name = "base", .text = "a catalogue drive"},
    {.name = "drives",
     .kind = kInteger,
     .most = kMostDrives,
     .text = "striped: capacity and bandwidth multiply; default: 1"},
    {.name = "capacity", .kind = kBytes, .least = 0, .text = "of one drive"},
    {.name = "read", .kind = kBandwidth, .least = kSlowest, .text = "of one drive, sequential"},
    {.name = "write", .kind = kBandwidth, .least = kSlowest, .text = "of one drive, sequential"},
    {.name = "latency",
     .kind = OptionKind::kTime,
     .least = 0,
     .most = 1'000'000'000'000,
     .text = "of one request"},
    {.name = "sustained",
     .kind = kBandwidth,
     .least = kSlowest,
     .text = "writes of one drive once its SLC cache is full; default: as write"},
    {.name = "cache",
     .kind = kChoice,
     .preset = "full",
     .choices = kWriteCache,
     .text = "full: the steady state of training, writes are sustained ones"},
    {.name = "both",
     .kind = kBandwidth,
     .least = kSlowest,
     .text = "total of reads and writes at once, of one drive; default: their sum"},
    {.name = "request",
     .kind = kBytes,
     .least = 512,
     .text = "of one request; default: large enough for the rated bandwidth"},
    {.name = "in_flight",
     .kind = kInteger,
     .preset = "1",
     .most = 1 << 20,
     .text = "requests of that size at once, over all drives"},
    {.name = "endurance",
     .kind = kBytes,
     .text = "that may be written to one drive by its rating; default: not told"},
});

constexpr auto kPcieOptions = std::to_array<OptionSpec>({
    {.name = "base", .text = "a catalogue link"},
    {.name = "h2d",
     .kind = kBandwidth,
     .least = kSlowest,
     .text = "host to device, with pinned memory"},
    {.name = "d2h", .kind = kBandwidth, .least = kSlowest, .text = "device to host"},
    {.name = "both",
     .kind = kBandwidth,
     .least = kSlowest,
     .text = "total of both directions at once; where h2d or d2h is written: their sum"},
    {.name = "latency",
     .kind = OptionKind::kTime,
     .least = 0,
     .most = 1'000'000'000'000,
     .text = "from the call until the first byte"},
    {.name = "h2d_share",
     .kind = OptionKind::kNumber,
     .preset = "0.5",
     .least_number = 0.01,
     .most_number = 0.99,
     .text = "part of both that goes to the device while the two directions compete"},
    {.name = "half_size",
     .kind = kBytes,
     .preset = "0 B",
     .least = 0,
     .text = "copies of this size take twice as long as bytes over bandwidth, latency aside"},
    {.name = "gpus_on_switch",
     .kind = kInteger,
     .preset = "1",
     .most = 64,
     .text = "that copy at once and share the uplink of a switch"},
    {.name = "uplink",
     .kind = kBandwidth,
     .least = kSlowest,
     .text = "of that switch, per direction; default: as h2d and d2h"},
    {.name = "numa",
     .kind = kChoice,
     .preset = "local",
     .choices = kNuma,
     .text = "remote: host memory belongs to the other socket"},
    {.name = "remote_h2d",
     .kind = kBandwidth,
     .least = kSlowest,
     .text = "host to device from the other socket's memory; required for numa: remote"},
    {.name = "remote_d2h",
     .kind = kBandwidth,
     .least = kSlowest,
     .text = "device to host into the other socket's memory; required for numa: remote"},
    {.name = "coherent",
     .kind = OptionKind::kFlag,
     .preset = "false",
     .text = "the GPU reads and writes pageable memory in place"},
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
