#include "tools/exports/step_names.hpp"

#include <fmt/format.h>

#include <iterator>

#include "graph/op_kind.hpp"

namespace tidemark::tools {

std::string_view instance_name(const PlayedStep& step, InstanceId instance) {
  const Instance& what = step.program.instances[index(instance)];
  if (what.op != kNoOp) return name_of(step.graph.op(what.op).kind);
  if (index(what.name) == kNoIndex) return name_of(what.stream);
  return step.graph.name(what.name);
}

std::string_view buffer_name(const PlayedStep& step, BufferId id) {
  const Buffer& buffer = step.program.buffers[index(id)];
  NameId name = buffer.name;
  if (buffer.tensor != kNoTensor) name = step.graph.tensor(buffer.tensor).name;
  return index(name) == kNoIndex ? name_of(buffer.category) : step.graph.name(name);
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace tidemark::tools
