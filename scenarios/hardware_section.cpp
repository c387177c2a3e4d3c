#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "hardware/decimal.hpp"
#include "hardware/quantity.hpp"

#include "scenarios/option_values.hpp"
#include "scenarios/options.hpp"
#include "scenarios/reader.hpp"
#include "scenarios/sections.hpp"
#include "scenarios/tree.hpp"

namespace tidemark::scenarios {
namespace {

struct Context {
  Catalogue& catalogue;
  Diagnostics& diagnostics;
};

// The keys of one part of the hardware, its catalogue entry filled in. Without an entry every
// figure is required.
struct Part {
  std::string name = "custom";
  std::string description;
  Value mapping;
  Value written;  // of `mapping`, what is the user's: the scenario's keys over those of a file
  bool complete = true;  // false: the entry is unknown, which has been reported
};

Value nothing_at(const Mark& mark) {
  Value nothing;
  nothing.kind = Value::Kind::kMapping;
  nothing.mark = mark;
  return nothing;
}

// What stands below `base`: a catalogue entry, or a file of the user's over its own base.
struct Base {
  Value all;
  Value file;  // the file's own keys
};

std::optional<Base> find_base(const Value& base, const std::string& path, const char* kind,
                              Context context) {
  if (!names_user_file(base.text)) {
    const Value* entry = context.catalogue.device(kind, base.text, base.mark);
    if (entry == nullptr) return std::nullopt;
    return Base{*entry, nothing_at(base.mark)};
  }
  const Value* file = context.catalogue.device_file(kind, base.text, base.mark);
  if (file == nullptr) return std::nullopt;
  const Value* below = file->find("base");
  if (below == nullptr) return Base{*file, *file};
  if (names_user_file(below->text)) {
    context.diagnostics.error(below->mark, "the base of a device file is in the catalogue");
    return std::nullopt;
  }
  const Value* entry = context.catalogue.device(kind, below->text, below->mark);
  if (entry == nullptr) return std::nullopt;
  return Base{merge(*entry, *file, path), *file};
}

// `written` is the part of `section` that is the user's.
Part resolve(const Value& section, const Value& written, const std::string& path, const char* kind,
             Context context) {
  Part part;
  part.mapping = expand_short_form(section, path);
  part.written = expand_short_form(written, path);
  const Value* base = part.mapping.find("base");
  if (base == nullptr || !base->is_scalar()) {
    part.complete = base == nullptr;
    return part;
  }
  part.name = base->text;
  const std::optional<Base> known = find_base(*base, path, kind, context);
  if (!known) {
    part.complete = false;
    return part;
  }
  part.description = context.catalogue.description(base->text, base->mark);
  part.mapping = merge(known->all, part.mapping, path);
  part.written = merge(known->file, part.written, path);
  return part;
}

// Options that follow from others where they are not stated, or then count for nothing.
bool has_fallback(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"base", "drives", "both", "cpu_optimizer", "cores", "vector", "clock", "copy", "sustained",
       "request", "endurance", "uplink", "remote_h2d", "remote_d2h", "matmul_tf32",
       "strided_efficiency", "flash_forward_efficiency", "flash_backward_efficiency"});
  return std::ranges::find(kNames, name) != kNames.end();
}

// Reads the options of a part; those without a default are required where `complete`.
OptionValues read_part(const Value& mapping, const std::string& path, bool complete,
                       Context context) {
  Reader reader(mapping, path, context.diagnostics);
  const OptionValues values(reader, options_of(path));
  reader.finish();
  if (!complete || !mapping.is_mapping()) return values;
  for (const OptionSpec& option : options_of(path)) {
    if (option.preset.empty() && !has_fallback(option.name)) reader.require(option.name);
  }
  return values;
}

Value at(const Value& mapping, const char* key) {
  const Value* found = mapping.find(key);
  return found != nullptr ? *found : nothing_at(mapping.mark);
}

// A figure that the user wrote and that cannot be, beside the part's other figures.
void refuse(const Part& part, const char* key, bool wrong, const std::string& message,
            const std::string& advice, Context context) {
  const Value* written = part.written.find(key);
  if (wrong && written != nullptr) context.diagnostics.error(written->mark, message, advice);
}

void read_gpu(const Part& whole, Machine& machine, Context context) {
  Gpu& gpu = machine.gpu;
  gpu.name = whole.name;
  gpu.description = whole.description;
  const OptionValues speeds =
      read_part(at(whole.mapping, "gpu"), "hardware.gpu", whole.complete, context);
  speeds.update("matmul_16bit", gpu.matmul_16bit);
  speeds.update("matmul_32bit", gpu.matmul_32bit);
  speeds.update("vector_32bit", gpu.vector_32bit);
  speeds.update("matmul_efficiency", gpu.matmul_efficiency);
  speeds.update("stream_efficiency", gpu.stream_efficiency);
  speeds.update("launch_latency", gpu.launch_latency);
  speeds.update("stream_ramp", gpu.stream_ramp);
  speeds.update("sms", gpu.sms);
  speeds.update("matmul_operand_cost", gpu.matmul_operand_cost);
  speeds.update("matmul_ramp", gpu.matmul_ramp);
  speeds.update("matmul_start", gpu.matmul_start);
  gpu.matmul_tf32 = gpu.matmul_32bit;
  gpu.strided_efficiency = gpu.stream_efficiency;
  speeds.update("strided_efficiency", gpu.strided_efficiency);
  gpu.flash_forward_efficiency = gpu.flash_backward_efficiency = gpu.matmul_efficiency;
  speeds.update("matmul_tf32", gpu.matmul_tf32);
  speeds.update("flash_forward_efficiency", gpu.flash_forward_efficiency);
  speeds.update("flash_backward_efficiency", gpu.flash_backward_efficiency);
  const OptionValues hbm =
      read_part(at(whole.mapping, "hbm"), "hardware.hbm", whole.complete, context);
  hbm.update("capacity", gpu.capacity);
  hbm.update("bandwidth", gpu.bandwidth);
  const OptionValues runtime =
      read_part(at(whole.mapping, "runtime"), "hardware.runtime", whole.complete, context);
  runtime.update("context", machine.runtime.context);
  runtime.update("workspace", machine.runtime.workspace);
}

void read_host(const Part& part, Host& host, Context context) {
  host.name = part.name;
  host.description = part.description;
  const OptionValues values = read_part(part.mapping, "hardware.host", part.complete, context);
  values.update("capacity", host.capacity);
  values.update("bandwidth", host.bandwidth);
  values.update("cpu_optimizer", host.cpu_optimizer);
  values.update("cores", host.cores);
  values.update("vector", host.vector);
  values.update("clock", host.clock);
  values.update("copy", host.copy);
  values.update("update_share", host.update_share);
  values.update("issue", host.issue);
  refuse(part, "vector", host.vector % 32 != 0,
         "vector: " + std::to_string(host.vector) + " bits are no whole number of fp32 elements",
         "a multiple of 32", context);
}

void read_ssd(const Part& part, Ssd& ssd, Context context) {
  ssd.name = part.name;
  ssd.description = part.description;
  const OptionValues values = read_part(part.mapping, "hardware.ssd", part.complete, context);
  values.update("capacity", ssd.capacity);
  values.update("read", ssd.read);
  values.update("write", ssd.write);
  values.update("latency", ssd.latency);
  values.update("drives", ssd.drives);
  values.update("sustained", ssd.sustained);
  ssd.cache = values.choice<WriteCache>("cache");
  values.update("both", ssd.both);
  values.update("request", ssd.request);
  values.update("in_flight", ssd.in_flight);
  values.update("endurance", ssd.endurance);
  refuse(part, "sustained", ssd.sustained > ssd.write && ssd.write.count > 0,
         "sustained: " + format_bandwidth(ssd.sustained) +
             " are more than the drive writes into its cache, " + format_bandwidth(ssd.write),
         "at most write", context);
  refuse(part, "both", ssd.both > ssd.read + ssd.write, "both: more than read and write together",
         "their sum is the default", context);
  // Those of the catalogue may belong to a faster drive than the user's.
  if (ssd.sustained.count > 0) ssd.sustained = std::min(ssd.sustained, ssd.write);
  if (ssd.both.count > 0) ssd.both = std::min(ssd.both, ssd.read + ssd.write);
}

// A direction that the user wrote also changes the total of both, unless that is written too.
void read_pcie(const Part& part, Pcie& pcie, Context context) {
  pcie.name = part.name;
  pcie.description = part.description;
  const OptionValues values = read_part(part.mapping, "hardware.pcie", part.complete, context);
  values.update("h2d", pcie.h2d);
  values.update("d2h", pcie.d2h);
  values.update("latency", pcie.latency);
  values.update("both", pcie.both);
  values.update("h2d_share", pcie.h2d_share);
  values.update("half_size", pcie.half_size);
  values.update("gpus_on_switch", pcie.gpus_on_switch);
  values.update("uplink", pcie.uplink);
  pcie.numa = values.choice<Numa>("numa");
  values.update("remote_h2d", pcie.remote_h2d);
  values.update("remote_d2h", pcie.remote_d2h);
  pcie.coherent = values.flag("coherent");
  const bool stated = pcie.remote_h2d.count > 0 && pcie.remote_d2h.count > 0;
  if (pcie.numa == Numa::kRemote && !stated && part.complete) {
    context.diagnostics.error(values.mark("numa"),
                              "numa: remote needs remote_h2d and remote_d2h, which " +
                                  in_quotes(pcie.name) + " does not state");
  }
  const auto written = [&](const char* key) { return part.written.find(key) != nullptr; };
  const bool direction_written = written("h2d") || written("d2h");
  if (!values.has("both") || (direction_written && !written("both"))) {
    pcie.both = pcie.h2d + pcie.d2h;
  }
  refuse(part, "both", pcie.both > pcie.h2d + pcie.d2h, "both: more than h2d and d2h together",
         "their sum is the default where one of them is written", context);
}

}  // namespace

Machine read_hardware(const Value& section, Catalogue& catalogue, Diagnostics& diagnostics) {
  const Context context{catalogue, diagnostics};
  const Part whole = resolve(section, section, "hardware", "gpu", context);
  Reader reader(whole.mapping, "hardware", diagnostics);
  const OptionValues parts(reader, options_of("hardware"));
  reader.finish();

  Machine machine;
  machine.name = whole.name;
  if (!whole.mapping.is_mapping()) return machine;
  read_gpu(whole, machine, context);
  if (!whole.complete) return machine;  // which parts belong to it is not known
  const auto part = [&](const char* key) {
    return resolve(at(whole.mapping, key), at(whole.written, key), std::string("hardware.") + key,
                   key, context);
  };
  read_host(part("host"), machine.host, context);
  read_ssd(part("ssd"), machine.ssd, context);
  read_pcie(part("pcie"), machine.pcie, context);
  return machine;
}

}  // namespace tidemark::scenarios
