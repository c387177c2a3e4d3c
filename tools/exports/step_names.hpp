#pragma once
// What instances and buffers of a played step are called.

#include <string>
#include <string_view>

#include "tools/report.hpp"

namespace tidemark::tools {

// Of the op, of the transfer, or of its stream.
std::string_view instance_name(const PlayedStep& step, InstanceId instance);

// Of the tensor, of the buffer, or of its category.
std::string_view buffer_name(const PlayedStep& step, BufferId buffer);

// In quotes, escaped; what is not UTF-8 is not looked for, as the loader lets nothing else through.
void append_json_text(std::string& out, std::string_view text);

}  // namespace tidemark::tools
