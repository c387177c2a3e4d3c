#pragma once
// A text as JSON has it.

#include <string>
#include <string_view>

namespace tidemark::tools {

// In quotes, escaped; what is not UTF-8 is not looked for, as the loader lets nothing else through.
void append_json_text(std::string& out, std::string_view text);

}  // namespace tidemark::tools
