#include "scenarios/resolved.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hardware/ensure.hpp"
#include "hardware/quantity.hpp"
#include "scenarios/catalogue.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/options.hpp"

namespace tidemark::scenarios {
namespace {

std::string in_double_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string shortest(double number) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  return {text.data(), end.ptr};
}

// Lines of one section.
class Writer {
 public:
  explicit Writer(Architecture architecture) : architecture_(architecture) {}

  void section(const std::string& path) {
    path_ = path;
    const std::size_t dot = path.find('.');
    indent_ = dot == std::string::npos ? "  " : "    ";
    text_ += dot == std::string::npos ? path + ":\n" : "  " + path.substr(dot + 1) + ":\n";
  }

  // Keys that say nothing for the architecture are left out, as loading would refuse them.
  void write(const std::string& key, const std::string& value) {
    if (!why_meaningless(architecture_, path_ + "." + key).empty()) return;
    text_ += indent_ + key + ": " + value + "\n";
  }
  void write(const std::string& key, const char* value) { write(key, std::string(value)); }
  void write(const std::string& key, std::int64_t value) { write(key, std::to_string(value)); }
  void write(const std::string& key, bool value) { write(key, value ? "true" : "false"); }
  void write(const std::string& key, double value) { write(key, shortest(value)); }
  void write(const std::string& key, SimTime value) { write(key, exact_text(value)); }
  template <class Tag>
  void write(const std::string& key, Quantity<Tag> value) {
    write(key, exact_text(value));
  }
  // Where 0 stands for what is not stated.
  template <class Tag>
  void write_stated(const std::string& key, Quantity<Tag> value) {
    if (value.count > 0) write(key, value);
  }
  template <class Enum>
  void choice(const std::string& key, Enum value) {
    const OptionSpec& option = find_option(options_of(path_), key);
    write(key, in_double_quotes(option.choices[static_cast<std::size_t>(value)]));
  }

  void choices(const std::string& key, std::uint32_t bits) {
    const OptionSpec& option = find_option(options_of(path_), key);
    std::string list;
    for (std::size_t row = 0; row < option.choices.size(); ++row) {
      if ((bits >> row & 1u) == 0) continue;
      list += (list.empty() ? "[" : ", ") + std::string(option.choices[row]);
    }
    write(key, list + "]");
  }

  std::string take() { return std::move(text_); }

 private:
  Architecture architecture_;
  std::string path_;
  std::string indent_;
  std::string text_;
};

void write_name(Writer& writer, const std::string& name) {
  if (name != "custom" && !names_user_file(name)) writer.write("base", in_double_quotes(name));
}

void write_model(Writer& writer, const ModelConfig& model) {
  writer.section("model");
  write_name(writer, model.name);
  writer.choice("architecture", model.architecture);
  writer.write("layers", model.layers);
  writer.write("hidden", model.hidden);
  writer.write("heads", model.heads);
  writer.write("kv_heads", model.kv_heads);
  writer.write("head_dim", model.head_dim);
  writer.write("ffn", model.ffn);
  writer.write("vocab", model.vocab);
  writer.write("max_positions", model.max_positions);
  writer.write("tied_embeddings", model.tied_embeddings);
  writer.write("qkv_bias", model.qkv_bias);
  writer.write("dropout", model.dropout ? "0.1" : "0");
  writer.write("extra_parameters", model.extra_parameters);
}

void write_training(Writer& writer, const TrainingConfig& training, const Kernels& kernels) {
  writer.section("training");
  writer.write("micro_batch", training.micro_batch);
  writer.write("sequence", training.sequence);
  writer.write("micro_batches", training.micro_batches);
  writer.choice("precision", training.precision);
  writer.choice("optimizer", training.optimizer);
  writer.section("kernels");
  writer.choice("attention", kernels.attention);
  writer.choice("causal", kernels.causal);
  writer.choice("norm", kernels.norm);
  writer.choice("loss", kernels.loss);
  writer.write("keep_logits", kernels.keep_logits);
  writer.write("reduction_scratch", kernels.reduction_scratch);
  writer.choice("optimizer", kernels.optimizer);
  writer.choice("dropout_mask", kernels.dropout_mask);
  writer.choice("accumulate", kernels.accumulate);
  writer.choice("mean", kernels.mean);
  writer.choice("autocast_attention", kernels.autocast_attention);
  writer.choice("replayed", kernels.replayed);
  writer.choice("zero_grad", kernels.zero_grad);
  writer.choice("master_gradients", kernels.master_gradients);
  writer.choice("fp32_matmul", kernels.fp32_matmul);
}

void write_gpu(Writer& writer, const Gpu& gpu, const Runtime& runtime) {
  writer.section("hardware.gpu");
  writer.write("matmul_16bit", gpu.matmul_16bit);
  writer.write("matmul_32bit", gpu.matmul_32bit);
  writer.write("matmul_tf32", gpu.matmul_tf32);
  writer.write("vector_32bit", gpu.vector_32bit);
  writer.write("matmul_efficiency", gpu.matmul_efficiency);
  writer.write("stream_efficiency", gpu.stream_efficiency);
  writer.write("strided_efficiency", gpu.strided_efficiency);
  writer.write("launch_latency", gpu.launch_latency);
  writer.write("stream_ramp", gpu.stream_ramp);
  writer.write("sms", gpu.sms);
  writer.write("matmul_operand_cost", gpu.matmul_operand_cost);
  writer.write("matmul_ramp", gpu.matmul_ramp);
  writer.write("matmul_start", gpu.matmul_start);
  writer.write("flash_forward_efficiency", gpu.flash_forward_efficiency);
  writer.write("flash_backward_efficiency", gpu.flash_backward_efficiency);
  writer.section("hardware.hbm");
  writer.write("capacity", gpu.capacity);
  writer.write("bandwidth", gpu.bandwidth);
  writer.section("hardware.runtime");
  writer.write("context", runtime.context);
  writer.write("workspace", runtime.workspace);
}

void write_hardware(Writer& writer, const Machine& machine) {
  writer.section("hardware");
  write_name(writer, machine.name);
  write_gpu(writer, machine.gpu, machine.runtime);
  writer.section("hardware.host");
  write_name(writer, machine.host.name);
  writer.write("capacity", machine.host.capacity);
  writer.write("bandwidth", machine.host.bandwidth);
  writer.write_stated("cpu_optimizer", machine.host.cpu_optimizer);
  if (machine.host.cores > 0) writer.write("cores", machine.host.cores);
  if (machine.host.cpu_optimizer.count == 0) {  // else they count for nothing
    if (machine.host.vector > 0 && machine.host.clock.count > 0) {
      writer.write("vector", machine.host.vector);
    }
    if (machine.host.cores > 0) writer.write_stated("clock", machine.host.clock);
  }
  writer.write_stated("copy", machine.host.copy);
  writer.write("update_share", machine.host.update_share);
  writer.write("issue", machine.host.issue);
  writer.section("hardware.ssd");
  write_name(writer, machine.ssd.name);
  writer.write("drives", machine.ssd.drives);
  writer.write("capacity", machine.ssd.capacity);
  writer.write("read", machine.ssd.read);
  writer.write("write", machine.ssd.write);
  writer.write("latency", machine.ssd.latency);
  writer.write_stated("sustained", machine.ssd.sustained);
  writer.choice("cache", machine.ssd.cache);
  writer.write_stated("both", machine.ssd.both);
  writer.write_stated("request", machine.ssd.request);
  writer.write("in_flight", machine.ssd.in_flight);
  writer.write_stated("endurance", machine.ssd.endurance);
  writer.section("hardware.pcie");
  write_name(writer, machine.pcie.name);
  writer.write("h2d", machine.pcie.h2d);
  writer.write("d2h", machine.pcie.d2h);
  writer.write("both", machine.pcie.both);
  writer.write("latency", machine.pcie.latency);
  writer.write("h2d_share", machine.pcie.h2d_share);
  writer.write("half_size", machine.pcie.half_size);
  writer.write("gpus_on_switch", machine.pcie.gpus_on_switch);
  writer.write_stated("uplink", machine.pcie.uplink);
  writer.choice("numa", machine.pcie.numa);
  writer.write_stated("remote_h2d", machine.pcie.remote_h2d);
  writer.write_stated("remote_d2h", machine.pcie.remote_d2h);
  writer.write("coherent", machine.pcie.coherent);
}

void write_policy_options(Writer& writer, const RunSpec& run) {
  const Policy* policy = find_policy(run.checkpoint_policy);
  ensure(policy != nullptr, "the loader should have refused an unknown policy");
  // Where it is as by default it is left out: other policies may be laid over this one.
  const bool of_segments = replays_segments(*policy, run.checkpoint_options);
  if (of_segments && !run.checkpointing.reentrant) {
    if (policy->cached == nullptr) writer.write("reentrant", false);
    if (!run.checkpointing.early_stop) writer.write("early_stop", false);
  }
  if (run.keep_last) writer.write("keep_last", true);
  if (run.checkpointing.keep_dropout) writer.write("keep_dropout", true);
  for (std::size_t i = 0; i < run.checkpoint_options.size(); ++i) {
    const PolicyOption& option = run.checkpoint_options[i];
    const OptionKind kind = policy->options[i].kind;
    if (policy->options[i].preset.empty() && option.integer == 0) continue;  // not stated
    if (kind == OptionKind::kBytes) {
      writer.write(option.name, Bytes(option.integer));
    } else if (kind == OptionKind::kFlag) {
      writer.write(option.name, option.integer != 0);
    } else if (kind == OptionKind::kNumber) {
      writer.write(option.name, option.number);
    } else if (kind == OptionKind::kTime) {
      writer.write(option.name, SimTime(option.integer));
    } else if (kind == OptionKind::kChoice) {
      const auto row = static_cast<std::size_t>(option.integer);
      writer.write(option.name, std::string(policy->options[i].choices[row]));
    } else if (kind == OptionKind::kNames) {
      std::string list;
      for (const std::string& name : option.names) list += (list.empty() ? "" : ", ") + name;
      writer.write(option.name, "[" + list + "]");
    } else {
      writer.write(option.name, option.integer);
    }
  }
}

void write_moves(Writer& writer, const Offload& offload) {
  const ActivationOffload& activations = offload.activations;
  writer.section("offload.activations");
  writer.choice("to", activations.to);
  writer.choice("which", activations.which);
  if (activations.which == ActivationOffload::Which::kModules) {
    writer.choices("modules", activations.modules >> 1);
  }
  writer.write("larger_than", activations.larger_than);
  writer.write("keep_last", activations.keep_last);
  if (!activations.synchronous) {
    writer.write("prefetch", activations.prefetch);
    writer.choice("when", activations.when);
  }
  writer.write("pool", activations.pool);
  writer.write("synchronous", activations.synchronous);
  writer.section("offload.parameters");
  writer.choice("to", offload.parameters.to);
  writer.write("prefetch", offload.parameters.prefetch);
  writer.write("buffers", offload.parameters.buffers);
}

void write_choices(Writer& writer, const RunSpec& run) {
  writer.section("allocator");
  writer.write("kind", in_double_quotes(run.allocator.kind));
  if (!run.allocator.settings.empty()) {
    writer.write("settings", in_double_quotes(run.allocator.settings));
  }
  writer.section("checkpoint");
  writer.write("policy", in_double_quotes(run.checkpoint_policy));
  write_policy_options(writer, run);
  writer.section("offload");
  writer.choice("optimizer", run.offload.optimizer);
  writer.choice("gradients_leave", run.offload.gradients_leave);
  writer.write("bucket", run.offload.bucket);
  writer.write("buffers", run.offload.buffers);
  writer.choice("update_on", run.offload.update_on);
  writer.write("fraction", run.offload.fraction);
  writer.write("overlap", run.offload.overlap);
  writer.write("delayed_update", run.offload.delayed_update);
  writer.choice("gradients", run.offload.gradients);
  writer.choice("accumulate_on", run.offload.accumulate_on);
  writer.choice("memory", run.offload.transport.memory);
  writer.choice("pinned_pool", run.offload.transport.pinned_pool);
  writer.choice("cpu_kernel", run.offload.cpu_kernel);
  writer.write("upcast", run.offload.upcast);
  writer.write("clip", run.offload.clip);
  writer.choice("ssd_path", run.offload.transport.ssd_path);
  write_moves(writer, run.offload);
}

}  // namespace

std::string resolved_yaml(const RunSpec& run) {
  Writer writer(run.model.architecture);
  write_model(writer, run.model);
  write_training(writer, run.training, run.kernels);
  write_hardware(writer, run.machine);
  write_choices(writer, run);
  return "name: " + in_double_quotes(run.strategy) + "\n" + writer.take() +
         "strategies:\n  - name: " + in_double_quotes(run.strategy) + "\n";
}

}  // namespace tidemark::scenarios
