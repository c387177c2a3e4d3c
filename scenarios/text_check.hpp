#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark::scenarios {

// Why `text` is not a text file, and at which byte.
struct TextFault {
  std::size_t at = 0;
  std::string message;
};

// Accepts UTF-8 with tabs and line ends as the only control characters. Nothing: it is text.
std::optional<TextFault> check_text(std::string_view text);

}  // namespace tidemark::scenarios
